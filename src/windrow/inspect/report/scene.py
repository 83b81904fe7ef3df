"""A picture as a list of shapes. `plots` composes it and knows no file format; `svg` draws it and knows no crawl."""

import math

import msgspec

FONT = 12.0  # pixels, of a label
_WIDE = 0.56  # mean width of a letter, as a share of its size


class Polyline(msgspec.Struct, frozen=True):
    points: tuple[tuple[float, float], ...]
    role: str = "ink"  # of its colour, see palette
    width: float = 1.0
    dashed: bool = False
    opacity: float = 1.0


class Dot(msgspec.Struct, frozen=True):
    x: float
    y: float
    radius: float
    role: str
    opacity: float = 1.0
    title: str = ""  # shown when the pointer rests on it


class Box(msgspec.Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    role: str
    opacity: float = 1.0
    title: str = ""


class Text(msgspec.Struct, frozen=True):
    x: float
    y: float  # of the baseline
    text: str
    role: str = "muted"
    anchor: str = "start"  # the part of it that is at x: "start", "middle" or "end"
    size: float = FONT
    upright: bool = True  # False: turned, to be read from bottom to top
    bold: bool = False


class Scene(msgspec.Struct):
    name: str  # of its file
    title: str
    caption: str
    width: float = 640.0
    height: float = 420.0
    items: list[Polyline | Dot | Box | Text] = []


# Colours by role, on paper and on a dark screen. Series also differ in lightness, for readers who do not see colour.
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1d2733",
    "muted": "#5c6875",
    "grid": "#e4e8ec",
    "series0": "#2166c4",
    "series1": "#d9660d",
    "series2": "#12805c",
    "series3": "#8a4fbf",
    "series4": "#b8324a",
    "series5": "#7a6a00",
}
DARK = {
    "paper": "#171c22",
    "ink": "#e9edf1",
    "muted": "#9aa7b4",
    "grid": "#2b333c",
    "series0": "#6aa8f7",
    "series1": "#f5a04c",
    "series2": "#4cc79a",
    "series3": "#c39af0",
    "series4": "#f0798c",
    "series5": "#cdbb45",
}
SERIES = 6


def series(number: int) -> str:
    return f"series{number % SERIES}"


class Labels:
    """Places labels where there is room, and leaves out those that would cover another one."""

    def __init__(self, right: float) -> None:
        self._right = right
        self._taken: list[tuple[float, float, float, float]] = []

    def keep(self, x: float, y: float, radius: float) -> None:
        """Keep labels away from a point."""
        self._taken.append((x - radius, y - radius, x + radius, y + radius))

    def place(self, x: float, y: float, text: str, role: str = "muted", spots: int = 7) -> Text | None:
        """Return a label next to a point, at the first of `spots` positions with room; None if there is no room."""
        width, high = len(text) * FONT * _WIDE, FONT * 0.75
        around = (
            (x + 9, y + high + 7, "start"),
            (x + 9, y + high / 2, "start"),
            (x, y + high + 10, "middle"),
            (x - 9, y - 6, "end"),
            (x, y - 9, "middle"),
            (x + 2, y + 2 * high + 16, "start"),
            (x - 9, y + high / 2, "end"),
        )
        for left, base, anchor in around[:spots]:
            start = left - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
            box = (start - 2, base - high - 2, start + width + 2, base + 3)
            if box[0] >= 0 and box[2] <= self._right and not any(_overlap(box, other) for other in self._taken):
                self._taken.append(box)
                return Text(left, base, text=text, role=role, anchor=anchor)
        return None


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def clipped(points: list[tuple[float, float]], low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Return the points of a line, limited to between two heights."""
    return tuple((x, min(max(y, low), high)) for x, y in points if math.isfinite(y))
