"""A scene as SVG. Colours are variables of the page, so that it follows the reader's light or dark screen."""

from html import escape

from windrow.report.scene import FONT, Box, Dot, Line, Scene, Text


def draw(scene: Scene) -> str:
    inner = "".join([_ITEMS[type(item)](item) for item in scene.items])  # type: ignore[operator]
    return (
        f'<svg viewBox="0 0 {_n(scene.width)} {_n(scene.height)}" role="img" aria-label="{escape(scene.title)}" '
        f'font-size="{_n(FONT)}">{inner}</svg>'
    )


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _opacity(value: float) -> str:
    return f' opacity="{value:.2g}"' if value < 1 else ""


def _line(item: Line) -> str:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in item.points)
    dashes = ' stroke-dasharray="4 4"' if item.dashed else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="var(--{item.role})" stroke-width="{_n(item.width)}" '
        f'stroke-linejoin="round"{dashes}{_opacity(item.opacity)}/>'
    )


def _dot(item: Dot) -> str:
    shape = f'<circle cx="{_n(item.x)}" cy="{_n(item.y)}" r="{_n(item.radius)}" fill="var(--{item.role})"{_opacity(item.opacity)}'
    return _titled(shape, "circle", item.title)


def _box(item: Box) -> str:
    shape = (
        f'<rect x="{_n(item.x)}" y="{_n(item.y)}" width="{_n(item.width)}" height="{_n(item.height)}" '
        f'fill="var(--{item.role})"{_opacity(item.opacity)}'
    )
    return _titled(shape, "rect", item.title)


def _titled(shape: str, tag: str, title: str) -> str:
    return f"{shape}><title>{escape(title)}</title></{tag}>" if title else f"{shape}/>"


def _text(item: Text) -> str:
    turn = "" if item.upright else f' transform="rotate(-90 {_n(item.x)} {_n(item.y)})"'
    size = "" if item.size == FONT else f' font-size="{_n(item.size)}"'
    weight = ' font-weight="600"' if item.bold else ""
    anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    return f'<text x="{_n(item.x)}" y="{_n(item.y)}" fill="var(--{item.role})"{anchor}{size}{weight}{turn}>{escape(item.text)}</text>'


_ITEMS = {Line: _line, Dot: _dot, Box: _box, Text: _text}
