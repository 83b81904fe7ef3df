"""A scene as SVG: inline in a page, or as a file of its own; and that file as PNG, by a library."""

from collections.abc import Callable
from html import escape

from windrow.config import ConfigError
from windrow.inspect.report.scene import FONT, LIGHT, Box, Dot, Polyline, Scene, Text

SCALE = 2  # pixels of a PNG per pixel of the scene
_TITLE = 36.0  # pixels above the scene in a file, for its title
_FONTS = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"

Colour = Callable[[str], str]  # from a role to what SVG calls a colour


def inline(scene: Scene) -> str:
    """Return a scene for a page. Colours are variables of the page, so that it follows a light or dark screen."""
    inner = "".join([_shape(item, _variable) for item in scene.items])
    return (
        f'<svg viewBox="0 0 {_n(scene.width)} {_n(scene.height)}" role="img" aria-label="{escape(scene.title)}" '
        f'font-size="{_n(FONT)}">{inner}</svg>'
    )


def file(scene: Scene) -> bytes:
    """Return a scene as a file of its own: under its title, on white, with colours that every program understands."""
    width, height = _n(scene.width), _n(scene.height + _TITLE)
    title = _shape(Text(16, 24, text=scene.title, role="ink", size=15, bold=True), LIGHT.__getitem__)
    inner = "\n".join([_shape(item, LIGHT.__getitem__) for item in scene.items])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{_FONTS}" font-size="{_n(FONT)}">\n'
        f'<rect width="{width}" height="{height}" fill="{LIGHT["paper"]}"/>\n{title}\n'
        f'<g transform="translate(0 {_n(_TITLE)})">\n{inner}\n</g>\n</svg>\n'
    ).encode()


def png(drawn: bytes) -> bytes:
    """Return an SVG file as PNG, twice as large."""
    try:
        import resvg_py
    except ImportError:
        raise ConfigError("--png needs the package resvg-py: pip install 'windrow-corpus[png]'") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=drawn.decode(), zoom=SCALE))


def _variable(role: str) -> str:
    return f"var(--{role})"


def _shape(item: Polyline | Dot | Box | Text, colour: Colour) -> str:
    match item:
        case Polyline():
            return _line(item, colour(item.role))
        case Dot():
            return _dot(item, colour(item.role))
        case Box():
            return _box(item, colour(item.role))
        case Text():
            return _text(item, colour(item.role))


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _opacity(value: float) -> str:
    return f' opacity="{value:.2g}"' if value < 1 else ""


def _line(item: Polyline, colour: str) -> str:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in item.points)
    dashes = ' stroke-dasharray="4 4"' if item.dashed else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{_n(item.width)}" '
        f'stroke-linejoin="round"{dashes}{_opacity(item.opacity)}/>'
    )


def _dot(item: Dot, colour: str) -> str:
    place = f'cx="{_n(item.x)}" cy="{_n(item.y)}" r="{_n(item.radius)}"'
    return _titled(f'<circle {place} fill="{colour}"{_opacity(item.opacity)}', "circle", item.title)


def _box(item: Box, colour: str) -> str:
    place = f'x="{_n(item.x)}" y="{_n(item.y)}" width="{_n(item.width)}" height="{_n(item.height)}"'
    return _titled(f'<rect {place} fill="{colour}"{_opacity(item.opacity)}', "rect", item.title)


def _titled(shape: str, tag: str, title: str) -> str:
    return f"{shape}><title>{escape(title)}</title></{tag}>" if title else f"{shape}/>"


def _text(item: Text, colour: str) -> str:
    turn = "" if item.upright else f' transform="rotate(-90 {_n(item.x)} {_n(item.y)})"'
    size = "" if item.size == FONT else f' font-size="{_n(item.size)}"'
    weight = ' font-weight="600"' if item.bold else ""
    anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    place = f'x="{_n(item.x)}" y="{_n(item.y)}"'
    return f'<text {place} fill="{colour}"{anchor}{size}{weight}{turn}>{escape(item.text)}</text>'
