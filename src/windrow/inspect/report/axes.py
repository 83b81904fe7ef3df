"""Scales, and the frame around a plot: ticks at round numbers, a grid, names."""

import math
from collections.abc import Callable

import msgspec

from windrow.inspect.report.scene import FONT, Polyline, Scene, Text
from windrow.units import size

Show = Callable[[float], str]


class Axis(msgspec.Struct, frozen=True):
    """A scale from values to pixels."""

    name: str
    low: float
    high: float
    start: float  # pixel of the lowest value
    end: float
    logarithmic: bool = False
    show: Show = str

    def at(self, value: float) -> float:
        if self.logarithmic:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        return _decades(self.low, self.high) if self.logarithmic else _steps(self.low, self.high)


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [10.0**power for power in range(first, last + 1, max(1, math.ceil((last - first) / 8)))]


def _steps(low: float, high: float) -> list[float]:
    """Return about five round values."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def decades(values: list[float]) -> tuple[float, float]:
    """Return the ends of the whole decades that contain the values, at least two decades."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    low -= 10.0**low > min(positive)  # the logarithm was rounded up
    return 10.0**low, 10.0 ** max(high, low + 2)


def frame(scene: Scene, x: Axis, y: Axis, below: float = 0.0) -> None:
    """Draw grid, ticks and names. below: pixels of the plot under the lowest value of y."""
    top, bottom = y.end, y.start + below
    for value in x.ticks():
        place = x.at(value)
        scene.items.append(Polyline(((place, top), (place, bottom)), "grid"))
        scene.items.append(Text(place, bottom + FONT + 5, text=x.show(value), anchor="middle"))
    for value in y.ticks():
        place = y.at(value)
        scene.items.append(Polyline(((x.start, place), (x.end, place)), "grid"))
        scene.items.append(Text(x.start - 7, place + FONT * 0.35, text=y.show(value), anchor="end"))
    scene.items.append(Polyline(((x.start, bottom), (x.end, bottom)), "muted"))
    scene.items.append(Text((x.start + x.end) / 2, bottom + 2.6 * FONT + 7, text=x.name, role="ink", anchor="middle"))
    scene.items.append(Text(FONT + 2, (top + bottom) / 2, text=y.name, role="ink", anchor="middle", upright=False))


def bytes_shown(value: float) -> str:
    """Return bytes for a tick, which is a round number: 10 kB."""
    text = size(value)
    number, _, unit = text.partition(" ")
    return f"{float(number):g} {'B' if unit == 'bytes' else unit}"


def percent(value: float) -> str:
    return f"{100 * value:.6g} %"


def duration(longest: float) -> tuple[str, float]:
    """Return the unit for durations up to this one, and its length in seconds."""
    for name, seconds in (("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0)):
        if longest < 150 * seconds or (name == "hours" and longest < 96 * seconds):
            return name, seconds
    return "days", 86400.0
