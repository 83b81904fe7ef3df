"""Pages whose main text is known: a folder or tar file with html/ID.html, gold/ID.txt and, optionally, meta.jsonl."""

import collections
import json
import lzma
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.records import Capture, Task, Url

_TARS = (".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tgz")
_LAYOUT = "html/ID.html with gold/ID.txt"


class Sample(msgspec.Struct, frozen=True):
    """A page and the text that a person considers its main text."""

    name: str
    dataset: str
    body: bytes
    gold: str
    url: str = ""
    site: str = ""  # pages of one site are alike: a fair test does not train on some and try others
    language: str = ""  # ISO 639-1
    kind: str = ""  # "article", "forum", "product" …; empty: unknown
    encoding: str = ""  # empty: detected
    wanted: tuple[str, ...] = ()  # passages that belong to the text
    unwanted: tuple[str, ...] = ()  # passages that do not
    partial: bool = False  # the gold text consists of these passages only
    # None: not known. Empty: the page has none, and a program that gives one is wrong.
    title: str | None = None
    author: str | None = None  # several: separated by commas
    date: str | None = None  # of publication: YYYY-MM-DD, or its beginning

    @property
    def content_type(self) -> str:
        return f"text/html; charset={self.encoding}" if self.encoding else "text/html"

    def capture(self) -> Capture:
        """Return the page as if it had been fetched."""
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\n\r\n".encode("latin-1", "replace")
        return Capture(
            Task(_address(self.url)),
            200,
            request=b"",
            head=head,
            body=self.body,
            time=0.0,
            seconds=0.0,
            ip="",
            protocol="http/1.1",
        )


def samples(path: Path) -> Iterator[Sample]:
    """Yield the pages of a data set, or of every data set in a folder, ordered by name."""
    if path.is_file():
        yield from _packed(path)
    elif (path / "html").is_dir():
        yield from _unpacked(path)
    elif path.is_dir():
        inside = sorted(
            one for one in path.iterdir() if (one / "html").is_dir() or (one.is_file() and one.name.endswith(_TARS))
        )
        if not inside:
            raise ConfigError(f"{path} holds no pages with gold text; a data set is a folder or tar file of {_LAYOUT}")
        for one in inside:
            yield from samples(one)
    else:
        raise ConfigError(f"there is no {path}; give a folder or tar file of {_LAYOUT}")


def chosen(pages: Iterable[Sample], every: int = 1, only: Collection[str] = ()) -> Iterator[Sample]:
    """Yield each Nth page of each data set, of all data sets or of those named."""
    numbers: collections.Counter[str] = collections.Counter()
    for sample in pages:
        if not only or sample.dataset in only:
            if numbers[sample.dataset] % every == 0:
                yield sample
            numbers[sample.dataset] += 1


def datasets(path: Path) -> list[str]:
    """Return the names of the data sets."""
    return sorted({sample.dataset for sample in samples(path)})


def _address(url: str) -> Url:
    return urls.parse(url) or Url("http://page.invalid/", "page.invalid", "page.invalid", 0)


def _unpacked(folder: Path) -> Iterator[Sample]:
    meta = folder / "meta.jsonl"
    facts = _facts(meta.read_bytes(), str(meta)) if meta.exists() else {}
    found = False
    for page in sorted((folder / "html").glob("*.html")):
        gold = folder / "gold" / f"{page.stem}.txt"
        if gold.exists():
            found = True
            yield _sample(
                (folder.name, page.stem),
                page.read_bytes(),
                text(gold.read_bytes(), str(gold)),
                facts.get(page.stem, {}),
            )
    if not found:
        raise ConfigError(f"{folder} holds no page with gold text; it needs {_LAYOUT}")


def _packed(path: Path) -> Iterator[Sample]:
    """Yield the pages of a tar file. It is read once into memory, because its members are in any order."""
    try:
        with tarfile.open(path) as tar:
            files = {
                PurePosixPath(one.name): member.read()
                for one in tar
                if one.isfile() and (member := tar.extractfile(one))
            }
    except (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        why = str(error).partition(":")[0].strip() or type(error).__name__
        raise ConfigError(
            f"{path} cannot be read as a tar file ({why}); give a folder or tar file of {_LAYOUT}"
        ) from None
    pages = sorted(name for name in files if name.parent.name == "html" and name.suffix == ".html")
    known: dict[PurePosixPath, dict[str, Any]] = {}
    found = False
    for page in pages:
        root = page.parent.parent
        gold = root / "gold" / f"{page.stem}.txt"
        if gold not in files:
            continue
        if root not in known:
            known[root] = _facts(files.get(root / "meta.jsonl", b""), f"{path}, {root / 'meta.jsonl'}")
        found = True
        name = root.name or path.name.partition(".tar")[0]
        yield _sample(
            (name, page.stem), files[page], text(files[gold], f"{path}, {gold}"), known[root].get(page.stem, {})
        )
    if not found:
        raise ConfigError(f"{path} holds no page with gold text; it needs {_LAYOUT}")


def text(data: bytes, place: str, what: str = "the gold text") -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{place}, line {line}: not UTF-8; save {what} as UTF-8") from None


def _facts(data: bytes, place: str) -> dict[str, Any]:
    facts = {}
    for number, line in enumerate(text(data, place).splitlines(), 1):
        if line.strip():
            try:
                fact = json.loads(line)
                facts[str(fact["id"])] = fact
            except (ValueError, TypeError, KeyError, RecursionError):
                raise ConfigError(
                    f'{place}, line {number}: not a JSON object with an "id"; fix or remove the line'
                ) from None
    return facts


def _sample(name: tuple[str, str], body: bytes, gold: str, fact: dict[str, Any]) -> Sample:
    return Sample(
        name=name[1],
        dataset=name[0],
        body=body,
        gold=gold,
        url=_word(fact.get("url")),
        site=_word(fact.get("site")),
        language=_word(fact.get("language")),
        kind=_word(fact.get("page_type")),
        encoding=_word(fact.get("encoding")),
        wanted=_passages(fact.get("with")),
        unwanted=_passages(fact.get("without")),
        partial=bool(fact.get("segments_only")),
        title=_known(fact, "title"),
        author=_known(fact, "author"),
        date=_known(fact, "date"),
    )


def _known(fact: dict[str, Any], name: str) -> str | None:
    """Return a fact of a page as one line; None if it is missing or null."""
    value = fact.get(name)
    return None if value is None else ", ".join(map(_word, value)) if isinstance(value, list) else _word(value)


def _passages(value: Any) -> tuple[str, ...]:
    return tuple(_clean(str(one)) for one in value) if isinstance(value, list) else ()


def _word(value: Any) -> str:
    """Return a value as one line, for tables and headers."""
    return " ".join("".join(one if one.isprintable() else " " for one in _clean(str(value))).split()) if value else ""


def _clean(text: str) -> str:
    """Replace lone surrogates, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode()
