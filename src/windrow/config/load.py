"""Read crawl.toml and --set, check every name and value, and make the options of them."""

import dataclasses
import difflib
import functools
import itertools
import math
import re
import tomllib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from windrow.config import plugins
from windrow.config.dump import toml
from windrow.config.kinds import LIVE, ConfigError, InDirectory, Plugin, Range, ValueKind, WrittenValue
from windrow.config.schema import SECTIONS, Config

_TYPES = {
    bool: "true or false, without quotes",
    int: "a whole number, such as 10",
    float: "a number, such as 2.5",
    str: 'text in quotes, such as "text"',
}
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_BOUNDARIES = ("focus.high", "focus.medium", "focus.cutoff")
_ANY_NUMBER = Range(0)  # for a number whose field names no range


class Shape(typing.NamedTuple):
    """The type of an option, taken apart."""

    single: type  # bool, int, float or str
    several: bool  # a list
    choices: tuple[str, ...]  # of a Literal
    kinds: tuple[ValueKind, ...]
    live: bool  # `windrow set` can change it while the crawl runs


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the options of a crawl.toml, changed by overrides such as "fetch.delay=10".

    Paths in the file are relative to its directory, paths in overrides to the current directory, as a shell completes
    them.
    """
    options = _config(_read(path), overrides, path.parent, Path())
    changed = any(override.strip().startswith(_BOUNDARIES) for override in overrides)
    check_boundaries(options, f"in {path} with --set" if changed else f"in {path}")
    return options


class NamedFile(typing.NamedTuple):
    """A file that an option names, or the user's own code."""

    option: str
    path: str  # absolute
    as_absolute: bool  # it was written so; else it depends on where crawl.toml is


def named_files(path: Path, overrides: Sequence[str] = ()) -> list[NamedFile]:
    """Return the files that a crawl.toml and overrides name, without the seeds file."""
    options = load(path, overrides)
    written = {name: item.value for name, item in _read(path).items()} | dict(map(_override, overrides))
    files = []
    for name, value in written.items():
        if plugins.is_option(name):
            files += [NamedFile(name, used, Path(value).is_absolute()) for used in plugins.file(options, name)]
            continue
        kinds = shapes()[name].kinds
        if any(isinstance(kind, Plugin) or (isinstance(kind, InDirectory) and not kind.as_written) for kind in kinds):
            section, _, option = name.partition(".")
            used = getattr(getattr(options, section), option)
            pairs = zip(value, used, strict=True) if shapes()[name].several else [(value, used)]
            files += [NamedFile(name, text, Path(raw).is_absolute()) for raw, text in pairs if text.startswith("/")]
    return files


def check_boundaries(options: Config, place: str) -> None:
    """Refuse boundaries of the topic that do not rise. `place`: where they are set."""
    focus = options.focus
    given = [(name, value) for name in ("high", "medium", "cutoff") if (value := getattr(focus, name))]
    for (lower, least), (name, value) in itertools.pairwise(given):
        if value < least:
            what = f"option 'focus.{name}' ({value:g}) is below 'focus.{lower}' ({least:g})"
            raise ConfigError(f"{what} {place}; a score is better the lower it is, so high ≤ medium ≤ cutoff")


def make(overrides: Sequence[str], directory: Path, base: Path | None = None) -> Config:
    """Return the options of a new crawl in this directory: the defaults, changed by overrides.

    base: where relative paths start, if not in that directory.
    """
    return _config({}, overrides, directory, directory if base is None else base)


def change(options: Config, overrides: Sequence[str], directory: Path) -> Config:
    """Return options of a crawl in this directory, changed by overrides."""
    for override in overrides:
        name, value = _override(override)
        section, _, option = name.partition(".")
        checked = _value(name, WrittenValue(value, "--set", directory.absolute()), directory.absolute())
        changed = dataclasses.replace(getattr(options, section), **{option: checked})
        options = dataclasses.replace(options, **{section: changed})
    return options


