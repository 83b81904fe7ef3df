"""Label the main text of pages by hand, and write the labelled pages out as sets with gold text.

    python tools/label_pages.py --webs WEBS --show PAGE …                           print the blocks of pages
    python tools/label_pages.py --webs WEBS --notes NOTES -o LABELS                 turn notes into labels
    python tools/label_pages.py --webs WEBS LABELS … --against LABELS               compare two passes
    python tools/label_pages.py --webs WEBS LABELS … -o DIR                         write a set for each file

WEBS is a folder that holds each offline web unpacked (WEB/www/HOST/PATH) or packed (WEB.tar.xz), and the archives of
packages with test pages as pip or npm saves them. PAGE is WEB/HOST/PATH or ARCHIVE/PATH. A line of NOTES is

    PAGE LANGUAGE KIND FIRST-LAST FIRST-LAST …

with the numbers of the blocks that are main text, or none at all. LABELS has one JSON object per page and no text
beyond 40 characters. A label names a block by its number, so it holds only as long as the page and its blocks stay
as they were: if they did not, the command says which page is to be labelled again. The set of NAME.jsonl is DIR/NAME,
with html/, gold/ and meta.jsonl.
"""

import argparse
import collections
import hashlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from page_files import ENDINGS, PageName, bodies

from windrow import urls
from windrow.config import ConfigError
from windrow.extraction import walk
from windrow.extraction.evaluation import evaluate
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.readers import html
from windrow.extraction.walk import TAGS, Walk

KINDS = ("article", "forum", "documentation", "listing", "collection", "product", "service", "none")
START, END = 100, 30  # characters of a block that are printed
TEXT = 40  # characters of the first kept block, by which a label recognizes it
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_CUT = re.compile(rb'<a\b[^<>]*?\bdata-cut="1"', re.IGNORECASE)


