"""A scene as SVG, inline and as a file, and as PNG: valid, with the shapes at their places."""

import struct
import sys
import zlib
from xml.etree import ElementTree

import pytest

from windrow.config import ConfigError
from windrow.inspect.report import svg
from windrow.inspect.report.scene import LIGHT, Box, Dot, Polyline, Scene, Text

SVG = "{http://www.w3.org/2000/svg}"
SCENE = Scene(
    "x",
    "A & B",
    "",
    100.0,
    60.0,
    [
        Box(10, 10, 20, 10, "series1"),
        Dot(60, 30, 6, "series0", title="<b>&"),
        Polyline(((0, 50), (100, 50)), "ink", 2.0),
        Polyline(((0, 5), (100, 5)), "muted", 1.0, True),
        Text(50, 45, "<&>", "ink", "middle"),
        Text(5, 30, "up", upright=False),
    ],
)


def test_an_inline_svg_is_well_formed_and_has_every_shape() -> None:
    tree = ElementTree.fromstring(svg.inline(SCENE))
    assert tree.attrib["viewBox"] == "0 0 100 60"
    assert [child.tag for child in tree] == ["rect", "circle", "polyline", "polyline", "text", "text"]
    assert [child.text for child in tree.iter("text")] == ["<&>", "up"]
    assert [child.text for child in tree.iter("title")] == ["<b>&"]
    fills = [child.attrib["fill"] for child in tree if child.attrib["fill"] != "none"]
    assert all(fill.startswith("var(--") and fill[6:-1] in LIGHT for fill in fills)


def test_an_svg_file_has_its_title_and_plain_colours() -> None:
    """Programs that draw SVG outside a browser do not know the variables of a page."""
    data = svg.file(SCENE)
    tree = ElementTree.fromstring(data)
    assert (tree.tag, tree.attrib["width"], tree.attrib["height"]) == (f"{SVG}svg", "100", "96")
    assert [child.text for child in tree.iter(f"{SVG}text")] == ["A & B", "<&>", "up"]
    assert [child.attrib["fill"] for child in tree.iter(f"{SVG}circle")] == [LIGHT["series0"]]
    assert b"var(" not in data


def pixels(data: bytes) -> tuple[int, int, list[bytes]]:
    """Return width, height and rows of RGBA of a PNG file, and check each of its chunks."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, dict[bytes, bytes]()
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = chunks.get(kind, b"") + body
        at += 12 + length
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colours, rest) == (8, 6, [0, 0, 0])
    raw, stride = zlib.decompress(chunks[b"IDAT"]), 4 * width
    rows: list[bytes] = []
    for start in range(0, len(raw), stride + 1):
        rows.append(unfiltered(raw[start], raw[start + 1 : start + 1 + stride], rows[-1] if rows else bytes(stride)))
    assert len(rows) == height
    return width, height, rows


def unfiltered(kind: int, row: bytes, above: bytes) -> bytes:
    """Undo the filter of a row, see section 9 of the PNG specification."""
    found = bytearray(row)
    for n in range(len(row)):
        left, up, corner = (found[n - 4] if n >= 4 else 0), above[n], (above[n - 4] if n >= 4 else 0)
        nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        found[n] = (row[n] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return bytes(found)


def colour(rows: list[bytes], x: float, y: float) -> tuple[int, ...]:
    """Return the colour at a place of the scene, which is drawn below its title."""
    at = 4 * round(x * svg.SCALE)
    return tuple(rows[round((y + 36) * svg.SCALE)][at : at + 3])


def test_a_png_is_twice_as_large_and_has_its_colours_at_their_places() -> None:
    pytest.importorskip("resvg_py")
    width, height, rows = pixels(svg.png(svg.file(SCENE)))
    wanted = {
        role: tuple(int(LIGHT[role][start : start + 2], 16) for start in (1, 3, 5))
        for role in ("series0", "series1", "ink")
    }
    assert (width, height) == (200, 192)
    assert colour(rows, 20, 15) == wanted["series1"]
    assert colour(rows, 60, 30) == wanted["series0"]
    assert colour(rows, 80, 50) == wanted["ink"]
    assert colour(rows, 80, 30) == colour(rows, 68, 30) == (255, 255, 255)


def test_without_the_library_a_png_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ConfigError, match=r"pip install 'windrow-corpus\[png\]'"):
        svg.png(svg.file(SCENE))
