"""Change options in the text of a crawl.toml, and leave every other line as it is."""

import re
from collections.abc import Mapping
from typing import Any

from windrow.config.dump import toml

_SECTION = re.compile(r"^[ \t]*\[[ \t]*([\w.-]+)[ \t]*\]")


def edited(text: str, values: Mapping[str, Any]) -> str:
    """Return the text with options set, by "section.option". Only options of one line can be changed.

    An option that stands there, also as a comment with its default, is replaced; another is added to its section.
    """
    lines = text.splitlines()
    for name, value in values.items():
        section, _, option = name.rpartition(".")
        _set(lines, section, option, f"{option} = {toml(value)}")
    return "\n".join(lines) + "\n"


def _set(lines: list[str], section: str, option: str, written: str) -> None:
    pattern = re.compile(rf"[ \t]*#?[ \t]*{re.escape(option)}[ \t]*=")
    headings = [(number, heading[1]) for number, line in enumerate(lines) if (heading := _SECTION.match(line))]
    start = next((number for number, name in headings if name == section), None)
    if start is None:
        lines += ["", f"[{section}]", written]
        return
    end = next((number for number, _ in headings if number > start), len(lines))
    own = [number for number in range(start + 1, end) if pattern.match(lines[number])]
    active = [number for number in own if not lines[number].lstrip().startswith("#")]
    if own:
        lines[(active or own)[0]] = written
    else:
        lines.insert(start + 1, written)
