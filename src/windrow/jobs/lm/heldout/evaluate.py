"""Grow a sample by the text of a crawl, and test a model of it at each size."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from windrow import config, machine
from windrow.config import ConfigError
from windrow.jobs.inputs import texts
from windrow.jobs.lm.heldout import crawled
from windrow.jobs.lm.heldout.crawled import CrawledText
from windrow.judge.focus import training
from windrow.judge.focus.heldout import BYTES_PER_WORD, GrowingSample, HeldOut
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.language import codes, detect
from windrow.judge.language.settings import prepare
from windrow.records import CrawlEvaluation, EvaluationRow, HeldOutFit
from windrow.units import size

UNKNOWN_LOG10 = -7.0  # of an unknown word: text of unknown words alone has a perplexity of 10^7, as in the paper
_FIRST = 100_000  # tokens
_LINES = 5_000  # of a text, of which the languages are detected

Watch = Callable[[int], None]  # gets the number of pages read so far


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    held_out: str  # file of text
    train: str = ""  # file of text; "": none
    language: str = (
        ""  # the wanted one; "": the first accepted language of the crawl, or else that of the held-out text
    )
    sizes: Sequence[int] = ()  # tokens; empty: 100K, 300K, 1M, 3M, …
    order: int = training.ORDER
    memory: int = 0  # bytes; 0: half of this machine's


def run(directory: Path, options: EvaluateOptions, watch: Watch) -> CrawlEvaluation:
    """Evaluate a crawl."""
    file = directory / "crawl.toml"
    chosen = config.load(file) if file.exists() else config.make((), directory)
    held_out, train = _lines(options.held_out), _lines(options.train) if options.train else []
    shares = {"held-out": _languages(held_out)} | ({"train": _languages(train)} if train else {})
    main = next(iter(shares["held-out"]), codes.UNKNOWN)
    wanted = options.language or next(iter(chosen.language.accepted), "") or main
    if wanted == codes.UNKNOWN:
        raise ConfigError(f"the language of {options.held_out} is not known; name it with --language")
    growing = _Growing(options, codes.parse(wanted), held_out, train)
    growing.measure(0)
    note = ""
    for number, text in enumerate(crawled.read(directory, chosen), 1):
        watch(number)
        note = growing.add(text)
        if note:
            break
    growing.measure(growing.tokens)
    return CrawlEvaluation(
        crawl=directory.resolve().name,
        held_out=Path(options.held_out).name,
        held_out_words=len(growing.held_out),
        train=Path(options.train).name if options.train else "",
        language=growing.wanted_language,
        order=options.order,
        unknown_log10=UNKNOWN_LOG10,
        left_out=growing.left_out,
        shares=shares,
        rows=growing.rows,
        note=note,
    )


def with_language(options: EvaluateOptions, language: str) -> EvaluateOptions:
    """Return the options for a crawl that is compared with another one, whose wanted language this is."""
    return dataclasses.replace(options, language=language)


class _Growing:
    """The text of a crawl so far, and the rows of the table."""

    def __init__(self, options: EvaluateOptions, wanted: str, held_out: list[str], train: list[str]) -> None:
        self.wanted_language = wanted
        self.rows: list[EvaluationRow] = []
        self.tokens = self.left_out = 0
        self._order = options.order
        self._most = (options.memory or machine.memory() // 2) // BYTES_PER_WORD  # words of a sample
        self._sizes = iter(sorted(options.sizes) if options.sizes else _ladder())
        self._next = next(self._sizes, None)
        self._sample = GrowingSample()
        self._words = Tokeniser()
        tested = list(self._words.sequences(held_out))
        if not tested:
            raise ConfigError(f"{options.held_out} has no sentence of five words and more; give running text")
        self.held_out = HeldOut(tested, None)
        if options.train and not any(True for _ in self._words.sequences(train)):
            raise ConfigError(
                f"{options.train} has no sentence of five words and more; give running text, or no --train"
            )
        self._learn(train, True)
        if train:
            self.held_out = HeldOut(tested, self._sample.vocabulary())
            self.left_out = 0
        self._wanted = self._kept = self._pages = 0
        self._languages: dict[str, int] = {}

    def add(self, text: CrawledText) -> str:
        """Take in a page; return why no more can be taken, "" if there is no cause."""
        wanted = codes.covers(self.wanted_language, text.language) if text.language else False
        self._learn(text.texts, wanted)
        self.tokens += text.tokens
        self._wanted += text.tokens if wanted else 0
        self._kept += text.kept
        self._pages += 1
        self._languages[text.language or "und"] = self._languages.get(text.language or "und", 0) + text.tokens
        if self._next is not None and self.tokens >= self._next:
            step, self._next = self._next, None
            self.measure([step, *itertools.takewhile(self._reached, self._sizes)][-1])
        if len(self._sample) < self._most:
            return ""
        needed = f"a model of more text needs more than {size(self._most * BYTES_PER_WORD)} of memory"
        return f"the table ends after {self.tokens:,} tokens: {needed}; allow more with --memory"

    def _reached(self, step: int) -> bool:
        """Return whether the text has this size too; the first that it does not have is the next one."""
        self._next = step if self.tokens < step else None
        return self._next is None

    def measure(self, step: int) -> None:
        """Add the row of a size, unless it is there. Without a train text there is none of size 0."""
        if self.rows and self.rows[-1].tokens == self.tokens:
            return
        if not step and not len(self._sample):
            return
        self.rows.append(
            EvaluationRow(
                size=step,
                tokens=self.tokens,
                wanted=self._wanted,
                kept=self._kept,
                pages=self._pages,
                languages=dict(sorted(self._languages.items(), key=lambda entry: (-entry[1], entry[0]))),
                fit=self._fit(wanted=False),
                fit_wanted=self._fit(wanted=True),
            )
        )

    def _fit(self, wanted: bool) -> HeldOutFit | None:
        tables = self._sample.tables(self._order, UNKNOWN_LOG10, wanted)
        return self.held_out.fit(tables) if tables is not None else None

    def _learn(self, texts: Sequence[str], wanted: bool) -> None:
        for words in self._words.sequences(texts):
            if words in self.held_out:
                self.left_out += 1
            else:
                self._sample.add(words, wanted)


def _ladder() -> Iterator[int]:
    """Yield 100K, 300K, 1M, 3M, …"""
    for power in itertools.count():
        yield _FIRST * 10**power
        yield 3 * _FIRST * 10**power


def _lines(name: str) -> list[str]:
    return [line for line in texts.lines([name], lambda count: None) if line.strip()]


def _languages(lines: Sequence[str]) -> dict[str, float]:
    """Return the languages of a text with their shares, greatest first."""
    some = lines[:: max(1, len(lines) // _LINES)]
    finding = detect.detect(some, prepare(config.LanguageOptions()))
    return {code: round(share, 4) for code, share in finding.shares.items()}
