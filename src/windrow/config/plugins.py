"""The sections [plugins.NAME]: options of the user's own code, which get to it as they are written.

NAME is the name after the colon of "package.module:name"; or the section has `use = "package.module:name"`, and NAME
stands for that code wherever a reference may stand.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from windrow.config.kinds import ConfigError, Plugin, ValueKind, WrittenValue
from windrow.config.schema import Config

_NAME = r"[^\W\d][\w-]*"
FIX = "write [plugins.NAME] on a line of its own and its options below, or --set plugins.NAME.option=value"


def is_option(name: str) -> bool:
    """Return whether "plugins.NAME.option" names an option of the user's own code."""
    return re.fullmatch(rf"plugins\.{_NAME}\..+", name) is not None


def read(sections: Any, path: Path) -> dict[str, WrittenValue]:
    """Return the values of all sections of a file by "plugins.NAME.option"."""
    written = {}
    for name, options in sections.items() if isinstance(sections, dict) else [("", None)]:
        if not isinstance(options, dict) or not re.fullmatch(_NAME, name):
            raise ConfigError(f"'plugins' in {path} holds something that is no section of a plug-in; {FIX}")
        for option, value in options.items():
            written[f"plugins.{name}.{option}"] = WrittenValue(value, str(path), path.parent.absolute())
    return written


def plugins_of(directory: Path) -> dict[str, dict[str, Any]]:
    """Return the sections of a crawl's crawl.toml, for a command that needs no other option; {} without such a file."""
    path = directory / "crawl.toml"
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return sections(read(document.get("plugins", {}), path), directory.absolute())


def sections(written: Mapping[str, WrittenValue], home: Path) -> dict[str, dict[str, Any]]:
    """Return the options of each plug-in. home: the directory of crawl.toml, in which the user's code is found."""
    made: dict[str, dict[str, Any]] = {}
    for full, (value, place, base) in written.items():
        if is_option(full):
            _, name, option = full.split(".", 2)
            thing = f"option '{full}' in {place}"
            _check_value(value, thing)
            if option == "use":
                value = _reference(value, thing, home, base)
            made.setdefault(name, {})[option] = value
    return made


def _reference(value: Any, thing: str, home: Path, base: Path) -> str:
    if not isinstance(value, str) or ":" not in value:
        raise ConfigError(f'{thing} must name your code as "package.module:name", not {value!r}')
    return Plugin().apply(value, thing, base if "/" in value else home)


def _check_value(value: Any, thing: str) -> None:
    """Refuse what does not reach another process as it is."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_value(item, thing)
    elif not isinstance(value, str | float | int):
        raise ConfigError(f"{thing} holds {value}, a date or time; write it as text, in quotes")
    elif type(value) is int and not -(2**63) <= value < 2**63:
        raise ConfigError(f"{thing} holds {value}, which has more than 64 bits; write it as text, in quotes")


def check(options: Config, written: Mapping[str, WrittenValue], kinds: Mapping[str, Sequence[ValueKind]]) -> None:
    """Refuse a section that nothing uses, and a name that neither a section nor Windrow has. kinds: of each option."""
    references = set()  # of the user's code
    for full, (value, place, base) in written.items():
        for kind in kinds.get(full, ()):
            if isinstance(kind, Plugin):
                section, _, option = full.partition(".")
                used = getattr(getattr(options, section), option)
                references |= set(used if isinstance(used, tuple) else (used,))
                if kind.builtin is not None and ":" not in value and "use" not in options.plugins.get(value, {}):
                    kind.builtin.apply(value, f"option '{full}' in {place}", base)
    names = [reference.rpartition(":")[2] for reference in references]
    for name, values in options.plugins.items():
        if "use" not in values and names.count(name) != 1:
            raise ConfigError(_unused(name, [reference for reference in references if ":" in reference]))


def _unused(name: str, references: Sequence[str]) -> str:
    names = [reference.rpartition(":")[2] for reference in references]
    if name in names:
        both = " and ".join(sorted(reference for reference in references if reference.endswith(f":{name}")))
        return f'[plugins.{name}] may belong to {both}; give it to one of them with use = "package.module:name"'
    near = difflib.get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean [plugins.{near[0]}]?" if near else f'say what it is for with use = "package.module:{name}"'
    return f"nothing uses the section [plugins.{name}]; {hint}"


def file(options: Config, name: str) -> list[str]:
    """Return the file that "plugins.NAME.use" names, if it does: ["/path/of/the/crawl/module:name"]."""
    _, plugin, option = name.split(".", 2)
    value = options.plugins[plugin][option]
    return [value] if option == "use" and value.startswith("/") else []