def live(text: str) -> tuple[str, str]:
    """Return name and value of "NAME=VALUE"; refuse an option that cannot change while a crawl runs.

    An empty value gives the option back to crawl.toml.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"{text!r} has no value; write section.option=value, such as fetch.delay=10")
    _check_name(name, "this order")
    if name not in shapes() or not shapes()[name].live:
        names = ", ".join(option for option, shape in shapes().items() if shape.live)
        fix = f"stop the crawl, change crawl.toml and start it again; these can change while it runs: {names}"
        raise ConfigError(f"option '{name}' cannot change while a crawl runs; {fix}")
    if value:
        change(Config(), [text], Path())
    return name, value


@functools.cache
def shapes() -> dict[str, Shape]:
    """Return the shape of every option by "section.option"."""
    return {
        f"{section.name}.{option}": _shape(kind)
        for section in SECTIONS
        for option, kind in typing.get_type_hints(section.type, include_extras=True).items()
    }


def _shape(kind: Any) -> Shape:
    kinds: tuple[ValueKind, ...] = ()
    several = live = False
    choices: tuple[str, ...] = ()
    while True:
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            live |= LIVE in parts
            kind, kinds = parts[0], (*kinds, *[part for part in parts[1:] if part is not LIVE])
        elif origin is tuple:
            kind, several = parts[0], True
        elif origin in (typing.Union, types.UnionType):  # with None, for an option that may be unset
            kind = next(part for part in parts if part is not type(None))
        elif origin is typing.Literal:
            kind, choices = str, parts
        else:
            break
    if kind in (int, float) and not kinds:
        kinds = (_ANY_NUMBER,)
    return Shape(kind, several, choices, kinds, live)


def _config(written: dict[str, WrittenValue], overrides: Sequence[str], home: Path, base: Path) -> Config:
    """home: the directory of crawl.toml, in which the user's own code is found."""
    for override in overrides:
        name, value = _override(override)
        written[name] = WrittenValue(value, "--set", base.absolute())
    home = home.absolute()
    sections = {}
    for section in SECTIONS:
        kind = typing.cast(type, section.type)
        names = {option.name: f"{section.name}.{option.name}" for option in dataclasses.fields(kind)}
        sections[section.name] = kind(
            **{option: _value(name, written[name], home) for option, name in names.items() if name in written}
        )
    options = Config(**sections, plugins=plugins.sections(written, home))
    plugins.check(options, written, {name: shape.kinds for name, shape in shapes().items()})
    return options


def _read(path: Path) -> dict[str, WrittenValue]:
    """Return the values by "section.option". Every name exists."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        document = tomllib.loads(text.replace("\r\n", "\n"))
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}; 'windrow init' writes one") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; check the path and its permissions") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax(path, text, str(error))) from None
    written: dict[str, WrittenValue] = {}
    for section, options in document.items():
        if section == "plugins":
            written |= plugins.read(options, path)
            continue
        _check_section(section, options, str(path))
        for option, value in options.items():
            _check_name(f"{section}.{option}", str(path))
            written[f"{section}.{option}"] = WrittenValue(value, str(path), path.parent.absolute())
    return written


def _syntax(path: Path, text: str, error: str) -> str:
    """Return the message for an error of tomllib: "… (at line 3, column 5)" or "… (at end of document)"."""
    position = re.search(r" \(at line (\d+), column \d+\)$", error)
    lines = text.splitlines() or [""]
    line = int(position[1]) if position else len(lines)
    shown = lines[min(line, len(lines)) - 1].strip()
    problem = re.sub(r" \(at [^()]*\)$", "", error)
    fix = "an option is written as name = value, text in quotes"
    return f"{path}, line {line}: {shown!r} is not TOML ({problem}); {fix}"


def _override(text: str) -> tuple[str, Any]:
    """Return name and value. A value is TOML; text needs no quotes."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"--set {text!r} has no value; write section.option=value, such as fetch.delay=10")
    _check_name(name, "--set")
    try:
        parsed = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return name, value
    shape = shapes().get(name)  # None: an option of the user's own code
    is_text = shape is not None and shape.single is str and not shape.several
    if set(parsed) != {"value"} or (is_text and not isinstance(parsed["value"], str)):
        return name, value
    return name, parsed["value"]


