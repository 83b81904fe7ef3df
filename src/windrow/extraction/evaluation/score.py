"""One extractor on one page: its scores, its CPU time, and what it did with headlines, comments and facts."""

import time
from collections.abc import Callable, Sequence

import msgspec

from windrow import urls
from windrow.extraction.evaluation import evaluate, facts, landmarks
from windrow.extraction.evaluation.evaluate import Overlap
from windrow.extraction.evaluation.facts import FactScore
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.landmarks import Landmarks
from windrow.extraction.readers import decode
from windrow.records import Page

# A page and its decoded source -> its text as good paragraphs, perhaps with facts; None: the program failed.
Reader = Callable[[Sample, str], Page | None]


class Tool(msgspec.Struct, frozen=True):
    """An extractor, ours or a peer's."""

    name: str
    read: Reader
    version: str = ""
    facts: Reader | None = None  # title, author and date, where `read` does not return them
    has_facts: bool = False


class PageScore(msgspec.Struct, frozen=True):
    """One extractor on one page."""

    extractor: str
    name: str
    dataset: str
    site: str
    language: str
    kind: str
    words: int  # of the gold text
    milliseconds: float  # CPU
    empty: bool
    error: bool  # the program raised an exception
    partial: bool
    bag: Overlap
    ngram: Overlap
    hits: tuple[int, int, int, int]  # wanted passages found and missed, unwanted passages found and missed
    headlines: tuple[int, int] = (0, 0)  # headlines that the gold text has: kept, all
    comments: tuple[int, int] = (0, 0)  # readers' comments that the gold text does not have: kept, all
    facts: tuple[FactScore, ...] = ()

    @property
    def overlap(self) -> Overlap:
        """Return the scores by bag of words, or by passages if the gold text consists of these only."""
        return evaluate.summed([self.hits]) if self.partial else self.bag

    @property
    def f1(self) -> float:
        return self.overlap.f1


def page(tools: Sequence[Tool], sample: Sample, first: int = 0) -> list[PageScore]:
    """Score each tool on a page, and return the scores in the order of the tools.

    The tools alternate in being the first: the first finds the page outside the processor's caches.
    """
    markup = decode.decode(sample.body, sample.content_type)[0]
    marks = landmarks.find(sample)
    start = first % len(tools)
    found = [score(tool, sample, markup, marks) for tool in (*tools[start:], *tools[:start])]
    cut = len(tools) - start
    return found[cut:] + found[:cut]


def site(sample: Sample) -> str:
    """Return what a page shares with pages like it: its site, else the host of its URL, else nothing but its name."""
    url = urls.parse(sample.url)
    return sample.site or (url.host if url else sample.name)


def score(tool: Tool, sample: Sample, markup: str, marks: Landmarks) -> PageScore:
    start = time.process_time()
    read = tool.read(sample, markup)
    spent = time.process_time() - start
    found = evaluate.text(read) if read else ""
    gold, tokens = (evaluate.words(one, sample.language) for one in (sample.gold, found))
    declared = tool.facts(sample, markup) if tool.facts and facts.known(sample) else read
    return PageScore(
        extractor=tool.name,
        name=sample.name,
        dataset=sample.dataset,
        site=site(sample),
        language=sample.language,
        kind=sample.kind,
        words=len(gold),
        milliseconds=spent * 1000,
        empty=not tokens,
        error=read is None,
        partial=sample.partial,
        bag=evaluate.bag(gold, tokens),
        ngram=evaluate.bag(evaluate.ngrams(gold), evaluate.ngrams(tokens)),
        hits=evaluate.passages(sample, found),
        headlines=landmarks.kept(marks.headlines, tokens),
        comments=landmarks.kept(marks.comments, tokens),
        facts=facts.scores(sample, declared or Page()) if tool.has_facts else (),
    )
