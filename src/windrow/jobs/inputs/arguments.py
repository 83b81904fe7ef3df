"""Read the files that a user names on the command line; "-" is standard input."""

import sys
from pathlib import Path

from windrow.config import ConfigError


def read(name: str) -> bytes:
    check(name)
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise unreadable(name, error) from None


def check(name: str) -> None:
    """Raise ConfigError for a name that cannot be that of a file."""
    if name == "-" and sys.stdin is None:
        raise ConfigError("standard input is closed; name a file")
    if not name:
        raise ConfigError("the name of a file is empty; name a file, or - for standard input")
    if Path(name).is_dir():
        raise ConfigError(f"{name} is a directory; name its files, such as {Path(name) / '*.html'}")


def unreadable(name: str, error: OSError) -> ConfigError:
    return ConfigError(f"cannot read {name}: {error.strerror or error}; check the path and its permissions")


def text(name: str) -> str:
    """Return the text of a UTF-8 file."""
    data = read(name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        source = "standard input" if name == "-" else name
        raise ConfigError(f"{source}, line {line}: not UTF-8 text; convert it first, for instance with iconv") from None
