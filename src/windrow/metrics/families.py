"""Samples in families, and their text for Prometheus (0.0.4) and for OpenMetrics (1.0.0)."""

import bisect
import math
from collections.abc import Iterable, Mapping

import msgspec

from windrow.metrics.names import METRICS

# Upper bounds in seconds: those that OpenTelemetry advises for the duration of HTTP requests, and two for slow hosts.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0)


class MetricSample(msgspec.Struct, frozen=True):
    value: int | float
    labels: dict[str, str] = {}
    suffix: str = ""  # behind the name of the family: "_bucket", "_sum", "_count" of a histogram


class Family(msgspec.Struct, frozen=True):
    """All samples of one metric. `METRICS` says what the name means."""

    name: str
    samples: tuple[MetricSample, ...]


class Histogram:
    """Counts of observed seconds, one per bucket."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(SECONDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect.bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    @property
    def count(self) -> int:
        return sum(self.counts)

    def family(self, name: str) -> Family:
        """Return the samples: cumulative buckets, the sum and the count."""
        samples, count = [], 0
        for bound, more in zip((*SECONDS, math.inf), self.counts, strict=True):
            count += more
            samples.append(MetricSample(count, {"le": _number(bound)}, "_bucket"))
        return _checked(
            Family(name, (*samples, MetricSample(self.total, {}, "_sum"), MetricSample(count, {}, "_count")))
        )


def single(name: str, value: float) -> Family:
    """Return a metric without a label of its own."""
    return _checked(Family(name, (MetricSample(value),)))


def by(name: str, values: Mapping[str, float]) -> Family:
    """Return a metric by its only label."""
    (label,) = METRICS[name].labels
    return _checked(Family(name, tuple(MetricSample(value, {label: key}) for key, value in values.items())))


def by_several(name: str, values: Mapping[tuple[str, ...], float]) -> Family:
    """Return a metric by its labels, in their order."""
    labels = METRICS[name].labels
    samples = (MetricSample(value, dict(zip(labels, key, strict=True))) for key, value in values.items())
    return _checked(Family(name, tuple(samples)))


def _checked(family: Family) -> Family:
    assert family.name in METRICS, f"add {family.name} to metrics/names.py"
    return family


def labelled(families: Iterable[Family], labels: Mapping[str, str]) -> list[Family]:
    """Return the families with more labels on each sample, in front."""
    return [
        Family(
            one.name, tuple(MetricSample(each.value, {**labels, **each.labels}, each.suffix) for each in one.samples)
        )
        for one in families
    ]


def joined(groups: Iterable[Iterable[Family]]) -> list[Family]:
    """Return the families of several processes as one each. Their samples must differ by a label."""
    found: dict[str, list[MetricSample]] = {}
    for group in groups:
        for family in group:
            found.setdefault(family.name, []).extend(family.samples)
    return [Family(name, tuple(samples)) for name, samples in found.items()]


def text(families: Iterable[Family], open_metrics: bool = False) -> bytes:
    """Return the families in the text format of Prometheus, or in that of OpenMetrics."""
    lines = []
    for family in families:
        meaning = METRICS[family.name]
        name = family.name.removesuffix("_total") if open_metrics else family.name
        lines.append(f"# HELP {name} {_escaped(meaning.help, quotes=open_metrics)}\n# TYPE {name} {meaning.kind}\n")
        lines += [_line(family.name, sample) for sample in family.samples]
    if open_metrics:
        lines.append("# EOF\n")
    return "".join(lines).encode("utf-8", "replace")


def _line(name: str, sample: MetricSample) -> str:
    labels = ",".join([f'{key}="{_escaped(value)}"' for key, value in sample.labels.items()])
    return f"{name}{sample.suffix}{{{labels}}} {_number(sample.value)}\n"


def _escaped(value: str, quotes: bool = True) -> str:
    value = value.replace("\\", "\\\\").replace("\n", "\\n")
    return value.replace('"', '\\"') if quotes else value


def _number(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(int(value) if isinstance(value, bool) else value).replace("nan", "NaN")
