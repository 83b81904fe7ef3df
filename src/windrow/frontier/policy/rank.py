"""The rank of a link: a sum of named terms over a base, 0 (first) to 255. The value of a host: a product of terms.

Each term of a link looks at the page that holds the link and at the link. `[frontier] terms` says which terms count. A
term of the user's own is a plain function `(Report, Task) -> int`, named as "package.module:name". A term of a host
looks at what the host has given so far; `[frontier] host_terms` names them.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec

from windrow import plugins
from windrow.plugins import OpenTable, Sections
from windrow.records import Reason, Report, Task

RANK = 128  # of a seed, and the base of a link's rank
LAST = 255

KEPT = (-48, -32)  # ranks for links of a page that was kept: to its own host, to other hosts
OTHER = (32, 40)  # for links of any other page
NAMED = -32  # for a link whose URL names a wanted language

Term = Callable[[Report, Task], int]  # ranks to add for one link of a page; negative: earlier


class RankedHost(Protocol):
    """A host, as its terms see it. They change nothing."""

    name: str
    domain: str
    pages: int  # responses
    downloaded: int  # bytes of these
    kept: int  # bytes of text of these
    waiting: int  # URLs in its queue


HostTerm = Callable[[RankedHost], float]  # a factor of the host's expected yield; 1: leave it as it is


class TermContext(msgspec.Struct, frozen=True):
    """What a term may need to know of the crawl."""

    languages: tuple[str, ...] = ()  # codes of the wanted languages, as they occur in URLs
    plugins: Sections = {}


def by_yield(report: Report, task: Task) -> int:
    """Rank links of kept pages first, and among these the links to the same host."""
    own, other = KEPT if report.kept else OTHER
    return own if task.url.host == report.task.url.host else other


def nothing(report: Report, task: Task) -> int:
    """Leave the rank as it is."""
    return 0


def _language(options: TermContext, inner: Term | None) -> Term:
    """Return the term that prefers links whose URLs name a wanted language."""
    pattern = naming(options.languages)
    if pattern is None:
        return nothing
    search = pattern.search
    return lambda report, task: NAMED if search(task.url.text) else 0


TERMS: dict[str, Callable[[TermContext, Term | None], Term]] = {
    "yield": lambda options, inner: by_yield,
    "language": _language,
}
HOST_TERMS: dict[str, Callable[[None, HostTerm | None], HostTerm]] = {}


def naming(languages: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for codes in a URL (/de/, de.example.org, page.de.html, ?lang=de); None without codes."""
    codes = "|".join(map(re.escape, languages))
    return re.compile(rf"[/.=](?:{codes})(?:[-_][a-z]{{2,4}})?(?=[/.&]|$)", re.IGNORECASE) if codes else None


def terms(names: Iterable[str], context: TermContext) -> tuple[Term, ...]:
    """Return the terms of these names; ConfigError for an unknown one. Terms that never add anything are left out."""
    table = OpenTable("frontier.terms", TERMS)
    built = [plugins.build(table, name, context.plugins, context) for name in names]
    return tuple(term for term in built if term is not nothing)


def host_term(names: Iterable[str], sections: Sections) -> HostTerm:
    """Return the product of the terms of a host of these names. A factor below 0 counts as 0."""
    table = OpenTable("frontier.host_terms", HOST_TERMS)
    terms = [plugins.build(table, name, sections, None) for name in names]
    return (lambda host: math.prod([max(0.0, term(host)) for term in terms])) if terms else lambda host: 1.0


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
