"""Sites in one language, crawled for it: pages refused, and text in look-alike languages accepted.

    python benchmarks/lookalikes.py make PACKAGES DIR          # once: sites from unpacked Debian packages
    python benchmarks/lookalikes.py measure DIR [--language gl …] [--declared own|none|wrong] [--pages 150] [--json]

PACKAGES is a directory into which packages of translated text were unpacked with `dpkg -x`: gnome-user-docs (Mallard
pages), libreoffice-help-*, gimp-help-* (HTML), libreoffice-l10n-* and the campaigns of wesnoth-1.16 (messages). `make`
writes one directory per language and source, DIR/LANGUAGE/SOURCE/NNNN.html; the paragraphs that equal the English
original, or that CLD2 calls English, were not translated and are left out: every page is in one language.

`measure` takes every language of DIR that has a look-alike there (or those of --language) as the only accepted one.
`refused` are its own pages that the language judge refuses, `lost` is the share of its own characters that do not get
into the corpus; `foreign` is the share of the characters of look-alikes' pages that get in, `mixed` the same for three
look-alike paragraphs among twelve own ones. --declared: pages declare their language (`own`), nothing (`none`), or the
wrong one (`wrong`: own pages say English, the look-alikes' pages say that they are in the wanted language).
"""

import argparse
import collections
import dataclasses
import gettext
import html
import itertools
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from windrow import config, extraction, urls  # noqa: E402
from windrow.config import Config  # noqa: E402
from windrow.judge import Facts, Judge  # noqa: E402
from windrow.judge.language import accept, codes, tools  # noqa: E402
from windrow.records import Capture, Page, Reason, Task  # noqa: E402

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
MESSAGE = 50  # characters of a message that is a paragraph
TOGETHER = 12  # messages of a page
MOST = 400  # pages of a source
# Languages whose texts a reader of another one may take for it; the same groups whatever the judge knows of them.
GROUPS = (
    "srp srp-latn hrv bos mkd bul slv",
    "glg por spa cat oci ast",
    "nno nob dan swe",
    "ces slk",
    "ind msa",
    "ukr bel rus bul",
    "afr nld",
    "est fin",
    "tur aze",
    "hin mar nep",
    "gla gle",
    "xho zul ssw",
    "nso tsn sot",
)
FOLDERS = {"sr@latin": "srp-latn", "nb_NO": "nob", "nb": "nob", "no": "nob", "C": "eng", "en-US": "eng"}


def folder(locale: str) -> str:
    """Return the name of a language's directory; "" for a variant that is left out."""
    if locale in FOLDERS:
        return FOLDERS[locale]
    return "" if re.search("[@_-]", locale) else codes.find(locale) or ""


def make(packages: Path, sites: Path) -> None:
    originals = {_squeezed(text) for path in _english(packages) for text in _paragraphs(path)}
    for source, locale, pages in itertools.chain(_html(packages), _mallard(packages), _messages(packages)):
        name = folder(locale)
        if not name or name == "eng":
            continue
        made = sites / name / source
        made.mkdir(parents=True, exist_ok=True)
        for number, paragraphs in enumerate(itertools.islice(pages, 0, MOST)):
            own = [text for text in paragraphs if _squeezed(text) not in originals and tools.cld2(text) != "eng"]
            if sum(map(len, own)) >= 400:
                body = "".join(f"<p>{html.escape(text)}</p>\n" for text in own)
                (made / f"{number:04}.html").write_text(f"<html><body>\n{body}</body></html>\n", "utf-8")
        print(f"{made}: {len(list(made.iterdir()))} pages")


def _squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def _english(packages: Path) -> Iterator[Path]:
    yield from packages.glob("**/help/C/**/*.page")
    yield from packages.glob("**/help/en*/**/*.html")


