"""The text of metrics, read back by another program's parsers."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics import parser as open_parser
from prometheus_client.parser import text_string_to_metric_families

from windrow import metrics
from windrow.metrics import METRICS, Family, Histogram
from windrow.metrics.families import SECONDS, MetricSample

TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
NUMBERS = st.one_of(st.integers(0, 2**53), st.floats(0, 1e300), st.just(math.inf))


def plain(families: Iterable[Family]) -> list[Any]:
    return list(text_string_to_metric_families(metrics.text(families).decode()))


def openly(families: Iterable[Family]) -> list[Any]:
    return list(open_parser.text_string_to_metric_families(metrics.text(families, open_metrics=True).decode()))


def samples(parsed: Iterable[Any]) -> list[tuple[str, dict[str, str], float]]:
    return [(one.name, dict(one.labels), one.value) for family in parsed for one in family.samples]


@given(st.dictionaries(TEXTS, NUMBERS, max_size=5), st.dictionaries(st.sampled_from(["crawl", "shard"]), TEXTS))
def test_both_parsers_read_every_label_and_every_number_as_it_was(
    values: dict[str, float], labels: dict[str, str]
) -> None:
    families = metrics.labelled([metrics.by("windrow_urls_finished_total", values)], labels)
    expected = [
        ("windrow_urls_finished_total", {**labels, "reason": reason}, value) for reason, value in values.items()
    ]
    assert samples(plain(families)) == expected
    assert samples(openly(families)) == expected


@given(st.lists(st.floats(0, 1e6), max_size=30))
def test_a_histogram_counts_each_value_in_every_bucket_that_holds_it(seconds: list[float]) -> None:
    histogram = Histogram()
    for one in seconds:
        histogram.observe(one)
    family = histogram.family("windrow_request_duration_seconds")
    for parsed in (plain([family]), openly([family])):
        (read,) = parsed
        assert read.type == "histogram"
        buckets = {float(one.labels["le"]): one.value for one in read.samples if one.name.endswith("_bucket")}
        assert buckets == {bound: sum(one <= bound for one in seconds) for bound in (*SECONDS, math.inf)}
        rest = {one.name.rpartition("_")[2]: one.value for one in read.samples if not one.labels}
        assert rest["count"] == len(seconds) == histogram.count
        assert rest["sum"] == pytest.approx(math.fsum(seconds))


def every_metric() -> list[Family]:
    """Return a family of each name, with all its labels."""
    made = []
    for name, meaning in METRICS.items():
        if meaning.kind == "histogram":
            made.append(Histogram().family(name))
        else:
            made.append(metrics.by_several(name, {tuple("x" for _ in meaning.labels): 1}))
    return made


def test_every_metric_has_its_kind_and_help_in_both_formats() -> None:
    for parsed in (plain(every_metric()), openly(every_metric())):
        found = {one.name: one for one in parsed}
        assert len(found) == len(METRICS)
        for name, meaning in METRICS.items():
            read = found.get(name) or found[name.removesuffix("_total")]
            assert (read.type, read.documentation) == (meaning.kind, meaning.help)


def test_names_follow_the_conventions_and_no_label_is_a_host_or_a_url() -> None:
    for name, meaning in METRICS.items():
        assert name.startswith(("windrow_", "process_"))
        assert name.endswith("_total") == (meaning.kind == "counter"), name
        assert not {"host", "domain", "url", "path", "ip", "address"} & set(meaning.labels), name
        assert not {"job", "instance", "le"} & set(meaning.labels), f"{name}: a label that Prometheus itself uses"


def test_only_openmetrics_ends_with_a_mark() -> None:
    families = [metrics.single("windrow_frames_total", 3)]
    assert metrics.text(families) == (
        b"# HELP windrow_frames_total Frames written to the log.\n"
        b"# TYPE windrow_frames_total counter\nwindrow_frames_total 3.0\n"
    )
    assert metrics.text(families, open_metrics=True).splitlines()[1:] == [
        b"# TYPE windrow_frames counter",
        b"windrow_frames_total 3.0",
        b"# EOF",
    ]


def test_the_metrics_of_two_shards_are_one_family() -> None:
    def of(shard: str) -> list[Family]:
        return metrics.labelled([metrics.single("windrow_running", 1)], {"crawl": "c", "shard": shard})

    (family,) = metrics.joined([of("000"), of("001")])
    assert family.samples == tuple(MetricSample(1, {"crawl": "c", "shard": shard}) for shard in ("000", "001"))


def test_a_name_that_is_not_in_the_list_is_refused() -> None:
    with pytest.raises(AssertionError, match="names"):
        metrics.single("windrow_urls_wating", 1)
