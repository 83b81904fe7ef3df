"""Letters made of strokes, for pictures drawn without a font: plain, even, and the same on every machine.

A glyph is a row of strokes, a stroke a row of points, a point two digits: right and up, in units of which a capital is seven high. The base
line is at 2, so that tails reach down to 0. A stroke that begins with ~ is rounded, one that begins with o is a rounded ring.
"""

import functools
import itertools
import unicodedata

Stroke = tuple[tuple[float, float], ...]

CAPITAL = 7.0  # units
_BASE = 2
_GAP = 2.1  # units between two letters
_BLANK = 1.6
_ROUNDS = 2  # times that corners are cut
_BOWL = "o04 12 32 44 45 37 17 05"

_GLYPHS = {
    "0": "o04 12 32 44 47 39 19 07",
    "1": "07 29 22",
    "2": "~08 09 39 49 47 46 02|02 42",
    "3": "~08 09 39 49 47 46 16|~16 46 45 43 32 12 03",
    "4": "32 39 04 44",
    "5": "39 09 06|~06 36 46 43 42 12 02",
    "6": "~48 39 19 07 04 12 32 43 45 36 16 05",
    "7": "09 49 12",
    "8": "o19 39 48 47 36 16 07 08|o16 36 45 43 32 12 03 05",
    "9": "~03 12 32 44 47 39 19 08 06 15 35 46",
    ".": "02 02",
    ",": "12 01",
    ":": "02 02|06 06",
    ";": "12 01|16 16",
    "!": "09 04|02 02",
    "?": "~08 19 39 48 47 25 24|22 22",
    "'": "09 07",
    '"': "09 07|29 27",
    "-": "05 35",
    "–": "05 55",
    "−": "05 45",
    "+": "05 45|23 27",
    "=": "04 44|06 46",
    "<": "47 05 43",
    ">": "07 45 03",
    "×": "13 47|17 43",
    "·": "05 05",
    "*": "05 45|12 38|18 32",
    "~": "~05 16 34 45",
    "_": "01 51",
    "|": "09 00",
    "/": "01 49",
    "\\": "09 41",
    "%": "o07 09 29 27|o42 44 64 62|02 69",
    "(": "~29 18 06 04 12 20",
    ")": "~09 18 26 24 12 00",
    "[": "29 09 00 20",
    "]": "09 29 20 00",
    "#": "04 54|07 57|12 29|42 59",
    "$": "~48 37 17 07 06 15 35 44 43 33 13 02|29 21",
    "^": "07 29 47",
    "`": "09 17",
    "{": "~29 19 17 06 05 14 11 20|05 06",
    "}": "~09 19 17 26 25 14 11 00|25 26",
    "&": "~62 08 19 39 38 05 03 12 32 54",
    "@": "~45 46 36 26 25 24 34 45 44 54 66 68 59 19 08 03 12 52",
    "A": "02 39 62|14 54",
    "B": "02 09|~09 39 48 47 36 06|~06 36 55 53 32 02",
    "C": "~58 39 19 07 04 12 32 53",
    "D": "02 09|~09 39 57 54 32 02",
    "E": "49 09 02 42|06 36",
    "F": "49 09 02|06 36",
    "G": "~58 39 19 07 04 12 32 53 55|55 35",
    "H": "09 02|59 52|06 56",
    "I": "09 02",
    "J": "~39 34 32 12 02 03",
    "K": "09 02|59 05|26 52",
    "L": "09 02 42",
    "M": "02 09 34 69 62",
    "N": "02 09 52 59",
    "O": "o04 22 42 64 67 49 29 07",
    "P": "02 09|~09 39 58 56 35 05",
    "Q": "o04 22 42 64 67 49 29 07|44 62",
    "R": "02 09|~09 39 58 56 35 05|25 52",
    "S": "~58 49 19 08 07 16 45 54 53 42 12 03",
    "T": "09 69|39 32",
    "U": "~09 04 12 42 54 59",
    "V": "09 32 69",
    "W": "09 22 49 62 89",
    "X": "09 52|59 02",
    "Y": "09 35 69|35 32",
    "Z": "09 59 02 52",
    "a": f"{_BOWL}|47 42",
    "b": f"{_BOWL}|09 02",
    "c": "~46 37 17 05 04 12 32 43",
    "d": f"{_BOWL}|49 42",
    "e": "05 45|~45 46 37 17 05 04 12 32 43",
    "f": "~39 19 18 12|07 37",
    "g": f"{_BOWL}|~47 42 40 30 10 01",
    "h": "09 02|~05 06 17 37 46 45 42",
    "i": "07 02|09 09",
    "j": "~17 12 10 00|19 19",
    "k": "09 02|47 04|15 42",
    "l": "09 02",
    "m": "07 02|~05 06 17 27 36 35 32|~35 36 47 57 66 65 62",
    "n": "07 02|~05 06 17 37 46 45 42",
    "o": _BOWL,
    "p": f"{_BOWL}|07 00",
    "q": f"{_BOWL}|47 40",
    "r": "07 02|~04 06 17 37",
    "s": "~46 37 17 06 05 44 43 32 12 03",
    "t": "~19 13 12 32|07 37",
    "u": "~07 04 02 12 32 43 44|47 42",
    "v": "07 22 47",
    "w": "07 22 37 42 67",
    "x": "07 42|47 02",
    "y": "07 22|47 10",
    "z": "07 47 02 42",
    "µ": "~07 04 02 12 32 43 44|47 42|07 00",
    "β": "~00 08 19 39 48 47 36 26|~26 36 45 43 32 12 03",
}
_MISSING = "02 09 49 42 02"
_LETTERS = {"ß": "β", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "…": "."}


@functools.cache
def glyph(letter: str) -> tuple[tuple[Stroke, ...], float]:
    """Its strokes, in units above the base line, and how far the next letter is."""
    if letter.isspace():
        return (), _BLANK + _GAP
    base = _LETTERS.get(letter) or unicodedata.normalize("NFD", letter)[0]
    strokes = tuple(_stroke(text) for text in _GLYPHS.get(base, _MISSING).split("|"))
    return strokes, max(x for stroke in strokes for x, _ in stroke) + _GAP


def _stroke(text: str) -> Stroke:
    ring, soft = text.startswith("o"), text.startswith("~")
    points = [(float(pair[0]), float(pair[1]) - _BASE) for pair in text.lstrip("o~").split()]
    for _ in range(_ROUNDS if ring or soft else 0):
        points = _rounded([*points, points[0]] if ring else points, ring)
    return tuple([*points, points[0]] if ring else points)


def _rounded(points: list[tuple[float, float]], ring: bool) -> list[tuple[float, float]]:
    """Corners cut (Chaikin); the ends of an open line stay."""
    cut = []
    for (x, y), (u, v) in itertools.pairwise(points):
        cut += [(0.75 * x + 0.25 * u, 0.75 * y + 0.25 * v), (0.25 * x + 0.75 * u, 0.25 * y + 0.75 * v)]
    return cut if ring else [points[0], *cut[1:-1], points[-1]]


def width(text: str) -> float:
    """In units."""
    return sum(glyph(letter)[1] for letter in text) - _GAP if text else 0.0
