"""The external links of a wiki, from its SQL dump: LANGwiki-DATE-externallinks.sql.gz of Wikimedia.

The columns are read from the dump itself, because they have changed: a link was one column `el_to` until 2024, and is
now a host in reverse order and a path. A dump is a list of statements; only its INSERTs are read, none is executed.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from windrow.config import ConfigError

_COLUMN = re.compile(rb"^\s*`(\w+)`", re.MULTILINE)
_INSERT = re.compile(rb"INSERT INTO `?externallinks`?[^(]*VALUES ", re.IGNORECASE)
_VALUE = re.compile(rb"'((?:[^'\\]|\\.|'')*)'|([^,()']+)|(\()|(\))", re.DOTALL)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_SPECIAL = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}
_HOST = re.compile(r"(https?:|)//([^/:]*?)\.?(:\d+)?\.?(?:/|$)", re.IGNORECASE)
_OLD, _DOMAIN, _PATH = "el_to", "el_to_domain_index", "el_to_path"


def is_dump(start: bytes) -> bool:
    return b"externallinks" in start and (b"CREATE TABLE" in start or b"INSERT INTO" in start)


def links(lines: Iterable[bytes], source: str) -> Iterator[str]:
    """Yield the http and https links of a dump."""
    columns: list[str] = []
    creating = False
    for line in lines:
        if line.startswith(b"CREATE TABLE"):
            creating = True
        elif creating:
            columns += [name.decode() for name in _COLUMN.findall(line)]
            creating = b";" not in line
        elif start := _INSERT.match(line):
            yield from _links(line[start.end() :], columns, source)


def _links(values: bytes, columns: list[str], source: str) -> Iterator[str]:
    read = _reader(columns, source)
    row: list[bytes] = []
    for match in _VALUE.finditer(values):
        text, bare, opened, closed = match.groups()
        if opened:
            row = []
        elif closed:
            if len(row) == len(columns):
                yield from read(row)
        else:
            row.append(_ESCAPE.sub(_unescaped, text) if text is not None else b"" if bare == b"NULL" else bare)


def _reader(columns: list[str], source: str) -> Callable[[list[bytes]], Iterator[str]]:
    if _OLD in columns:
        at = columns.index(_OLD)
        return lambda row: _web(row[at].decode("utf-8", "replace"))
    if _DOMAIN in columns and _PATH in columns:
        host, path = columns.index(_DOMAIN), columns.index(_PATH)
        return lambda row: _joined(*(row[at].decode("utf-8", "replace") for at in (host, path)))
    wanted = f"{_OLD}, or {_DOMAIN} and {_PATH}"
    raise ConfigError(f"{source}: the table of external links has no column {wanted}; name a dump of externallinks")


def _unescaped(match: re.Match[bytes]) -> bytes:
    return b"'" if match[1] is None else _SPECIAL.get(match[1], match[1])


def _web(link: str) -> Iterator[str]:
    if link.startswith("//"):
        yield f"https:{link}"
    elif link.lower().startswith(("http://", "https://")):
        yield link


def _joined(domain: str, path: str) -> Iterator[str]:
    """Yield the link of a host in reverse order, such as https://org.example.www. and a path."""
    match = _HOST.match(f"{domain}/" if not domain.endswith("/") else domain)
    if match is None or not match[2]:
        return
    labels = match[2].split(".")
    host = ".".join(labels[1:]) if labels[0] == "V4" else ".".join(reversed(labels))
    if labels[0] != "V6":
        yield f"{match[1].lower() or 'https:'}//{host}{match[3] or ''}{'' if path.startswith('/') else '/'}{path}"
