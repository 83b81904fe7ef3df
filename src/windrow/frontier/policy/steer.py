"""The yield to expect from a host, by which the open hosts are ordered.

This is a bandit with as many arms as there are open hosts. The text that a host has given predicts what it will give,
the better the more bytes it has sent. Before that the yield of its domain stands in, and before that the yield of the
first pages of other hosts. Hosts that reach at least half of the crawl's present yield get requests as fast as
politeness allows. The others are tried, best first, a few at a time and a few pages each, to find the good ones among
them and to spend few bytes on the rest.
"""

import msgspec

from windrow.frontier.policy.rank import LAST, RANK

DOUBLE = 32  # ranks: a link that is so many ranks earlier promises twice the yield

# Bytes: the host's own yield counts as much as its domain's once it has sent so many, the domain's as much as that of
# all others after twice as many.
WEIGHT = 16 << 10
FIRST = 8  # pages of a host that predict the yield of a new host
GUESS, GUESS_BYTES = 0.05, 100_000  # yield of a new host before any was seen, and the bytes for which this guess counts
FADING = 1.0 - 1 / 1000  # of the recent yield, per page
FAIR = 0.5  # share of the recent yield that makes a host good
TRIAL_PAGES = 2  # pages in a lease of a host that is not good


_FACTORS: list[float] = [2.0 ** ((RANK - rank) / DOUBLE) for rank in range(LAST + 1)]


class YieldSums(msgspec.Struct):
    """Text and bytes of some pages."""

    text: float = 0.0  # bytes
    downloaded: float = 0.0  # bytes


class CrawlYield(msgspec.Struct):
    """The yield of the crawl as a whole."""

    first: YieldSums = msgspec.field(default_factory=YieldSums)  # the first pages of each host
    recent: YieldSums = msgspec.field(default_factory=YieldSums)  # all pages, fading


def enter(account: CrawlYield, pages: int, text: int, downloaded: int) -> None:
    """Enter a page of a host that had so many responses before."""
    recent = account.recent
    recent.text = recent.text * FADING + text
    recent.downloaded = recent.downloaded * FADING + downloaded
    if pages < FIRST:
        account.first.text += text
        account.first.downloaded += downloaded


def expected(host: tuple[int, int], domain: tuple[int, int], account: CrawlYield, rank: int) -> float:
    """Return the expected yield of a host's next page, which has this rank.

    Host and domain are given as bytes of text and bytes downloaded.
    """
    first = account.first
    new = (first.text + GUESS * GUESS_BYTES) / (first.downloaded + GUESS_BYTES)
    near = (domain[0] + new * 2 * WEIGHT) / (domain[1] + 2 * WEIGHT)
    return (host[0] + near * WEIGHT) / (host[1] + WEIGHT) * _FACTORS[rank]


def good(expected: float, account: CrawlYield) -> bool:
    """Return whether a host with this expected yield is worth requests as fast as politeness allows."""
    recent = account.recent
    return not recent.text or expected >= FAIR * recent.text / recent.downloaded
