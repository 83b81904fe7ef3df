"""WET: the text of each page, in two forms.

`all` is what Common Crawl's WET files have: all text of a page, the title first, a line per block, nothing removed.
`main` is the text that a crawl keeps: extracted, judged, without the parts in other languages if the options say so; a
line per paragraph. It is the text of the document in the corpus, unless that lost paragraphs as near-duplicates of
other pages. A page that the judges reject has no record.
"""

import functools
from pathlib import Path

import msgspec

from windrow import config
from windrow.archive import WarcRecord, derived, fields
from windrow.archive.derived import DescribedRecord
from windrow.config import Config
from windrow.jobs.derive import limit
from windrow.jobs.derive.exchange import ReadRecord

FORMS = ("all", "main")
_COPIED = ("robots", "isPartOf", "operator", "description", "publisher")


class _KeptParagraph(msgspec.Struct):
    text: str


_decode = msgspec.json.Decoder(_KeptParagraph).decode


class WetText(msgspec.Struct, frozen=True):
    text: bytes  # UTF-8; empty: there is none
    language: str = ""  # ISO 639-3, several with commas
    problem: bool = False  # the page took too long, or broke the extractor


class KeptText:
    """The text that a crawl with these options would keep of a page."""

    def __init__(self, options: Config) -> None:
        from windrow.refine import Refiner  # imports the judges, which all other outputs do not need

        self._refine = Refiner(options)
        self._seconds = options.workers.seconds

    def __call__(self, source: ReadRecord) -> WetText:
        try:
            with limit.cpu(self._seconds):
                refined = self._refine(source.capture())
        except Exception:  # too slow, too large, or an error of an extractor: this page has no text, the file continues
            return WetText(b"", problem=True)
        if refined.draft is None or refined.verdict is None:
            return WetText(b"")
        text = "\n".join([_decode(paragraph).text for paragraph in refined.draft.paragraphs]).encode()
        return WetText(text, "" if refined.verdict.language == "und" else refined.verdict.language)


def all_text(source: ReadRecord) -> WetText:
    assert source.page is not None
    return WetText(source.page.tags.text, source.languages)


@functools.lru_cache(1)
def kept_text(directory: str, settings: tuple[str, ...]) -> KeptText:
    """Return the reader of main text, made once per process: models take a second to load."""
    path = Path(directory) / "crawl.toml"
    given = [*settings, "extract.link_context=false"]
    return KeptText(config.load(path, given) if directory else config.make(given, Path()))


def member(about: DescribedRecord, text: WetText) -> bytes:
    """Return the WET record of a page, as a gzip member."""
    return derived.conversion(about, text.language, text.text)


def info(source: WarcRecord) -> list[tuple[str, str]]:
    """Return the fields that the first record of a WET file takes over from that of the archive."""
    facts = fields.decode(source.block) if source.type == "warcinfo" else {}
    return [(name, facts[name]) for name in _COPIED if facts.get(name)]
