"""Describe every option: docs/configuration.md and `windrow options` are made here."""

import dataclasses
import inspect
import re
import typing
from typing import Annotated, Any

from windrow.config import comments
from windrow.config.dump import toml
from windrow.config.kinds import LIVE, Range
from windrow.config.load import shapes
from windrow.config.schema import SECTIONS, Config

_HEAD = """# Configuration

`python -m windrow.config` writes this page from `src/windrow/config/schema.py`; edit that file, not this one.

Options stand in `crawl.toml`, each in its section (`[fetch]`, then `delay = 5`). `--set fetch.delay=10` on the command
line overrides the file, for this run only; `windrow set DIR fetch.delay=10` changes an option while the crawl runs, and
it holds for later runs too. An unknown option or a value out of its range is an error: Windrow never
ignores it. A relative path in `crawl.toml` starts in the directory of that file; a relative path on the command line,
also in `--set`, starts in the current directory. `windrow options NAME` prints one option.
"""
_TAIL = """
## [plugins.NAME]

Options of your own code, such as a judge or an extractor, see [extending.md](extending.md#options-of-your-code).
Windrow hands them on as they are written; two it reads itself:

| option | default | meaning |
|---|---|---|
| `use` | not set | The code, as "package.module:name". With it NAME stands for the code, wherever that may stand. |
| `inner` | not set | Which built-in one your code wraps; not set: the default of the option that names your code. |
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One option, for people."""

    name: str  # section.option
    default: Any
    allowed: str  # the range or the choices; empty: no limits
    meaning: str  # with its unit and reason
    live: bool  # `windrow set` can change it while the crawl runs


def options() -> list[Option]:
    """Return every option in the order of the sections."""
    every = []
    for section in SECTIONS:
        kind = typing.cast(type, section.type)
        meanings = comments.read(kind)
        for option in dataclasses.fields(kind):
            name = f"{section.name}.{option.name}"
            every.append(Option(name, option.default, _allowed(name), meanings[option.name], shapes()[name].live))
    return every


def reference() -> str:
    """Return docs/configuration.md: a table per section, with the comment at each field as its meaning."""
    lines = [_HEAD.rstrip("\n")]
    every = options()
    for section in SECTIONS:
        title = inspect.cleandoc(typing.cast(type, section.type).__doc__ or "")
        lines += ["", f"## [{section.name}]", "", title, "", "| option | default | meaning |", "|---|---|---|"]
        lines += [_row(option) for option in every if option.name.startswith(f"{section.name}.")]
    return "\n".join(lines) + "\n" + _TAIL


def default(option: Option) -> str:
    """Return the default as TOML; "not set" where there is none."""
    return "not set" if option.default is None else toml(option.default)


def _row(option: Option) -> str:
    name = option.name.partition(".")[2]
    shown = default(option) if option.default is None else f"`{default(option)}`"
    limits = f" Allowed: {option.allowed}." if option.allowed else ""
    meaning = re.sub(r"([|*<\\])", r"\\\1", option.meaning)
    live = " Can change while the crawl runs." if option.live else ""
    return f"| `{name}` | {shown} | {meaning}{limits}{live} |"


def _allowed(name: str) -> str:
    """Return the range that the field names; choices are explained in its comment."""
    hints = typing.get_type_hints(type(getattr(Config(), name.partition(".")[0])), include_extras=True)
    plain = (int, float, int | None, float | None, Annotated[int, LIVE], Annotated[float, LIVE])
    unlimited = hints[name.partition(".")[2]] in plain
    ranges = [str(kind) for kind in shapes()[name].kinds if isinstance(kind, Range)]
    return "" if unlimited else "; ".join(ranges)
