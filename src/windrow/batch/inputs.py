"""Read the files that a user names on the command line; "-" is standard input."""

import sys
from pathlib import Path

from windrow.config import ConfigError


def read(name: str) -> bytes:
    if name == "-":
        if sys.stdin is None:
            raise ConfigError("standard input is closed; name a file")
        return sys.stdin.buffer.read()
    if not name:
        raise ConfigError("the name of a file is empty; name a file, or - for standard input")
    if Path(name).is_dir():
        raise ConfigError(f"{name} is a directory; name its files, such as {Path(name) / '*.html'}")
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {name}: {error.strerror}; check the path and its permissions") from None


def text(name: str) -> str:
    """Return the text of a UTF-8 file."""
    data = read(name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = "standard input" if name == "-" else name
        raise ConfigError(f"{place}, line {line}: not UTF-8 text; convert it first, for instance with iconv") from None
