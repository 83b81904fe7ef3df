"""On which paragraphs the preset `stock` decides as jusText 3.0.2 does."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from windrow import config
from windrow.extract import paragraphs, stoplists
from windrow.extract.gold import Sample

Decisions = dict[str, list[bool]]  # by text without blanks: whether each paragraph with it is good
FIVE_HUNDRED = {
    "newspaper-ds": 5,
    "readability": 2,
    "trafilatura-eval": 8,
    "wcxb-dev": 10,
    "zh-news": 12,
    "zh-web": 2,
}  # each Nth page


def ours(page: Sample) -> Decisions:
    decisions: Decisions = defaultdict(list)
    for one in paragraphs.extract(
        page.capture(), 0, options=config.Paragraphs(preset="stock", language=page.language)
    ).paragraphs:
        decisions["".join(one.text.split())].append(one.kind == "good")
    return decisions


def theirs(page: Sample, justext: Any) -> Decisions:
    """jusText's, with its own list; without stop words where it has none for the language, as its manual advises."""
    names = {code: name for code, _, name in stoplists.languages()}
    name = names.get(stoplists.code(page.language))
    text = page.body.decode(page.encoding or "utf-8", "replace")
    options = {} if name else {"stopwords_low": 0, "stopwords_high": 0}
    decisions: Decisions = defaultdict(list)
    for one in justext.justext(text, justext.get_stoplist(name) if name else frozenset(), **options):
        decisions["".join(one.text.split())].append(not one.is_boilerplate)
    return decisions


def agreement(pages: Iterable[Sample], justext: Any) -> tuple[int, int]:
    """How many of jusText's paragraphs we have too and call the same, and how many there are."""
    same = every = 0
    for page in pages:
        own = ours(page)
        for text, decisions in theirs(page, justext).items():
            every += len(decisions)
            same += sum(one == other for one, other in zip(decisions, own.get(text, []), strict=False))
    return same, every