def _check_section(section: str, options: Any, place: str) -> None:
    names = [field.name for field in dataclasses.fields(Config)]
    if section in names and isinstance(options, dict):
        return
    if section in names:
        fix = f"write [{section}] on a line of its own and its options below"
        raise ConfigError(f"'{section}' in {place} is a section; {fix}")
    if isinstance(options, dict):
        near = difflib.get_close_matches(section, names, 1, 0.5)
        hint = f"did you mean [{near[0]}]?" if near else f"the sections are {', '.join(names)}"
        raise ConfigError(f"unknown section [{section}] in {place}; {hint}")
    raise ConfigError(f"option '{section}' in {place} stands outside a section; {nearest(section)}")


def _check_name(name: str, place: str) -> None:
    if name not in shapes() and not plugins.is_option(name):
        fix = plugins.FIX if name.startswith("plugins.") else nearest(name)
        raise ConfigError(f"unknown option '{name}' in {place}; {fix}")


def nearest(name: str) -> str:
    """Return a hint: a very similar option of this section, the same option of another section, a similar one of this
    section, or a similar one of any."""
    every = list(shapes())
    section, _, option = name.rpartition(".")
    own = [full.partition(".")[2] for full in every if full.startswith(section + ".")]
    here = [[f"{section}.{near}" for near in difflib.get_close_matches(option, own, 1, least)] for least in (0.8, 0.6)]
    same = [full for full in every if full.endswith("." + option)]
    names = difflib.get_close_matches(option, [full.partition(".")[2] for full in every], 1, 0.7)
    elsewhere = [full for full in every if names and full.endswith("." + names[0])]
    near = here[0] or same or here[1] or elsewhere
    return f"did you mean '{near[0]}'?" if near else "windrow options lists them"


def _value(name: str, written: WrittenValue, home: Path) -> Any:
    """Return the value in the type of its field, after every check."""
    thing = f"option '{name}' in {written.place}"
    shape = shapes()[name]
    value = written.value
    if not shape.several:
        return _checked(thing, _typed(thing, value, shape), shape, (written.base, home))
    if not isinstance(value, list):
        example = toml(value) if type(value) is shape.single else "…"
        raise ConfigError(f"{thing} must be a list, not {value!r}; write [{example}]")
    items = [_typed(f"an item of {thing}", item, shape) for item in value]
    return tuple(_checked(thing, item, shape, (written.base, home)) for item in items)


def _typed(thing: str, value: Any, shape: Shape) -> Any:
    if shape.single is float and type(value) is int:
        value = float(value) if abs(value) < 2**63 else math.inf
    if type(value) is not shape.single:
        raise ConfigError(f"{thing} must be {_TYPES[shape.single]}, not {value!r}")
    return value


def _checked(thing: str, value: Any, shape: Shape, places: tuple[Path, Path]) -> Any:
    """Return a value after every check. places: where its relative paths start, and the directory of crawl.toml."""
    base, home = places
    if isinstance(value, str) and _CONTROL.search(value):
        raise ConfigError(f"{thing} holds a control character: {value!r}; write it on one line, in UTF-8")
    if shape.choices and value not in shape.choices:
        *others, last = map(repr, shape.choices)
        raise ConfigError(f"{thing} must be {', '.join(others)} or {last}, not {value!r}")
    for kind in shape.kinds:
        if isinstance(kind, InDirectory) and kind.as_written and base == home:
            continue
        # A module without a path is looked for beside crawl.toml, wherever its name was written.
        value = kind.apply(value, thing, home if isinstance(kind, Plugin) and "/" not in value else base)
    return value
