"""Which seeds the scope admits, and a note that names those that it refuses."""

from collections.abc import Iterable, Iterator, Sequence

from windrow import rules
from windrow.config import Config
from windrow.data import Task
from windrow.frontier.policy.scope import Scope
from windrow.units import count

NAMED = 3  # refused seeds that a note names

Refused = tuple[Task, str]  # a seed, and the rule that refuses it


def refused(tasks: Iterable[Task], scope: Scope) -> Iterator[Refused]:
    """Yield the seeds that the scope refuses, each with the name of the rule."""
    for task in tasks:
        if rule := scope.refuses(task.url):
            yield task, rule


def describe(found: Sequence[Refused], total: int, options: Config) -> str:
    """Return a note about refused seeds: how many, the first few with their rules, and how to list all."""
    first = [f"{task.url.text}: {rules.refusal(rule, options)}" for task, rule in found[:NAMED]]
    rest = f"; and {len(found) - NAMED:,} more: windrow list DIR --refused-seeds" if len(found) > NAMED else ""
    verb = "is" if len(found) == 1 else "are"
    return f"{len(found):,} of {count(total, 'seed')} {verb} refused by [scope]: {'; '.join(first)}{rest}"
