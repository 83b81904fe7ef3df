"""The dataset card of an export: README.md, as the Hugging Face Hub and `datasets` read it.

The front matter is YAML. It is written here line by line, with JSON for every string: JSON is YAML. `configs` says
which files `datasets.load_dataset(DIRECTORY)` reads.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from windrow.corpus.census import Census

FILE = "README.md"
_SHOWN = 20  # rows of a table
_MOST_CONFIGS = 500  # above that, only the configuration of all files: with --by domain there may be a million parts
_SIZES = (
    *((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M")),
    *((10**8, "10M<n<100M"), (10**9, "100M<n<1B"), (10**10, "1B<n<10B"), (10**11, "10B<n<100B")),
)
_LOADED = (".jsonl", ".parquet", ".txt")  # the formats that `datasets` reads


class CrawlFacts(msgspec.Struct, frozen=True):
    """What the card says of a crawl."""

    name: str
    options: str  # crawl.toml
    contact: str = ""
    profile: str = ""  # of [signals]
    opted_out: int | None = None  # pages fetched and left out of the corpus for an opt-out; None: there is no log


class CardFacts(msgspec.Struct, frozen=True):
    name: str
    version: str  # of Windrow
    made: Mapping[str, object]  # how the export was made: its options
    crawls: Sequence[CrawlFacts]
    files: Mapping[str, int]  # path below the export -> documents
    left_out: Mapping[str, int]  # rule -> documents
    split: bool  # one file per part of the corpus
    loadable: bool  # whether every document has the same members, so that `datasets` can load the files
    census: Census
    short: Callable[[str], str]  # ISO 639-3 code -> the code that the Hub uses
    language: Callable[[str], str]  # ISO 639-3 code -> English name


def card(facts: CardFacts) -> str:
    """Return the card. It depends on the corpus and the options alone: the dates are those of the pages."""
    parts = ["---", *_front(facts), "---", "", f"# {facts.name}", "", *_summary(facts), *_loading(facts)]
    parts += [*_counts(facts), *_rights(facts), *_making(facts)]
    return "\n".join(parts) + "\n"


def _front(facts: CardFacts) -> list[str]:
    codes = sorted({facts.short(code) for code in facts.census.languages if code != "und"})
    size = next((name for limit, name in _SIZES if facts.census.documents < limit), "n>1T")
    lines = [f"pretty_name: {_quoted(facts.name)}", "license: other", "license_name: various"]
    lines += ["language:", *(f"- {_quoted(code)}" for code in codes)] if codes else []
    lines += ["size_categories:", f"- {size}", "task_categories:", "- text-generation", "tags:", "- web-crawl"]
    return [*lines, "- windrow", *_configs(facts)]


def _configs(facts: CardFacts) -> list[str]:
    """Return the configurations: all files, and each file of an export that has one per part of the corpus."""
    files = [name for name in facts.files if any(suffix in PurePosixPath(name).suffixes for suffix in _LOADED)]
    if not files or not facts.loadable:
        return []
    folder, _, first = files[0].rpartition("/")
    suffix = first[first.index(next(suffix for suffix in _LOADED if suffix in first)) :]
    lines = ["configs:", *_config("default", f"{folder}/*{suffix}"), "  default: true"]
    for name in files if facts.split and len(files) <= _MOST_CONFIGS else ():
        lines += _config(name.removeprefix(f"{folder}/").removesuffix(suffix), name)
    return lines


def _config(name: str, path: str) -> list[str]:
    return [f"- config_name: {_quoted(name)}", "  data_files:", "  - split: train", f"    path: {_quoted(path)}"]


def _summary(facts: CardFacts) -> list[str]:
    census, crawls = facts.census, ", ".join(f"`{crawl.name}`" for crawl in facts.crawls)
    noun = "crawl" if len(facts.crawls) == 1 else "crawls"
    size = f"{census.documents:,} documents with {census.characters:,} characters of text"
    when = f", requested from {census.first[:10]} to {census.last[:10]}" if census.first else ""
    return [f"Text of web pages: {size}{when}. Made from the {noun} {crawls} by Windrow {facts.version}.", ""]


def _loading(facts: CardFacts) -> list[str]:
    if facts.made.get("format") == "markdown":
        matter = "A document begins with front matter in YAML between two lines `---`; no text has such a line."
        return [f"The files are Markdown, one document after another. {matter}", ""]
    if not _configs(facts):
        return []
    return ["```python", "import datasets", "", 'datasets.load_dataset("PATH-OF-THIS-DIRECTORY")', "```", ""]


def _counts(facts: CardFacts) -> list[str]:
    census = facts.census
    languages = sorted(census.languages.items(), key=lambda row: (-row[1][0], row[0]))
    rows = [(facts.language(code), code, counts[0], counts[1]) for code, counts in languages]
    lines = ["## Contents", "", *_table(("language", "code", "documents", "characters"), rows), ""]
    return [*lines, *_table(("top-level domain", "documents"), _by_count(census.tlds)), ""]


def _rights(facts: CardFacts) -> list[str]:
    census = facts.census
    lines = ["## Licences, opt-outs and removal", ""]
    lines += ["The texts belong to their authors. The licences that the pages link:", ""]
    lines += [*_table(("licence", "documents"), _by_count(census.licences)), ""]
    lines += ["Signals of authors and hosts about the use of the pages in this dataset:", ""]
    lines += [*_table(("signal", "documents"), _by_count(census.signals)), ""]
    for crawl in facts.crawls:
        if crawl.opted_out is not None:
            rule = f"with the profile `{crawl.profile}`" if crawl.profile else "with the default profile"
            lines.append(f"The crawl `{crawl.name}` left out {crawl.opted_out:,} pages for an opt-out, {rule}.")
    contacts = sorted({crawl.contact for crawl in facts.crawls if crawl.contact})
    where = f"write to {', '.join(contacts)}" if contacts else "write to the publisher of this dataset"
    return [*lines, f"To have a page removed, {where} and name its URL.", ""]


def _making(facts: CardFacts) -> list[str]:
    lines = ["## How it was made", "", "Options of the export:", ""]
    lines += ["```json", json.dumps(facts.made, indent=2, ensure_ascii=False, default=str), "```", ""]
    if facts.left_out:
        lines += ["Documents of the corpus that the export left out:", ""]
        lines += [*_table(("rule", "documents"), _by_count(facts.left_out)), ""]
    for crawl in facts.crawls:
        if crawl.options.strip():
            lines += [f"Options of the crawl `{crawl.name}`:", "", "```toml", crawl.options.strip(), "```", ""]
    return lines[:-1]


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def _table(head: Sequence[str], rows: Sequence[Sequence[str | int]]) -> list[str]:
    if not rows:
        return ["(none)"]
    lines = [_row(head), _row(["---:" if isinstance(cell, int) else "---" for cell in rows[0]])]
    lines += [_row([f"{cell:,}" if isinstance(cell, int) else _cell(cell) for cell in row]) for row in rows[:_SHOWN]]
    more = len(rows) - _SHOWN
    return [*lines, _row([f"and {more:,} more", *[""] * (len(head) - 1)])] if more > 0 else lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return a text of a web page so that it cannot leave its cell, or become markup."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
    return escaped.replace("[", "\\[").replace("\n", " ")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
