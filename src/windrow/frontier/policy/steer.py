"""Where the text is: the rank of a link by the page it was found on, and the yield that is to be expected of a host.

A bandit with as many arms as there are open hosts. What a host has given says what it will give, the more the more of it there is;
before that its domain speaks for it, and before that what other hosts gave on their first pages. Hosts that are no worse than half of
what the crawl now gets are asked as fast as politeness allows. The others are tried, best first, a few at a time and a few pages each,
so that the good ones among them are found and few bytes are spent on the rest.
"""

import re
from collections.abc import Iterable

import msgspec

from windrow.data import Reason, Report, Task

RANK = 128  # of a seed
DOUBLE = 32  # ranks: so much better is twice the expected yield
KEPT = (RANK - 48, RANK - 32)  # of links on a page that was kept: to its own host, to others
OTHER = (RANK + 32, RANK + 40)  # of links on any other page
NAMED = 32  # ranks: a link whose URL names a wanted language is so much before its like

WEIGHT = (
    16 << 10
)  # bytes: a host counts as much as its domain once it gave so many, a domain as much as all others after twice that
FIRST = 8  # pages of a host that tell what a new host is worth
GUESS, GUESS_BYTES = 0.05, 100_000  # yield of a new host before any was seen, and how much that guess counts
FADING = 1.0 - 1 / 1000  # of the recent yield, with each page
FAIR = 0.5  # share of the recent yield that makes a host good
TURN = 2  # pages in a turn of a host that is not


_FACTORS: list[float] = [2.0 ** ((RANK - rank) / DOUBLE) for rank in range(256)]


class Sums(msgspec.Struct):
    text: float = 0.0  # bytes
    downloaded: float = 0.0  # bytes


class Account(msgspec.Struct):
    """What the crawl as a whole gave."""

    first: Sums = msgspec.field(default_factory=Sums)  # the first pages of each host
    recent: Sums = msgspec.field(default_factory=Sums)  # all, fading


def ranks(report: Report) -> tuple[int, int] | None:
    """The ranks of a page's links, to its own host and to others; None where they keep their own: a redirect is the same page."""
    if report.reason is Reason.REDIRECT:
        return None
    return KEPT if report.kept else OTHER


def naming(languages: Iterable[str]) -> re.Pattern[str] | None:
    """Finds a language's code in a URL: /de/, de.example.org, page.de.html, ?lang=de. None where no language is asked for."""
    codes = "|".join(map(re.escape, languages))
    return re.compile(rf"[/.=](?:{codes})(?:[-_][a-z]{{2,4}})?(?=[/.&]|$)", re.IGNORECASE) if codes else None


def ranked(task: Task, rank: int) -> Task:
    return Task(task.url, task.kind, rank, task.depth, task.distance, task.redirects, task.via, task.attempt)


def enter(account: Account, pages: int, text: int, downloaded: int) -> None:
    """Books a page of a host that had so many answers before it."""
    recent = account.recent
    recent.text = recent.text * FADING + text
    recent.downloaded = recent.downloaded * FADING + downloaded
    if pages < FIRST:
        account.first.text += text
        account.first.downloaded += downloaded


def expected(host: tuple[int, int], domain: tuple[int, int], account: Account, rank: int) -> float:
    """The yield of a host's next page, which has this rank; host and domain are given as bytes of text and bytes downloaded."""
    first = account.first
    new = (first.text + GUESS * GUESS_BYTES) / (first.downloaded + GUESS_BYTES)
    near = (domain[0] + new * 2 * WEIGHT) / (domain[1] + 2 * WEIGHT)
    return (host[0] + near * WEIGHT) / (host[1] + WEIGHT) * _FACTORS[rank]


def good(expected: float, account: Account) -> bool:
    """Whether a host is worth asking as fast as it may be asked."""
    recent = account.recent
    return not recent.text or expected >= FAIR * recent.text / recent.downloaded
