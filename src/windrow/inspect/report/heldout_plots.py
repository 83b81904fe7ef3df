"""The pictures of evaluations: perplexity of the held-out text, and tokens in the wanted language, by size."""

from collections.abc import Callable, Sequence

from windrow.inspect.report import axes
from windrow.inspect.report.axes import Axis
from windrow.inspect.report.plots import BOTTOM, LEFT, RIGHT, TOP, legend
from windrow.inspect.report.scene import Dot, Polyline, Scene, Text, series
from windrow.judge.language import codes
from windrow.records import CrawlEvaluation, EvaluationRow, HeldOutFit
from windrow.units import count

Fit = Callable[[EvaluationRow], HeldOutFit | None]


def all_of(found: Sequence[CrawlEvaluation]) -> list[Scene]:
    """Return the pictures of evaluations with at least one size."""
    shown = [one for one in found if any(row.tokens for row in one.rows)]
    if not shown:
        return []
    name = codes.name(shown[0].language)
    return [
        perplexity(shown, Scene("perplexity", "Perplexity of held-out text", caption=_ALL), lambda row: row.fit),
        perplexity(
            shown,
            Scene("perplexity-language", f"Perplexity with {name} text only", caption=_WANTED.format(name=name)),
            lambda row: row.fit_wanted,
        ),
        wanted(shown),
    ]


def perplexity(found: Sequence[CrawlEvaluation], scene: Scene, fit: Fit) -> Scene:
    """Plot the perplexity of the held-out text by the text downloaded."""
    curves = [[(row.tokens, one) for row in crawl.rows if row.tokens and (one := fit(row))] for crawl in found]
    start = next((row.fit for row in found[0].rows if not row.tokens), None)
    heights = [one.perplexity for curve in curves for _, one in curve] + ([start.perplexity] if start else [])
    x = _tokens(scene, [float(tokens) for curve in curves for tokens, _ in curve])
    y = Axis(
        "perplexity",
        0.0,
        high=max(heights, default=1.0) * 1.08,
        start=scene.height - BOTTOM,
        end=TOP,
        show=lambda value: f"{value:,.0f}",
    )
    axes.frame(scene, x, y)
    if start:
        for height in (start.perplexity, start.perplexity_known):
            scene.items.append(Polyline(((x.start, y.at(height)), (x.end, y.at(height))), "muted", 1.0, True, 0.8))
        scene.items.append(Text(x.end, y.at(start.perplexity) - 6, text="train text alone", anchor="end"))
    for number, curve in enumerate(curves):
        _curve(scene, [(x.at(tokens), y.at(one.perplexity), _title(tokens, one)) for tokens, one in curve], number)
        known = [(x.at(tokens), y.at(one.perplexity_known)) for tokens, one in curve]
        scene.items.append(Polyline(tuple(known), series(number), 1.8, dashed=True))
    legend(scene, [(crawl.crawl, series(number)) for number, crawl in enumerate(found)])
    return scene


def wanted(found: Sequence[CrawlEvaluation]) -> Scene:
    """Plot the tokens in the wanted language by the text downloaded."""
    name = codes.name(found[0].language)
    scene = Scene("wanted", f"{name} text by the text downloaded", caption=_HARVEST.format(name=name))
    curves = [[(row.tokens, row.wanted) for row in crawl.rows if row.tokens and row.wanted] for crawl in found]
    x = _tokens(scene, [float(tokens) for curve in curves for tokens, _ in curve])
    low, high = axes.decades([float(amount) for curve in curves for _, amount in curve])
    y = Axis(f"tokens in {name}", low, high=high, start=scene.height - BOTTOM, end=TOP, logarithmic=True, show=_amount)
    axes.frame(scene, x, y)
    first, last = max(x.low, y.low), min(x.high, y.high)
    if first < last:
        scene.items.append(Polyline(((x.at(first), y.at(first)), (x.at(last), y.at(last))), "muted", 1.0, True, 0.8))
        scene.items.append(Text(x.at(last), y.at(last) - 8, text="all of it", anchor="end"))
    for number, curve in enumerate(curves):
        points = [(x.at(t), y.at(w), f"{count(w, 'token')} of {t:,}") for t, w in curve]
        _curve(scene, points, number)
    legend(scene, [(crawl.crawl, series(number)) for number, crawl in enumerate(found)])
    return scene


def _tokens(scene: Scene, values: list[float]) -> Axis:
    low, high = min(values, default=1.0), max(values, default=10.0)
    return Axis(
        "tokens downloaded",
        low / 1.3,
        high=high * 1.3,
        start=LEFT,
        end=scene.width - RIGHT,
        logarithmic=True,
        show=_amount,
    )


def _curve(scene: Scene, points: Sequence[tuple[float, float, str]], number: int) -> None:
    scene.items.append(Polyline(tuple((x, y) for x, y, _ in points), series(number), 2.4))
    scene.items += [Dot(x, y, radius=3.6, role=series(number), title=title) for x, y, title in points]


def _title(tokens: int, fit: HeldOutFit) -> str:
    known = f"{fit.perplexity_known:,.1f} over known words"
    return f"{count(tokens, 'token')}: {fit.perplexity:,.1f}, {known}"


def _amount(value: float) -> str:
    """Return a round number of tokens for a tick: 300K, 1M."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("K", 1e3)):
        if value >= factor:
            return f"{value / factor:g}{unit}"
    return f"{value:g}"


_ALL = (
    "Solid: over all words of the held-out text. Dashed: over the words that the train text has. The line falls while "
    "the crawl finds text of the topic, and rises while it finds other text."
)
_WANTED = "The same if the models are trained on the pages in {name} only."
_HARVEST = "How much of the main text that was downloaded is in {name}. On the dashed line all of it is."
