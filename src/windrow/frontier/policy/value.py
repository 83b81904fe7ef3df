"""What a link is worth: how probably its page gives wanted text, and how much, learned from every page of the crawl.

A link is described by features, hashed into a table of a fixed size: the host and its domain, the folders and words of
the URL, its query, the words of the anchor and around it, the language that the link names, and the page that holds
it: its language, whether it was kept, how far it is from the last page with wanted text. Four online models use them.
Two are logistic regressions: whether the page will give wanted text, and whether it will name a new host. Two are
linear regressions of logarithms: how much text a wanted page will give, and how large a page is, in bytes. All
have a rate of learning per feature (AdaGrad, Duchi et al. 2011), so that a feature seen for the first time counts at
once and one seen ten thousand times hardly moves.

A page without text of its own is worth something if its links are: it counts as a part of the best of them. So the
crawl learns which off-topic pages lead to wanted ones, and how many in a row are worth following.

Everything here is a function of the pages in their order, so a replay of the log gives the same model.
"""

import math
import struct
from collections.abc import Iterable
from zlib import crc32

import msgspec

from windrow.frontier.policy import features
from windrow.frontier.policy.features import BIAS, BYTES, MODELS, NAMES, TEXT, WANTED, chance
from windrow.records import Reason, Report, Url

START = -3.0  # logit of a link of which nothing is known
NAMED = 3.0  # logits that a URL, anchor or hreflang with the code of a wanted language begins with
PARENT = 1.5  # logits that a link on a page in a wanted language begins with
RATE, EASE = 0.1, 0.05  # step of learning, and the sum of squares that a feature begins with
BYTES_RATE, BYTES_EASE = 0.05, 4.0  # the same for logarithms of bytes, whose errors are larger
TEXT_START, BYTES_START = 5_000.0, 10_000.0  # of a page of which nothing is known
THROUGH = 0.5  # share of its best new link that a page without wanted text is worth
MOST_HOPS = 7  # pages in a row without wanted text that are distinguished
LEVELS = 8  # of relevance
SCORES = 8.0  # steps per doubling of a score, in the byte that keeps it

_NONE = Url("", "", "", 0)
_WITHOUT_TEXT = frozenset({Reason.QUALITY, Reason.NO_TEXT, Reason.SOFT_404})
_HEAD = struct.Struct(">BBB")  # score of the page with the link, hops, and a byte that makes the length odd
_FAR = 1e12  # a score that is as bad as any
_OWN = 112  # seed of the hashes of what the page with the link is like


class Models:
    """Four models over hashed features in one table. Numbers have 32 bits, as they are saved.

    WANTED and NAMES are logistic regressions; TEXT and BYTES are linear ones of the logarithm of a number of bytes.
    """

    __slots__ = ("squares", "weights")

    def __init__(self, state: bytes = b"") -> None:
        self.weights, self.squares = features.load(state)
        if not state:  # every link has the first feature: it holds where the models begin
            first = MODELS * memoryview(BIAS).cast("I")[0]
            self.weights[first + WANTED] = self.weights[first + NAMES] = START
            self.weights[first + TEXT], self.weights[first + BYTES] = math.log(TEXT_START), math.log(BYTES_START)

    def state(self) -> bytes:
        return features.save(self.weights, self.squares)

    def total(self, model: int, found: bytes) -> float:
        """Return the logit or the logarithm of a model."""
        return features.totals(self.weights, found)[model]

    def learn(self, model: int, found: bytes, target: float, weight: float = 1.0) -> None:
        """Move the weights of these features towards a target between 0 and 1. weight: how much the page counts."""
        error = weight * (chance(self.total(model, found)) - target)
        features.step(self.weights, self.squares, found, model, error, RATE, EASE)

    def learn_bytes(self, model: int, found: bytes, count: int) -> None:
        """Move the weights of these features towards the logarithm of a number of bytes."""
        error = self.total(model, found) - math.log(max(count, 1))
        features.step(self.weights, self.squares, found, model, error, BYTES_RATE, BYTES_EASE)


def logit(chance: float) -> float:
    return math.log(chance / (1.0 - chance))


