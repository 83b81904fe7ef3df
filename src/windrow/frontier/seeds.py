"""Seed lists to Tasks: the beginning of a crawl.

A seed list is UTF-8 text with one URL per line; a `#` at the start of a line or after a space begins a comment. It is a
file, a .gz file, or "-" for standard input.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from windrow import urls
from windrow.config import ConfigError
from windrow.records import Task, Url

_COMMENT = re.compile(r"(^|\s)#.*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+([/?#]|$))")  # "example.org:8080" has no scheme


def read(source: str | Path) -> list[Url]:
    """Return the URLs of a seed list in its order, each once."""
    name = "stdin" if str(source) == "-" else str(source)
    return parse(_lines(source, name), name)


def parse(lines: Iterable[str], name: str) -> list[Url]:
    """Return the same of lines; `name` says in errors where they are from."""
    found: dict[int, Url] = {}
    bad: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        text = _COMMENT.sub("", line).strip()
        url = line_url(text)
        if url is not None:
            found.setdefault(url.key, url)
        elif text:
            bad.append((number, text))
    if bad:
        raise ConfigError(_complaint(name, bad))
    if not found:
        raise ConfigError(f"{name} holds no URL; write at least one, one per line, such as https://example.org/")
    return list(found.values())


def tasks(found: Iterable[Url]) -> list[Task]:
    return [Task(url) for url in found]


def line_url(line: str) -> Url | None:
    """Parse one line. A name with a dot and without a scheme gets http://; an e-mail address does not."""
    text = _COMMENT.sub("", line).strip()
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    if "." in host and "@" not in host and not _SCHEME.match(text):
        text = f"http://{text}"
    return urls.parse(text)


def _complaint(name: str, bad: list[tuple[int, str]]) -> str:
    number, text = bad[0]
    shown = text if len(text) <= 100 else f"{text[:100]}…"
    others = f" (and {len(bad) - 1} more lines are not)" if len(bad) > 1 else ""
    fix = "write it as https://example.org/page, or put # before the line"
    return f"{name}, line {number}: {shown!r} is not an http or https URL{others}; {fix}"


def _lines(source: str | Path, name: str) -> list[str]:
    lines = []
    for number, line in enumerate(_bytes(source, name).removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            raise ConfigError(f"{name}, line {number}: {line[:100]!r} is not UTF-8; save the list as UTF-8") from None
    return lines


def _bytes(source: str | Path, name: str) -> bytes:
    try:
        raw = sys.stdin.buffer.read() if name == "stdin" else Path(source).read_bytes()
        return gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
    except FileNotFoundError:
        raise ConfigError(f"there is no seed list {name}; check the path") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ConfigError(f"seed list {name} is incomplete or damaged gzip ({error}); compress it again") from None
    except OSError as error:
        fix = "check the path and its permissions"
        raise ConfigError(f"cannot read seed list {name}: {error.strerror}; {fix}") from None
