"""The share of paragraphs on which the preset `stock` decides as jusText 3.0.2 does."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from windrow import config
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main import justext
from windrow.extraction.main.justext import stoplists

Decisions = dict[str, list[bool]]  # text without blanks -> for each paragraph with it, whether it is good
FIVE_HUNDRED = {
    "newspaper-ds": 5,
    "readability": 2,
    "trafilatura-eval": 8,
    "wcxb-dev": 10,
    "zh-news": 12,
    "zh-web": 2,
}  # take every Nth page


def ours(page: Sample) -> Decisions:
    decisions: Decisions = defaultdict(list)
    for one in justext.extract(
        page.capture(), 0, options=config.ParagraphsOptions(preset="stock", language=page.language)
    ).paragraphs:
        decisions["".join(one.text.split())].append(one.kind == "good")
    return decisions


def theirs(page: Sample, original: Any) -> Decisions:
    """Return jusText's decisions with its own list; without stop words if it has no list, as its manual advises."""
    names = {code: name for code, _, name in stoplists.languages()}
    name = names.get(stoplists.code(page.language))
    text = page.body.decode(page.encoding or "utf-8", "replace")
    options = {} if name else {"stopwords_low": 0, "stopwords_high": 0}
    decisions: Decisions = defaultdict(list)
    for one in original.justext(text, original.get_stoplist(name) if name else frozenset(), **options):
        decisions["".join(one.text.split())].append(not one.is_boilerplate)
    return decisions


def agreement(pages: Iterable[Sample], original: Any) -> tuple[int, int]:
    """Return how many of jusText's paragraphs we decide the same way, and how many there are."""
    same = every = 0
    for page in pages:
        own = ours(page)
        for text, decisions in theirs(page, original).items():
            every += len(decisions)
            same += sum(one == other for one, other in zip(decisions, own.get(text, []), strict=False))
    return same, every
