"""The rank of a link: a sum of named terms over a base, 0 (first) to 255.

Each term looks at the page that holds the link and at the link. `[frontier] terms` says which terms count. A term of
the user's own is a plain function `(Report, Task) -> int`, named as "package.module:name".
"""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from windrow import plugins
from windrow.config import ConfigError
from windrow.records import Reason, Report, Task

RANK = 128  # of a seed, and the base of a link's rank
LAST = 255

KEPT = (-48, -32)  # ranks for links of a page that was kept: to its own host, to other hosts
OTHER = (32, 40)  # for links of any other page
NAMED = -32  # for a link whose URL names a wanted language

Term = Callable[[Report, Task], int]  # ranks to add for one link of a page; negative: earlier


class TermContext(msgspec.Struct, frozen=True):
    """What a term may need to know of the crawl."""

    languages: tuple[str, ...] = ()  # codes of the wanted languages, as they occur in URLs


def by_yield(report: Report, task: Task) -> int:
    """Rank links of kept pages first, and among these the links to the same host."""
    own, other = KEPT if report.kept else OTHER
    return own if task.url.host == report.task.url.host else other


def nothing(report: Report, task: Task) -> int:
    """Leave the rank as it is."""
    return 0


def _language(context: TermContext) -> Term:
    """Return the term that prefers links whose URLs name a wanted language."""
    pattern = naming(context.languages)
    if pattern is None:
        return nothing
    search = pattern.search
    return lambda report, task: NAMED if search(task.url.text) else 0


TERMS: dict[str, Callable[[TermContext], Term]] = {
    "yield": lambda context: by_yield,
    "language": _language,
}


def naming(languages: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for codes in a URL (/de/, de.example.org, page.de.html, ?lang=de); None without codes."""
    codes = "|".join(map(re.escape, languages))
    return re.compile(rf"[/.=](?:{codes})(?:[-_][a-z]{{2,4}})?(?=[/.&]|$)", re.IGNORECASE) if codes else None


def terms(names: Iterable[str], context: TermContext) -> tuple[Term, ...]:
    """Return the terms of these names; ConfigError for an unknown one. Terms that never add anything are left out."""
    found = [_term(name, context) for name in names]
    return tuple(term for term in found if term is not nothing)


def _term(name: str, context: TermContext) -> Term:
    if name in TERMS:
        return TERMS[name](context)
    if ":" in name:
        term: Term = plugins.load(name, "frontier.terms")
        return term
    near = difflib.get_close_matches(name, TERMS, 1)
    fix = f"did you mean {near[0]!r}?" if near else f'use {", ".join(TERMS)} or "package.module:name"'
    raise ConfigError(f"unknown term {name!r} in frontier.terms; {fix}")


def ranker(terms: Sequence[Term], report: Report) -> Callable[[Task], Task] | None:
    """Return the function that ranks the links of a page; None if they keep their rank: a redirect is the same page."""
    if report.reason is Reason.REDIRECT:
        return None

    def rank(task: Task) -> Task:
        if task.embed:
            return task
        return moved(msgspec.structs.replace(task, priority=RANK), terms, report)

    return rank


def moved(task: Task, terms: Sequence[Term], report: Report) -> Task:
    """Return a link with the ranks added that the terms give it."""
    total = task.priority
    for term in terms:
        total += term(report, task)
    return msgspec.structs.replace(task, priority=max(0, min(total, LAST)))
