"""Write options as TOML."""

import dataclasses
import json
import re
from typing import Any

from windrow.config.schema import SECTIONS, Config


def dump(config: Config, changed: bool = False) -> str:
    """Return every option in force, or with `changed` those that differ from their defaults, as TOML that loads back
    equal."""
    parts = []
    for section in SECTIONS:
        options = getattr(config, section.name)
        values = [(field.name, getattr(options, field.name), field.default) for field in dataclasses.fields(options)]
        lines = [
            f"{name} = {toml(value)}\n"
            for name, value, default in values
            if value is not None and not (changed and value == default)
        ]
        if lines:
            parts.append(f"[{section.name}]\n" + "".join(lines))
    return "\n".join(parts + plugins(config))


def plugins(config: Config) -> list[str]:
    """Return the sections of the user's own code."""
    return [
        f"[plugins.{_key(name)}]\n" + "".join(f"{_key(key)} = {toml(value)}\n" for key, value in options.items())
        for name, options in config.plugins.items()
    ]


def toml(value: Any) -> str:
    """Return one value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {toml(item)}' for key, item in value.items())}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)
