"""The kinds of values that options have. A kind stands at the field (`Annotated[int, Range(1, 1024)]`), checks and
converts.

A kind is applied to a text or a number; where the option is a list, to each of its items.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol


class ConfigError(Exception):
    """The user's input cannot be used; the message names the thing, the place and the fix."""


class WrittenValue(NamedTuple):
    """A value as the user wrote it."""

    value: Any
    place: str  # where it stands: the file, or --set
    base: Path  # where relative paths start: the directory of the file, or for --set the current one


class ValueKind(Protocol):
    def apply(self, value: Any, thing: str, directory: Path) -> Any:
        """Return the value as the program uses it; ConfigError, which names `thing`, where it cannot be used.

        `directory` is where relative paths start: that of crawl.toml, or for --set the current one.
        """


@dataclass(frozen=True, slots=True)
class Range:
    """A number from `least` to `greatest`."""

    least: float
    greatest: float = math.inf

    def apply(self, value: float, thing: str, directory: Path) -> float:
        if not (self.least <= value <= self.greatest and math.isfinite(value) and value < 2**63):
            too_great = " and finite" if value == math.inf else " and below 2^63" if value >= 2**63 else ""
            raise ConfigError(f"{thing} must be {self}{too_great if self.greatest == math.inf else ''}, not {value}")
        return value

    def __str__(self) -> str:
        return f"at least {self.least}" if self.greatest == math.inf else f"from {self.least} to {self.greatest}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text that matches a regular expression as a whole; `rule` says the same in words."""

    expression: str
    rule: str

    def apply(self, value: str, thing: str, directory: Path) -> str:
        if not re.fullmatch(self.expression, value):
            raise ConfigError(f"{thing} must be {self.rule}, not {value!r}")
        return value


@dataclass(frozen=True, slots=True)
class RegularExpression:
    def apply(self, value: str, thing: str, directory: Path) -> str:
        try:
            re.compile(value)
        except re.error as error:
            fix = "put a backslash before special characters"
            raise ConfigError(f"{thing} holds {value!r}, which is not a regular expression ({error}); {fix}") from None
        return value


@dataclass(frozen=True, slots=True)
class Name:
    """A host, or with `below` a domain or suffix ("*.cz" and ".cz" are "cz"), as it stands in canonical URLs."""

    below: bool = False

    def apply(self, value: str, thing: str, directory: Path) -> str:
        bare = value.lower().removesuffix(".")
        if self.below:
            bare = bare.removeprefix("*").removeprefix(".")
        try:  # the codec follows IDNA 2003, which reads these four differently from browsers
            bare = bare if bare.isascii() or set(bare) & set("ßς\u200c\u200d") else bare.encode("idna").decode()
        except UnicodeError:
            bare = ""
        if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:]+\]", bare):
            fix = "write it without scheme, port, path and wildcard, as 'example.org' or 'xn--bcher-kva.example'"
            raise ConfigError(f"{thing} holds {value!r}, which is not a name; {fix}")
        return bare


# Fields of a request that have an option of their own, or that the client must write itself; and secrets.
_OWN_OPTION = {
    "accept": "fetch.accept",
    "accept-language": "fetch.accept_language",
    "cookie": "fetch.cookies_file",
    "from": "identity.contact",
    "user-agent": "identity.user_agent",
}
_RESERVED = frozenset(
    "accept-encoding connection content-length expect host keep-alive range te trailer transfer-encoding "
    "upgrade".split()
)
_SECRET = frozenset(("authorization", "proxy-authorization"))


@dataclass(frozen=True, slots=True)
class HeaderField:
    """A field of the request header, as "Name: value"."""

    def apply(self, value: str, thing: str, directory: Path) -> str:
        field = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~]*?)[ \t]*", value)
        if field is None or not field[2]:
            raise ConfigError(f'{thing} holds {value!r}, which is not a header field; write "Name: value" in ASCII')
        name = field[1].lower()
        if name in _OWN_OPTION:
            raise ConfigError(f"{thing} holds {field[1]}; use the option {_OWN_OPTION[name]} for it")
        if name in _SECRET:
            raise ConfigError(f"{thing} holds {field[1]}, a secret, which every WARC file would show; remove it")
        if name in _RESERVED or name.startswith(("proxy-", "if-", "sec-")):
            raise ConfigError(f"{thing} holds {field[1]}, which Windrow itself writes; remove it")
        return f"{field[1]}: {field[2]}"


@dataclass(frozen=True, slots=True)
class Suffix:
    """The end of a file name, with or without its dot."""

    def apply(self, value: str, thing: str, directory: Path) -> str:
        return value.lower().removeprefix(".")


@dataclass(frozen=True, slots=True)
class InDirectory:
    """A file, relative to the directory of crawl.toml, or for --set to the current one; empty: none."""

    as_written: bool = False  # a path relative to crawl.toml stays so: the crawl, which knows its directory, joins them

    def apply(self, value: str, thing: str, directory: Path) -> str:
        return str(directory / value) if value else value


@dataclass(frozen=True, slots=True)
class Plugin:
    """A built-in name, the NAME of a section [plugins.NAME], or the user's own code as "package.module:name".

    A module whose file lies beside crawl.toml gets that directory as its prefix, so that every process finds it.
    Whether the name exists is checked where it is used (see windrow.plugins), so that a built-in name stands in one
    table only. `builtin` are the values besides names, if the option has any."""

    builtin: Pattern | None = None

    def apply(self, value: str, thing: str, directory: Path) -> str:
        if self.builtin is not None and re.fullmatch(self.builtin.expression, value):
            return value
        if not re.fullmatch(r"[^\W\d][\w-]*|(.*/)?[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", value):
            if self.builtin is not None:
                return self.builtin.apply(value, thing, directory)
            fix = 'write a name such as "blocks", or "package.module:name" for your own code'
            raise ConfigError(f"{thing} holds {value!r}, which is neither a built-in name nor a reference; {fix}")
        place, _, reference = value.rpartition("/")
        first = re.split(r"[.:]", reference, maxsplit=1)[0]
        beside = (directory / f"{first}.py").is_file() or (directory / first / "__init__.py").is_file()
        return str(directory / value) if ":" in value and (place or beside) else value


class Live:
    """Marks an option that `windrow set` can change while the crawl runs: each part that reads it is given the new
    value."""


LIVE = Live()
Count = Annotated[int, Range(1)]
Share = Annotated[float, Range(0, 1)]
GzipLevel = Annotated[int, Range(0, 3)]
Timeout = Annotated[float, Range(0.001, 86400)]
Ascii = Annotated[str, Pattern(r"[ -~]*", "ASCII")]
File = Annotated[str, InDirectory()]
FileBeside = Annotated[str, InDirectory(as_written=True)]
Files = Annotated[tuple[str, ...], InDirectory()]
HeaderFields = Annotated[tuple[str, ...], HeaderField()]
Hosts = Annotated[tuple[str, ...], Name()]
Domains = Annotated[tuple[str, ...], Name(below=True)]
Expressions = Annotated[tuple[str, ...], RegularExpression()]
