"""The files beside the documents of an export: the dataset card, and the registry file of a vertical."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

import windrow
from windrow import log
from windrow.corpus import card, registry
from windrow.corpus.card import CardFacts, CrawlFacts
from windrow.corpus.census import Census
from windrow.jobs.inputs.sources import CorpusSource
from windrow.judge.language import codes
from windrow.records import Reason


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    output: Path  # the directory, absolute
    format: str
    made: Mapping[str, object]  # options of the export
    sources: Sequence[CorpusSource]
    census: Census
    files: Mapping[str, int]  # path below the output -> documents
    left_out: Mapping[str, int]  # rule -> documents
    split: bool
    places: bool
    loadable: bool  # whether every document has the same members

    @property
    def name(self) -> str:
        return self.output.name


def write(root: Path, exported: Exported) -> None:
    """Write them below `root`, the temporary name of the output."""
    (root / card.FILE).write_text(card.card(_facts(exported)), "utf-8")
    if exported.format == "vertical":
        folder = root / registry.DIRECTORY
        folder.mkdir()
        (folder / registry.file_name(exported.name)).write_text(_registry(exported), "utf-8")


def _facts(exported: Exported) -> CardFacts:
    return CardFacts(
        name=exported.name,
        version=windrow.__version__,
        made=exported.made,
        crawls=[_crawl(source) for source in exported.sources],
        files=exported.files,
        left_out=exported.left_out,
        split=exported.split,
        loadable=exported.loadable,
        census=exported.census,
        short=codes.short,
        language=codes.name,
    )


def _registry(exported: Exported) -> str:
    languages = list(exported.census.languages)
    folder = next(iter(exported.files), "data/").rpartition("/")[0]
    return registry.registry(
        exported.name,
        exported.output,
        f"{folder}/*.vert.gz",
        codes.name(languages[0]) if len(languages) == 1 else "",
        exported.places,
    )


def _crawl(source: CorpusSource) -> CrawlFacts:
    """Read crawl.toml as text: the card shows what the user wrote, also if this version would refuse an option."""
    if source.crawl is None:
        return CrawlFacts(source.name, "")
    options = (source.crawl / "crawl.toml").read_text("utf-8", "replace")
    try:
        parsed = tomllib.loads(options)
    except tomllib.TOMLDecodeError:
        parsed = {}
    contact, profile = _string(parsed, "identity", "contact"), _string(parsed, "signals", "profile")
    opted_out = None
    if log.names(source.crawl / "log"):
        opted_out = log.fold(source.crawl).tally.finished.get(Reason.OPTED_OUT.value, 0)
    return CrawlFacts(source.name, options, contact, profile, opted_out)


def _string(parsed: Mapping[str, Any], section: str, option: str) -> str:
    table = parsed.get(section)
    value = table.get(option, "") if isinstance(table, dict) else ""
    return value if isinstance(value, str) else ""
