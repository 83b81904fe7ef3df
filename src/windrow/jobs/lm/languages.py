"""Language models from samples, and the languages of files: the work of `windrow language`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.config import ConfigError
from windrow.jobs.inputs import arguments
from windrow.judge.language import codes, detect, tools, trigrams
from windrow.judge.language.settings import prepare

_TAKEN = 0.1  # share of a sample from which the language that CLD2 takes it for is worth a model of its own


class Detected(msgspec.Struct, frozen=True):
    """The language of one file."""

    path: str
    name: str  # of the language, in English
    finding: detect.Finding

    def fields(self) -> dict[str, object]:
        """Return one flat row for JSON."""
        finding = self.finding
        figures = {"score": finding.score, "shares": finding.shares, "paragraphs": finding.paragraphs}
        return {"path": self.path, "name": self.name, "language": finding.language, **figures}


class Known(msgspec.Struct, frozen=True):
    """A language that can be detected."""

    code: str  # ISO 639-3
    short: str  # ISO 639-1; empty: it has none
    name: str  # in English
    tools: list[str]


def train(name: str, samples: Iterable[str], output: Path) -> str:
    """Learn a language from samples of its text, write the model, and return a sentence about it."""
    code = codes.parse(name)
    if output.exists():
        raise ConfigError(f"{output} exists already; name another file, or remove it first")
    model = trigrams.train(code, "\n".join(map(arguments.text, samples)))
    trigrams.write(model, output)
    figures = f"{model.letters:,} letters, {model.bits:.2f} bits per character"
    return f"{output} written: {codes.name(code)} ({code}), {figures}{_advice(model)}"


def _advice(model: trigrams.TrigramModel) -> str:
    """Return what to add if CLD2 takes much of the sample for another language; "" if it does not."""
    taken = {code: share for code, share in model.cld2.items() if code not in (model.name, codes.UNKNOWN)}
    other = max(taken, key=lambda code: taken[code], default="")
    if not other or taken[other] < _TAKEN:
        return ""
    said = f"CLD2 takes {taken[other]:.0%} of the sample for {codes.name(other)}"
    return f"\n{said}: to tell the two apart, train a model of {codes.name(other)} ({other}) too and name both"


def detected(paths: Iterable[str], models: Sequence[str], recognised: Sequence[str]) -> Iterator[Detected]:
    """Yield the language of each file. Its paragraphs are its lines."""
    settings = prepare(config.LanguageOptions(models=tuple(models), recognised=tuple(recognised)))
    for path in paths:
        finding = detect.detect([line for line in arguments.text(path).splitlines() if line.strip()], settings)
        yield Detected(path, codes.name(finding.language), finding)


def known(models: Iterable[str]) -> list[Known]:
    """Return the languages that the built-in detectors and these models know, sorted by code."""
    names_of = {code: list(names) for code, names in tools.known().items()}
    for model in (trigrams.read(Path(path)) for path in models):
        names_of.setdefault(model.name, []).append("model")
    return [
        Known(code, codes.short(code) if codes.short(code) != code else "", codes.name(code), names)
        for code, names in sorted(names_of.items())
    ]
