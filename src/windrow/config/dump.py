"""Write options as TOML."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from windrow.config.schema import Config


def dump(config: Config, changed: bool = False, comments: Mapping[str, str] | None = None) -> str:
    """Return every option in force, or with `changed` those that differ from their defaults, as TOML that loads back
    equal; `comments` by "section.option" stand above their options."""
    parts = []
    for section in dataclasses.fields(config):
        options = getattr(config, section.name)
        values = [(one.name, getattr(options, one.name), one.default) for one in dataclasses.fields(options)]
        lines = [
            _comment(comments, f"{section.name}.{name}") + f"{name} = {toml(value)}\n"
            for name, value, default in values
            if value is not None and not (changed and value == default)
        ]
        if lines:
            parts.append(f"[{section.name}]\n" + "".join(lines))
    return "\n".join(parts)


def _comment(comments: Mapping[str, str] | None, name: str) -> str:
    return f"# {comments[name]}\n" if comments and name in comments else ""


def toml(value: Any) -> str:
    """Return one value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