def _paragraphs(path: Path) -> list[str]:
    """Return the blocks of text of an HTML or Mallard page, without those that are mostly not running text."""
    text = path.read_text("utf-8", "replace")
    text = re.sub(r"(?s)<(script|style|head|info|credit|code|screen|nav|header|footer)\b.*?</\1>", " ", text)
    parts = re.split(r"</?(?:p|div|li|td|th|tr|h\d|title|item|desc|section|ul|ol|dl|dd|dt|table|body)\b[^>]*>", text)
    found = [" ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split()) for part in parts]
    return [part for part in found if sum(map(str.isalpha, part)) > 0.6 * len(part) > 15]


def _html(packages: Path) -> Iterator[tuple[str, str, Iterator[list[str]]]]:
    for source, pattern in (("libreoffice-help", "**/libreoffice/help/*"), ("gimp-help", "**/gimp/2.0/help/*")):
        for place in sorted(one for one in packages.glob(pattern) if not one.is_symlink()):
            yield source, place.name, map(_paragraphs, sorted(place.glob("**/*.html"))[::3])


def _mallard(packages: Path) -> Iterator[tuple[str, str, Iterator[list[str]]]]:
    for place in sorted(packages.glob("**/share/help/*")):
        yield "gnome-help", place.name, map(_paragraphs, sorted(place.glob("**/*.page")))


def _messages(packages: Path) -> Iterator[tuple[str, str, Iterator[list[str]]]]:
    for source, pattern in (("wesnoth", "**/wesnoth/*/locale"), ("libreoffice", "**/program/resource")):
        for places in packages.glob(pattern):
            for place in sorted(places.iterdir()):
                yield source, place.name, _pages(sorted(place.glob("LC_MESSAGES/*.mo")))


def _pages(catalogues: Iterable[Path]) -> Iterator[list[str]]:
    for path in catalogues:
        try:
            with path.open("rb") as file:
                catalogue: dict[Any, str] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        except (ValueError, OSError):  # some catalogues have a header that gettext refuses
            continue
        messages = [
            " ".join(re.sub(r"<[^>]+>|\^", " ", text).split())
            for key, text in catalogue.items()
            if isinstance(key, str) and key and _squeezed(text) != _squeezed(key.rpartition("\4")[2])
        ]
        long = [text for text in messages if len(text) >= MESSAGE]
        for start in range(0, len(long), TOGETHER):
            yield long[start : start + TOGETHER]


Sites = dict[str, list[list[str]]]


def read(sites: Path, most: int) -> Sites:
    """Return the main text of pages of each language, as many of each source."""
    take, found = extraction.extractor(Config()), {}
    for place in sorted(sites.iterdir()):
        sources = [sorted(source.glob("*.html")) for source in sorted(place.iterdir())]
        share = [random.Random(3).sample(paths, min(len(paths), most // len(sources) + 1)) for paths in sources]
        pages = [_read(take, path) for path in itertools.chain(*share)]
        found[place.name] = [page for page in pages if sum(map(len, page)) >= 300]
    return found


def _read(take: Any, path: Path) -> list[str]:
    url = urls.parse(f"http://example.org/{path.name}")
    assert url is not None
    page: Page = take(Capture(Task(url), 200, b"", HEAD, path.read_bytes(), 0.0, 0.0, "", "http/1.1"))
    return [one.text for one in page.paragraphs if one.kept]


@dataclasses.dataclass
class Tally:
    pages: int = 0
    refused: int = 0
    characters: int = 0
    kept: int = 0
    called: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def add(self, judge: Judge, texts: Sequence[str], counted: set[int] | None, declared: str) -> None:
        ruling = judge(Page(language=declared), Facts(url="http://example.org/page", texts=texts))
        refused = ruling.reason is Reason.LANGUAGE
        for place, text in enumerate(texts):
            if counted is None or place in counted:
                self.characters += len(text)
                self.kept += len(text) * (not refused and place not in ruling.dropped)
        self.pages += 1
        self.refused += refused
        if refused:
            self.called[ruling.language] += 1


def measure(sites: Sites, wanted: str, declared: str) -> dict[str, Any]:
    """Return the figures of a crawl that accepts this language alone."""
    options = Config(language=config.LanguageOptions(accepted=(wanted[:3],)))
    judge, chosen = accept.build(options), random.Random(7)
    says = {"own": wanted[:3], "none": "", "wrong": "en"}[declared]
    own = Tally()
    for page in sites[wanted]:
        own.add(judge, page, None, codes.short(says) if says else "")
    row: dict[str, Any] = {
        "pages": own.pages,
        "refused": own.refused / max(1, own.pages),
        "lost": 1 - own.kept / max(1, own.characters),
        "called": dict(own.called.most_common(3)),
        "foreign": {},
        "mixed": {},
    }
    for other in _lookalikes(wanted, sites):
        says = {"own": other[:3], "none": "", "wrong": wanted[:3]}[declared]
        foreign, mixed = Tally(), Tally()
        for page, mine in zip(sites[other], itertools.cycle(sites[wanted]), strict=False):
            foreign.add(judge, page, None, codes.short(says) if says else "")
            lines = [*((text, False) for text in mine[:12]), *((text, True) for text in page[:3])]
            chosen.shuffle(lines)
            places = {place for place, (_, theirs) in enumerate(lines) if theirs}
            mixed.add(judge, [text for text, _ in lines], places, codes.short(wanted[:3]) if declared == "own" else "")
        row["foreign"][other] = foreign.kept / max(1, foreign.characters)
        row["mixed"][other] = mixed.kept / max(1, mixed.characters)
    return row


def _lookalikes(wanted: str, sites: Sites) -> list[str]:
    groups = [group.split() for group in GROUPS if wanted in group.split()]
    names = dict.fromkeys(itertools.chain(*groups))
    return [name for name in names if name[:3] != wanted[:3] and name in sites]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    making = commands.add_parser("make")
    making.add_argument("packages", type=Path)
    making.add_argument("sites", type=Path)
    measuring = commands.add_parser("measure")
    measuring.add_argument("sites", type=Path)
    measuring.add_argument("--language", action="append")
    measuring.add_argument("--declared", choices=("own", "none", "wrong"), default="none")
    measuring.add_argument("--pages", type=int, default=150)
    measuring.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.command == "make":
        return make(given.packages, given.sites)
    if not given.sites.is_dir():
        sys.exit(
            f"there is no directory {given.sites}; make it with: python benchmarks/lookalikes.py make PACKAGES DIR"
        )
    sites = read(given.sites, given.pages)
    known = [name for name in sites if name[:3] in tools.known() and _lookalikes(name, sites)]
    for wanted in given.language or known:
        row = measure(sites, wanted, given.declared)
        print(json.dumps({"language": wanted, **row}) if given.json else _line(wanted, row), flush=True)


def _line(wanted: str, row: dict[str, Any]) -> str:
    shares = (
        f"{title}: " + " ".join(f"{name} {share:.1%}" for name, share in row[title].items())
        for title in ("foreign", "mixed")
    )
    refused = (
        f"{row['refused']:6.1%} of {row['pages']:3} pages refused, {row['lost']:6.1%} of text lost {row['called']}"
    )
    return f"{wanted:9}{refused}; {'; '.join(shares)}"


if __name__ == "__main__":
    main()