class PageLabel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The main text of a page, as ranges of blocks."""

    web: str  # or the archive of a package
    host: str = ""  # of a page of a web
    path: str
    url: str = ""  # of a page of a package, where it was on the web
    sha1: str  # of the body
    language: str  # ISO 639-1; 639-3 for languages without a code there
    kind: str
    keep: list[tuple[int, int]]  # first and last block, both included
    blocks: int
    text: str  # the first characters of the first block kept

    @property
    def name(self) -> PageName:
        return PageName(self.web, self.host, self.path.lstrip("/"))

    @property
    def kept(self) -> list[bool]:
        """Return for each block whether it is main text."""
        inside = {block for first, last in self.keep for block in range(first, last + 1)}
        return [block in inside for block in range(self.blocks)]


def walked(name: PageName, body: bytes) -> Walk:
    """Return the blocks of a page."""
    tree = html.read(Sample(name.path, name.web, body, "").capture(), 0, articles=True)[1]
    if tree is None:
        raise ConfigError(f"{name} is not HTML; label another page")
    return walk.walk(walk.markup(tree))


def shown(page: Walk) -> list[str]:
    """Return a page as lines to label: number, tag, per cent in links, and both ends of the text of each block."""
    lines = []
    columns = zip(*(page.column(name) for name in ("tag", "heading", "chars", "link_chars")), strict=True)
    for number, (text, (tag, heading, chars, linked)) in enumerate(zip(page.texts, columns, strict=True)):
        cut = text if len(text) <= START + END + 10 else f"{text[:START]} … {text[-END:]} ({len(text)})"
        level = f"/h{heading}" if heading and TAGS[tag] != f"h{heading}" else ""
        share = f" {100 * linked // max(chars, 1)}%" if linked else ""
        lines.append(f"{number} {TAGS[tag] or 'page'}{level}{share} {cut}")
    return lines


def labels(files: Iterable[Path]) -> dict[str, list[PageLabel]]:
    """Read labels by the name of the set that their file stands for.

    A page that occurs twice is refused: it would count double in training.
    """
    found: dict[str, list[PageLabel]] = {}
    places: dict[str, str] = {}
    for file in files:
        if file.stem in found:
            raise ConfigError(f"{file}: there is another file of labels for the set {file.stem}; rename one of them")
        found[file.stem] = []
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            place = f"{file}, line {number}"
            try:
                label = msgspec.json.decode(line, type=PageLabel)
            except msgspec.MsgspecError as error:
                raise ConfigError(f"{place}: not the label of a page ({error}); correct or remove the line") from None
            _check_facts(place, label)
            if label.sha1 in places:
                raise ConfigError(f"{place}: the same page as {places[label.sha1]}; remove one of the lines")
            places[label.sha1] = place
            found[file.stem].append(label)
        if not found[file.stem]:
            raise ConfigError(f"{file} holds no label; leave the file out")
    if not found:
        raise ConfigError("no labels; give files of labels, such as tools/labels/*.jsonl")
    return found


def flat(sets: Mapping[str, Sequence[PageLabel]]) -> list[PageLabel]:
    return [label for own in sets.values() for label in own]


def _check_facts(place: str, label: PageLabel) -> None:
    if label.kind not in KINDS:
        raise ConfigError(f"{place}: unknown kind '{label.kind}'; write one of {', '.join(KINDS)}")
    if not _LANGUAGE.fullmatch(label.language):
        raise ConfigError(f"{place}: '{label.language}' is no language; write a code of ISO 639-1, such as en")
    if label.web.endswith(ENDINGS) == bool(label.host):
        raise ConfigError(f"{place}: a page of a web has a host and a page of a package has none; correct the line")
    if label.url and not urls.parse(label.url):
        raise ConfigError(f"{place}: '{label.url}' is no URL; correct or remove it")
    if (label.kind == "none") != (not label.keep):
        raise ConfigError(f"{place}: a page is of kind none if it has no range, and only then; correct the line")
    end = -1
    for first, last in label.keep:
        if not end < first <= last < label.blocks:
            raise ConfigError(
                f"{place}: {first}-{last} is no range of the {label.blocks} blocks behind {end}; correct the line"
            )
        end = last


def check(label: PageLabel, body: bytes) -> Walk:
    """Return the blocks of a labelled page, and refuse a page that is not as it was when it was labelled."""
    again = "label it again"
    if hashlib.sha1(body, usedforsecurity=False).hexdigest() != label.sha1:
        raise ConfigError(f"{label.name} is another page than when it was labelled; {again}, or use the file of then")
    page = walked(label.name, body)
    if len(page.texts) != label.blocks:
        raise ConfigError(
            f"{label.name} has {len(page.texts)} blocks and had {label.blocks} when it was labelled: the walk has "
            f"changed; {again}"
        )
    if label.keep and not _opening(page, label.keep) == label.text:
        raise ConfigError(
            f"{label.name}: block {label.keep[0][0]} begins '{_opening(page, label.keep)}' and began '{label.text}' "
            f"when the page was labelled: the walk has changed; {again}"
        )
    return page


def _opening(page: Walk, keep: Sequence[tuple[int, int]]) -> str:
    return page.texts[keep[0][0]][:TEXT] if keep else ""


def noted(notes: Path, webs: Path) -> list[PageLabel]:
    """Return the labels that notes describe, in the order of the names of the pages."""
    lines = {}
    for number, line in enumerate(notes.read_text("utf-8").splitlines(), 1):
        parts = line.split()
        if not parts or line.startswith("#"):
            continue
        ranges = [_RANGE.fullmatch(one) for one in parts[3:]]
        if len(parts) < 3 or not all(ranges):
            raise ConfigError(f"{notes}, line {number}: not PAGE LANGUAGE KIND FIRST-LAST …; correct the line")
        name = PageName.parse(parts[0])
        if name in lines:
            raise ConfigError(f"{notes}, line {number}: {name} is noted twice; remove one of the lines")
        keep = [(int(one[1]), int(one[2] or one[1])) for one in ranges if one]
        lines[name] = (f"{notes}, line {number}", parts[1], parts[2], keep)
    found = []
    pages = bodies(webs, lines)
    for name, (place, language, kind, keep) in sorted(lines.items()):
        page = walked(name, pages[name])
        label = PageLabel(
            web=name.web,
            host=name.host,
            path=name.path,
            sha1=hashlib.sha1(pages[name], usedforsecurity=False).hexdigest(),
            language=language,
            kind=kind,
            keep=keep,
            blocks=len(page.texts),
            text="",
        )
        _check_facts(place, label)
        found.append(msgspec.structs.replace(label, text=_opening(page, keep)))
    return found


def agreement(one: Sequence[PageLabel], other: Sequence[PageLabel], webs: Path) -> list[str]:
    """Compare two passes: the share of words with the same label, Cohen's kappa over blocks, and the pages that differ.

    Kappa is the agreement beyond the one that two labellers with the same shares of main text would reach by chance.
    """
    theirs = {label.name: label for label in other}
    pages = bodies(webs, [label.name for label in one])
    words: collections.Counter[bool] = collections.Counter()
    blocks: collections.Counter[tuple[bool, bool]] = collections.Counter()
    differing = []
    for label in one:
        second = theirs.get(label.name)
        if second is None:
            raise ConfigError(f"{label.name} is missing in the other pass; label it there too")
        page = check(label, pages[label.name])
        check(second, pages[label.name])
        pairs = list(zip(label.kept, second.kept, strict=True))
        blocks.update(pairs)
        for text, (mine, yours) in zip(page.texts, pairs, strict=True):
            words[mine == yours] += len(evaluate.words(text, label.language))
        places = [str(number) for number, (mine, yours) in enumerate(pairs) if mine != yours]
        if places or label.kind != second.kind:
            differing.append(f"{label.name} {label.kind} {second.kind}: {' '.join(places)}")
    total = blocks.total()
    same = (blocks[True, True] + blocks[False, False]) / total
    first, last = ((blocks[True, True] + blocks[pair]) / total for pair in ((True, False), (False, True)))
    chance = first * last + (1 - first) * (1 - last)
    kappa = (same - chance) / (1 - chance) if chance < 1 else 1.0
    return [
        f"{len(one)} pages, {total} blocks, {words.total()} words; {len(one) - len(differing)} pages are equal",
        f"words with the same label: {words[True] / max(words.total(), 1):.4f}",
        f"blocks with the same label: {same:.4f}; Cohen's kappa: {kappa:.4f}",
        *differing,
    ]


def relinked(body: bytes) -> bytes:
    """Return a page with all its links.

    The offline webs took the address from links to pages that they do not hold, and marked them. Without an address
    they are no links, and a menu of them would teach that menus are text.
    """
    return _CUT.sub(rb'\g<0> href="/cut"', body)


def site(host: str) -> str:
    """Return what pages with one template have in common: help.libreoffice.com.test -> libreoffice.

    The hosts of the offline webs end in a made-up domain of two labels, and the same software stands in front of it for
    many languages. So the registered domain would join strangers and separate twins.
    """
    return ".".join(host.split(".")[-3:-2]) or host


def write(sets: Mapping[str, Sequence[PageLabel]], webs: Path, directory: Path) -> None:
    """Write each set: its pages and the texts of their kept blocks, one per line."""
    found = flat(sets)
    pages = bodies(webs, [label.name for label in found])
    blocks = {label.name: check(label, pages[label.name]) for label in found}  # all, before anything is written
    for name in sets:
        if (directory / name).exists():
            raise ConfigError(f"{directory / name} exists already; remove it, or name another folder")
    for name, own in sets.items():
        facts = [_write_page(label, blocks[label.name], pages[label.name], directory / name) for label in own]
        (directory / name / "meta.jsonl").write_bytes(b"".join(msgspec.json.encode(fact) + b"\n" for fact in facts))


def _write_page(label: PageLabel, page: Walk, body: bytes, directory: Path) -> dict[str, str]:
    """Write a page with its gold text, and return what else is known about it."""
    address = urls.parse(label.url)
    host = label.host or (address.host if address else label.name.path.rpartition("/")[2])
    name = f"{host}-{label.sha1[:8]}"
    lines = [text for text, inside in zip(page.texts, label.kept, strict=True) if inside]
    for part, file, data in (
        ("html", f"{name}.html", relinked(body)),
        ("gold", f"{name}.txt", "".join(f"{line}\n" for line in lines).encode()),
    ):
        (directory / part).mkdir(parents=True, exist_ok=True)
        (directory / part / file).write_bytes(data)
    # A page of a web gets no url: its registered domain would be taken as the site.
    where = {"site": site(label.host)} if label.host else {"url": label.url} if label.url else {}
    return {"id": name, **where, "language": label.language, "page_type": label.kind, "page": str(label.name)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="*", help="files of labels")
    parser.add_argument("--webs", type=Path, required=True, help="folder of the offline webs and archives of packages")
    parser.add_argument("--show", nargs="+", metavar="PAGE", help="print the blocks of pages")
    parser.add_argument("--notes", type=Path, help="file of notes, to be turned into labels")
    parser.add_argument("--against", type=Path, help="labels of another pass over the same pages, to compare")
    parser.add_argument("-o", "--output", type=Path, help="folder to write the sets to; with --notes, file of labels")
    given = parser.parse_args()
    try:
        if given.show:
            names = [PageName.parse(one) for one in given.show]
            pages = bodies(given.webs, names)
            for name in names:
                print(f"== {name}", *shown(walked(name, pages[name])), sep="\n")
        elif given.notes and given.output:
            lines = [msgspec.json.encode(label) + b"\n" for label in noted(given.notes, given.webs)]
            given.output.write_bytes(b"".join(lines))
        elif given.against:
            print(*agreement(flat(labels(given.labels)), flat(labels([given.against])), given.webs), sep="\n")
        elif given.output:
            write(labels(given.labels), given.webs, given.output)
        else:
            parser.error("nothing to do; give --show PAGE, --notes NOTES -o FILE, --against LABELS or -o DIR")
    except (ConfigError, OSError, UnicodeDecodeError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
