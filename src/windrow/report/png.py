"""A scene as a PNG file, drawn by ourselves: shapes are their distances, so edges are smooth, and the bytes are the same everywhere."""

import itertools
import struct
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from windrow.report import strokes
from windrow.report.scene import LIGHT, Box, Dot, Line, Scene, Text

SCALE = 2  # pixels of the file for one of the scene
_MARGIN = 36.0  # pixels above, for the title
_UNIT = 0.72 / strokes.CAPITAL  # size of a stroke's unit, of the letters' size
_NARROW = 0.92  # letters are a little narrower than they are drawn
_DASH = (4.0, 4.0)  # pixels drawn and left out

Pixels = npt.NDArray[np.float32]
Points = Sequence[tuple[float, float]]


def draw(scene: Scene) -> bytes:
    """The picture under its title, on white."""
    canvas = Canvas(scene.width, scene.height + _MARGIN)
    canvas.text(Text(16, 24, scene.title, "ink", size=15, bold=True))
    canvas.down = _MARGIN
    for item in scene.items:
        match item:
            case Line():
                canvas.line(item)
            case Dot():
                canvas.dot(item)
            case Box():
                canvas.box(item)
            case Text():
                canvas.text(item)
    return encode(canvas.pixels)


class Canvas:
    def __init__(self, width: float, height: float) -> None:
        self.pixels: Pixels = np.full((round(height * SCALE), round(width * SCALE), 3), _colour("paper"), np.float32)
        self.down = 0.0  # added to every height

    def line(self, item: Line) -> None:
        points = [self._place(x, y) for x, y in item.points]
        pieces = list(_dashes(points, [SCALE * length for length in _DASH])) if item.dashed else [points]
        self._strokes(pieces, item.width * SCALE / 2, item.role, item.opacity)

    def dot(self, item: Dot) -> None:
        self._strokes([[self._place(item.x, item.y)] * 2], item.radius * SCALE, item.role, item.opacity)

    def box(self, item: Box) -> None:
        left, top = self._place(item.x, item.y)
        right, bottom = self._place(item.x + item.width, item.y + item.height)
        window = self._window(left, top, right, bottom)
        cover = np.outer(_overlap(window[0], top, bottom), _overlap(window[1], left, right))
        self._blend(window, cover, item.role, item.opacity)

    def text(self, item: Text) -> None:
        unit = item.size * _UNIT
        across = unit * _NARROW
        at = {"start": 0.0, "middle": 0.5, "end": 1.0}[item.anchor] * -strokes.width(item.text) * across
        pieces = []
        for letter in item.text:
            shapes, advance = strokes.glyph(letter)
            for shape in shapes:
                offsets = [(at + x * across, y * unit) for x, y in shape]
                spots = [(item.x + x, item.y - y) if item.upright else (item.x - y, item.y - x) for x, y in offsets]
                pieces.append([self._place(x, y) for x, y in spots])
            at += advance * across
        thick = 0.085 if item.bold else 0.058
        self._strokes(pieces, max(item.size * thick * SCALE, 0.6), item.role, 1.0)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        return x * SCALE, (y + self.down) * SCALE

    def _strokes(self, pieces: Sequence[Points], radius: float, role: str, opacity: float) -> None:
        """Lines with round ends, all of them one shape: where they cross nothing is drawn twice."""
        if not pieces:
            return
        reach = radius + 1
        across = [x for piece in pieces for x, _ in piece]
        along = [y for piece in pieces for _, y in piece]
        window = self._window(min(across) - reach, min(along) - reach, max(across) + reach, max(along) + reach)
        top, left = window[0].start, window[1].start
        cover = np.zeros((max(window[0].stop - top, 0), max(window[1].stop - left, 0)), np.float32)
        for piece in pieces:
            for start, end in itertools.pairwise(piece):
                part = self._window(
                    min(start[0], end[0]) - reach,
                    min(start[1], end[1]) - reach,
                    max(start[0], end[0]) + reach,
                    max(start[1], end[1]) + reach,
                )
                inner = cover[part[0].start - top : part[0].stop - top, part[1].start - left : part[1].stop - left]
                np.maximum(inner, np.clip(radius + 0.5 - _distance(part, start, end), 0, 1), out=inner)
        self._blend(window, cover, role, opacity)

    def _window(self, left: float, top: float, right: float, bottom: float) -> tuple[slice, slice]:
        high, wide = self.pixels.shape[:2]
        rows = slice(min(max(int(top), 0), high), min(max(int(bottom) + 1, 0), high))
        return rows, slice(min(max(int(left), 0), wide), min(max(int(right) + 1, 0), wide))

    def _blend(self, window: tuple[slice, slice], cover: Pixels, role: str, opacity: float) -> None:
        strength = cover[:, :, None] * np.float32(opacity)
        self.pixels[window] += strength * (_colour(role) - self.pixels[window])


def _colour(role: str) -> Pixels:
    text = LIGHT[role]
    return np.array([int(text[start : start + 2], 16) for start in (1, 3, 5)], np.float32)


def _overlap(pixels: slice, start: float, end: float) -> Pixels:
    """How much of each pixel lies between two places."""
    places = np.arange(pixels.start, pixels.stop)
    return np.asarray(np.clip(np.minimum(places + 1, end) - np.maximum(places, start), 0, 1), np.float32)


def _distance(window: tuple[slice, slice], start: tuple[float, float], end: tuple[float, float]) -> Pixels:
    """Of each pixel's middle from a line between two points."""
    y = np.arange(window[0].start, window[0].stop, dtype=np.float32)[:, None] + 0.5 - start[1]
    x = np.arange(window[1].start, window[1].stop, dtype=np.float32)[None, :] + 0.5 - start[0]
    across, along = end[0] - start[0], end[1] - start[1]
    length = across * across + along * along
    part = np.clip((x * across + y * along) / length, 0, 1) if length else np.float32(0)
    return np.asarray(np.hypot(x - part * across, y - part * along), np.float32)


def _dashes(points: Points, lengths: Sequence[float]) -> Iterable[Points]:
    """A line of two points cut up."""
    for (x, y), (u, v) in itertools.pairwise(points):
        whole = float(np.hypot(u - x, v - y))
        at = 0.0
        while at < whole:
            ends = [at / whole, min(at + lengths[0], whole) / whole]
            yield [(x + part * (u - x), y + part * (v - y)) for part in ends]
            at += sum(lengths)


def encode(pixels: Pixels) -> bytes:
    """With a table of 256 colours, a third of the bytes: shades that nobody tells apart are made one until they fit."""
    high, wide = pixels.shape[:2]
    for step in (8, 12, 16, 24, 32, 48, 64):
        shades = np.rint((255 - pixels) / np.float32(step)).astype(np.uint16)  # below 32 for each of three colours
        codes = (shades[:, :, 0] << 10) + (shades[:, :, 1] << 5) + shades[:, :, 2]
        used = np.flatnonzero(np.bincount(codes.ravel(), minlength=1 << 15))
        if len(used) <= 256:
            break
    places = np.zeros(1 << 15, np.uint8)
    places[used] = np.arange(len(used))
    rows = np.hstack([np.zeros((high, 1), np.uint8), places[codes]])
    table = np.stack([used >> 10, used >> 5 & 31, used & 31], axis=1)
    colours = np.maximum(255 - table * step, 0).astype(np.uint8).tobytes()
    header = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(itertools.starmap(_chunk, chunks))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