class Parent(msgspec.Struct, frozen=True):
    """The page that holds a link, as far as its links are concerned."""

    url: Url = _NONE
    language: str = ""  # of its text
    wanted: float = 0.0  # share of it that is wanted text: 1 if it was kept and there is no topic
    relevance: float | None = None  # to the topic
    score: int = 0  # its score in a byte, see `pressed`; 0: none
    hops: int = 0  # pages in a row without wanted text, up to this one


def parent(report: Report, by: str, bound: float = 0.0) -> Parent:
    """Return what a page says of its links. `by`: the score of a topic crawl. `bound`: see `wanted`.

    A page without running text, such as a list of links, has the score of its own parent.
    """
    share = wanted(report, by, bound)
    score, hops = head(report.task.hints)
    return Parent(
        url=report.task.url,
        language=report.page_language or report.language,
        wanted=share,
        relevance=_share(report.scores["relevance"]) if "relevance" in report.scores else None,
        score=score_of(report, by) or score,
        hops=0 if share >= 0.5 else min(hops + 1, MOST_HOPS),
    )


def wanted(report: Report, by: str = "", bound: float = 0.0) -> float:
    """Return how much of a page is wanted text, 0 to 1.

    With a topic it is one half if the score `by` of the page is at the bound of the first bucket. It falls quickly
    above: much text that is hardly on the topic is not wanted.
    """
    if not report.kept:
        return 0.0
    score = report.scores.get(by)
    if bound and score is not None:
        return _share(1.0 / (1.0 + min(abs(score / bound), _FAR) ** 2))
    return _share(report.scores.get("relevance", 1.0))


def _share(number: float) -> float:
    """Return a number of a report as a share: reports may say anything, also that it is not a number."""
    return min(number, 1.0) if number > 0.0 else 0.0


def score_of(report: Report, by: str) -> int:
    """Return the score of a page in a byte; 0 if it has none, or no running text."""
    own = report.scores.get(by) if report.reason not in _WITHOUT_TEXT else None
    return pressed(own) if own is not None else 0


def hints(url: Url, link: bytes, above: Parent, with_hops: bool = True) -> bytes:
    """Return the hints of a link: what it says of its target, and what the page that holds it is like."""
    there = above.url
    same = "=" if url.host == there.host else "/"
    near = same + ("=" if url.text.rpartition("/")[0] == there.text.rpartition("/")[0] else "/")
    kept = "+" if above.wanted >= 0.5 else "-"
    said = [f"p{above.language}{same}", f"k{kept}{near}", f"d{kept}{url.host}"]
    if with_hops:
        said.append(f"o{above.hops}{same}")
    if above.relevance is not None:
        said.append(f"v{min(int(above.relevance * LEVELS), LEVELS - 1)}{same}")
    numbers = [crc32(text.encode(), _OWN) & 0xFFFF for text in said]
    if len(link) & 1:  # a head that only the frontier may give
        link = link[_HEAD.size :]
    return _HEAD.pack(above.score, above.hops, 0) + link + struct.pack(f">{len(numbers)}H", *numbers)


def widened(byte: int) -> float:
    """Return the score of a byte."""
    return float(2.0 ** ((byte - 65) / SCORES))


def head(hints: bytes) -> tuple[int, int]:
    """Return the score, in a byte, of the page that holds a link, and its hops."""
    return (hints[0], hints[1]) if len(hints) & 1 else (0, 0)


def pressed(score: float) -> int:
    """Return a score in a byte, on a scale of doublings; 0 is left for none."""
    within = max(score, 2.0**-8) if score < _FAR else _FAR
    return max(1, min(255, round(SCORES * math.log2(within) + 65)))


def prime(models: Models, codes: Iterable[str], hinted: Iterable[int]) -> None:
    """Begin with what is known of links to pages in a wanted language: its codes in URLs, and `hinted` features."""
    for code in codes:
        for feature in memoryview(features.of_code(code)).cast("I"):
            models.weights[MODELS * feature + WANTED] += NAMED
        for same in "=/":
            feature = crc32(f"p{code}{same}".encode(), _OWN) & 0xFFFF
            models.weights[MODELS * feature + WANTED] += PARENT
    for feature in hinted:
        models.weights[MODELS * feature + WANTED] += NAMED
