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
    headings = [(place, found[1]) for place, line in enumerate(lines) if (found := _SECTION.match(line))]
    start = next((place for place, name in headings if name == section), None)
    if start is None:
        lines += ["", f"[{section}]", written]
        return
    end = next((place for place, _ in headings if place > start), len(lines))
    own = [place for place in range(start + 1, end) if pattern.match(lines[place])]
    active = [place for place in own if not lines[place].lstrip().startswith("#")]
    if own:
        lines[(active or own)[0]] = written
    else:
        lines.insert(start + 1, written)
