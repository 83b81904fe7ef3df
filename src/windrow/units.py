"""Numbers, times and texts for people."""

import time
from collections.abc import Iterable

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12}


def size(count: float) -> str:
    """Return a number of bytes with three digits and a decimal unit: 1.23 MB."""
    power = 0
    while abs(count) >= 999.5 and power < len(_UNITS) - 1:
        count /= 1000
        power += 1
    if not power:
        return f"{count:.0f} {_UNITS[0]}"
    return f"{count:.{2 if count < 9.995 else 1 if count < 99.95 else 0}f} {_UNITS[power]}"


def count(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun: 1 page, 1,234 pages. things: the plural, if it is not thing + s."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def number(text: str) -> int:
    """Return a number that is written with or without a unit: 300K, 10M, 1.5G, 1_000_000. ValueError if it is none."""
    digits, factor = (text[:-1], _FACTORS[text[-1].lower()]) if text[-1:].lower() in _FACTORS else (text, 1)
    found = float(digits) * factor
    if not (found >= 1 and found == int(found)):  # NaN is not; infinity raises OverflowError
        raise ValueError(f"{text!r} is not a whole number from 1 upwards")
    return int(found)


def share(part: float, whole: float) -> str:
    """Return a percentage; a small one keeps two digits."""
    percent = 100 * part / whole if whole else 0.0
    if percent and percent < 9.95:
        return f"{percent:.1f} %" if percent >= 0.95 else f"{percent:.2g} %"
    return f"{percent:.0f} %"


def span(seconds: float) -> str:
    """Return a duration with its two largest units: 1 d 4 h, 4 h 12 min, 12 min 3 s, 3.5 s."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {whole % 60} s"


def moment(epoch: float) -> str:
    """Return a point in time in the local time zone: 2026-11-15 10:44:21; "never" for 0."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch)) if epoch else "never"


def printable(text: str) -> str:
    """Return a text on one line, without characters that would control a terminal: a server may have sent it."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


def ranges(numbers: Iterable[int]) -> str:
    """Return whole numbers in few words: 0-3, 7."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in parts)
