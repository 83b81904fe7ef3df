"""Compare title, author and date of a page with those that a person has written down."""

import msgspec

from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.records import Page

NAMES = ("title", "author", "date")


class FactScore(msgspec.Struct, frozen=True):
    """One fact of one page, as one program gives it."""

    fact: str  # "title", "author" or "date"
    given: bool
    wanted: bool  # the page has one
    exact: bool
    f1: float  # by bag of words


def known(sample: Sample) -> bool:
    return any(getattr(sample, name) is not None for name in NAMES)


def scores(sample: Sample, page: Page) -> tuple[FactScore, ...]:
    """Return the scores of those facts that are known."""
    return tuple(
        _score(name, *(evaluate.words(one, sample.language) for one in (gold, getattr(page, name))))
        for name in NAMES
        if (gold := getattr(sample, name)) is not None
    )


def _score(name: str, wanted: list[str], given: list[str]) -> FactScore:
    return FactScore(
        fact=name,
        given=bool(given),
        wanted=bool(wanted),
        exact=_exact(name, wanted, given),
        f1=evaluate.bag(wanted, given).f1,
    )


def _exact(name: str, wanted: list[str], given: list[str]) -> bool:
    """Compare words: case, blanks and punctuation do not count. Authors may be in any order.

    A gold date without a day or month is right if the given date begins with it.
    """
    if name == "author":
        return sorted(wanted) == sorted(given)
    if name == "date" and wanted:
        return "".join(given).startswith("".join(wanted))
    return wanted == given
