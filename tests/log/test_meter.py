"""The counts for metrics are the same for reports and for the lines of the log."""

from pathlib import Path

from tests.logs import entry, frame, page, task, write
from windrow import log
from windrow.log import Meter
from windrow.metrics import Family
from windrow.records import Kind, Reason

ENDED = [
    entry(task("robots.txt", kind=Kind.FILE, file="robots"), seconds=0.02, status=404),
    page("a", kept=70, language="ces", seconds=0.3),
    page("b", kept=30, language="ces"),
    page("c", host="www.b.example.com", kept=5, language="deu", seconds=75.0),
    page("d", reason=Reason.SERVER_ERROR, status=503, seconds=0.005),
    entry(task("e"), Reason.TIMEOUT, seconds=30.0, final=False),
    entry(task("f"), Reason.ROBOTS),
    page("g", host="x.c.example", reason=Reason.LOW_YIELD, status=0, seconds=0.0),
    page("h", host="y.c.example", reason=Reason.LOW_YIELD, status=0, seconds=0.0),
    page("i", host="dead.example", reason=Reason.HOST_DEAD, status=0, seconds=0.0),
]


def read(meter: Meter) -> dict[str, dict[tuple[str, ...], float]]:
    def values(family: Family) -> dict[tuple[str, ...], float]:
        return {(one.suffix, *one.labels.values()): one.value for one in family.samples}

    return {family.name: values(family) for family in meter.families()}


def test_requests_durations_languages_and_retired_domains_are_counted() -> None:
    meter = Meter()
    for each in ENDED:
        meter.add_report(each.report)
    found = read(meter)
    assert found["windrow_requests_total"] == {
        ("", "file", "4xx"): 1,
        ("", "page", "2xx"): 3,
        ("", "page", "5xx"): 1,
        ("", "page", "none"): 1,
    }
    durations = found["windrow_request_duration_seconds"]
    bounds = ("0.005", "0.01", "0.025", "0.25", "0.5", "10.0", "30.0", "60.0", "+Inf")
    assert [durations["_bucket", bound] for bound in bounds] == [1, 1, 2, 3, 4, 4, 5, 5, 6]
    assert durations["_count",] == 6 and round(durations["_sum",], 3) == 105.425
    assert found["windrow_text_kept_bytes_total"] == {("", "ces"): 100, ("", "deu"): 5}
    assert found["windrow_documents_total"] == {("", "ces"): 2, ("", "deu"): 1}
    assert found["windrow_domains_retired_total"] == {("", "low-yield"): 1, ("", "host-dead"): 1}


def test_a_running_crawl_and_its_log_give_the_same_counts(tmp_path: Path) -> None:
    write(tmp_path / "log", frame(1, *ENDED[:4]), frame(2, *ENDED[4:]))
    running, logged = Meter(), Meter()
    for each in ENDED:
        running.add_report(each.report)
    totals = log.fold(tmp_path, logged)
    assert read(logged) == read(running)
    requests = read(logged)["windrow_requests_total"]
    assert sum(requests.values()) == totals.tally.requests
    assert sum(read(logged)["windrow_documents_total"].values()) == totals.tally.documents
