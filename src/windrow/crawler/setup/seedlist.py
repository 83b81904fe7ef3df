"""Which seeds the scope admits, and a note that names those that it refuses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from windrow import rules, takedown
from windrow.config import Config, ConfigError
from windrow.frontier.policy.scope import Scope
from windrow.records import Task
from windrow.units import count

NAMED = 3  # refused seeds that a note names

Refused = tuple[Task, str]  # a seed, and the rule that refuses it


def refused(tasks: Iterable[Task], scope: Scope) -> Iterator[Refused]:
    """Yield the seeds that the scope refuses, each with the name of the rule."""
    for task in tasks:
        if rule := scope.refuses(task.url):
            yield task, rule


def choose(
    tasks: Sequence[Task], scope: Scope, options: Config, counts: dict[str, int], note: Callable[[str], None]
) -> list[Task]:
    """Return the seeds in scope, with a note about the others; refuse to start if none is left."""
    others = dict(refused(tasks, scope))
    kept = _without(others, tasks, counts)
    if not others:
        return kept
    sentence = describe(list(others.items()), len(tasks), options)
    if not kept and any(rule != takedown.RULE for rule in others.values()):  # a takedown list does not end a crawl
        file = options.crawl.seeds
        raise ConfigError(f"every seed in {file} is refused by [scope]; widen it or change the seeds ({sentence})")
    note(sentence)
    return kept


def in_scope(tasks: Sequence[Task], scope: Scope, counts: dict[str, int]) -> list[Task]:
    """Return the seeds in scope; count the others in `counts`, by rule."""
    return _without(dict(refused(tasks, scope)), tasks, counts)


def _without(out: Mapping[Task, str], tasks: Sequence[Task], counts: dict[str, int]) -> list[Task]:
    for rule in out.values():
        counts[rule] = counts.get(rule, 0) + 1
    return [task for task in tasks if task not in out]


def describe(seeds: Sequence[Refused], total: int, options: Config) -> str:
    """Return a note about refused seeds: how many, the first few with their rules, and how to list all."""
    first = [f"{task.url.text}: {rules.refusal(rule, options)}" for task, rule in seeds[:NAMED]]
    rest = f"; and {len(seeds) - NAMED:,} more: windrow list DIR --refused-seeds" if len(seeds) > NAMED else ""
    verb = "is" if len(seeds) == 1 else "are"
    return f"{len(seeds):,} of {count(total, 'seed')} {verb} refused by [scope]: {'; '.join(first)}{rest}"
