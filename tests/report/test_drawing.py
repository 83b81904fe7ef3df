"""A scene as SVG and as PNG: valid files with the shapes at their places."""

import struct
import unicodedata
import zlib
from xml.etree import ElementTree

import pytest

from windrow.report import png, strokes, svg
from windrow.report.scene import LIGHT, Box, Dot, Line, Scene, Text

SCENE = Scene(
    "x",
    "A & B",
    "",
    100.0,
    60.0,
    [
        Box(10, 10, 20, 10, "series1"),
        Dot(60, 30, 6, "series0", title="<b>&"),
        Line(((0, 50), (100, 50)), "ink", 2.0),
        Line(((0, 5), (100, 5)), "muted", 1.0, True),
        Text(50, 45, "<&>", "ink", "middle"),
        Text(5, 30, "up", upright=False),
    ],
)


def decoded(data: bytes) -> tuple[int, int, list[bytes], bytes]:
    """Width, height, rows of places in the colour table, and that table; each chunk's checksum is looked at."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colours, rest) == (8, 3, [0, 0, 0])
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[start : start + width + 1] for start in range(0, len(raw), width + 1)]
    assert len(rows) == height and all(row[0] == 0 for row in rows)
    return width, height, [row[1:] for row in rows], chunks[b"PLTE"]


def colour(data: bytes, x: float, y: float) -> tuple[int, ...]:
    """At a place of the scene."""
    _, _, rows, table = decoded(data)
    place = rows[round((y + 36) * png.SCALE)][round(x * png.SCALE)]
    return tuple(table[3 * place : 3 * place + 3])


def near(found: tuple[int, ...], role: str) -> bool:
    wanted = [int(LIGHT[role][start : start + 2], 16) for start in (1, 3, 5)]
    return all(abs(one - other) <= 8 for one, other in zip(found, wanted, strict=True))


def test_a_picture_is_twice_as_large_and_has_its_colours_at_their_places() -> None:
    data = png.draw(SCENE)
    assert decoded(data)[:2] == (200, 192)
    assert near(colour(data, 20, 15), "series1")
    assert near(colour(data, 60, 30), "series0")
    assert near(colour(data, 80, 50), "ink")
    assert colour(data, 80, 30) == (255, 255, 255)
    assert colour(data, 68, 30) == (255, 255, 255)


def test_what_sticks_out_of_a_picture_is_cut_off() -> None:
    scene = Scene(
        "x",
        "",
        "",
        20.0,
        20.0,
        [Line(((-50, -50), (90, 90)), "ink", 4.0), Dot(500, 500, 3, "ink"), Text(-9, 10, "wide text")],
    )
    data = png.draw(scene)
    assert decoded(data)[:2] == (40, 112)
    assert near(colour(data, 15, 15), "ink")


def test_the_same_picture_is_the_same_bytes() -> None:
    assert png.draw(SCENE) == png.draw(SCENE)


def test_a_picture_of_very_many_colours_fits_its_table() -> None:
    dots = [
        Dot(5 + number % 90, 5 + number // 9, 5.0, f"series{number % 6}", 0.1 + number / 600) for number in range(500)
    ]
    _, _, rows, table = decoded(png.draw(Scene("x", "", "", 100.0, 60.0, list(dots))))
    assert len(table) <= 768
    assert max(max(row) for row in rows) < len(table) / 3


def test_an_svg_is_well_formed_and_says_everything() -> None:
    tree = ElementTree.fromstring(svg.draw(SCENE))
    assert tree.attrib["viewBox"] == "0 0 100 60"
    assert [child.tag for child in tree] == ["rect", "circle", "polyline", "polyline", "text", "text"]
    assert [child.text for child in tree.iter("text")] == ["<&>", "up"]
    assert [child.text for child in tree.iter("title")] == ["<b>&"]
    assert all(
        value in LIGHT for child in tree for value in [child.attrib.get("fill", "none")[6:-1] or "ink"] if value != "n"
    )


@pytest.mark.parametrize("letter", [chr(code) for code in range(32, 127)])
def test_every_plain_letter_can_be_drawn(letter: str) -> None:
    shapes, advance = strokes.glyph(letter)
    assert advance > 0
    missing, _ = strokes.glyph("\U0001f33e")
    assert shapes != missing or letter == " "
    for stroke in shapes:
        assert all(0 <= x <= 9 and -2 <= y <= 7 for x, y in stroke)


def test_letters_with_accents_are_drawn_without() -> None:
    for letter in "áčďéěíňóřšťúůýžäöüÅçñ":
        assert strokes.glyph(letter) == strokes.glyph(unicodedata.normalize("NFD", letter)[0])


def test_a_word_is_as_wide_as_its_letters() -> None:
    assert strokes.width("") == 0
    assert strokes.width("il") < strokes.width("mw")
    assert strokes.width("ab") == pytest.approx(strokes.width("a") + strokes.glyph("b")[1])
