"""What the visits to a URL show, and what a policy is told."""

import math

import pytest

from tests.logs import task
from windrow.frontier.policy import revisit
from windrow.records import History, Reason, Report

DIGESTS = {"a": "A" * 32, "b": "B" * 32}


def report(time: float, payload: str = "", reason: Reason = Reason.OK, status: int = 200, **fields: object) -> Report:
    digest = DIGESTS.get(payload, "")
    return Report(0, task("x"), reason, "", time, status=status, digest=digest, **fields)  # type: ignore[arg-type]


def history(*reports: Report) -> History:
    found = History()
    for each in reports:
        found = revisit.after(found, each)
    return found


def test_a_url_is_visited_once_by_default() -> None:
    assert revisit.never(history(report(10.0, "a")), report(10.0, "a")) == 0.0


def test_changes_and_the_time_without_any_are_counted() -> None:
    seen = history(report(100.0, "a"), report(160.0, "a"), report(200.0, "b"), report(300.0, "b"))
    assert (seen.visits, seen.fetches, seen.changes) == (4, 4, 1)
    assert (seen.first, seen.last, seen.unchanged) == (100, 300, 160)


def test_a_page_that_is_not_modified_is_a_fetch_without_a_change_and_keeps_its_validators() -> None:
    first = report(100.0, "a", etag='"1"', modified=50)
    seen = history(first, report(160.0, reason=Reason.NOT_MODIFIED, status=304))
    assert (seen.fetches, seen.changes, seen.unchanged, seen.last) == (2, 0, 60, 160)
    assert (seen.reason, seen.etag, seen.modified) == (Reason.NOT_MODIFIED, '"1"', 50)
    assert seen.digest == history(first).digest


def test_a_new_payload_brings_its_own_validators_or_none() -> None:
    seen = history(report(100.0, "a", etag='"1"', modified=50), report(160.0, "b", modified=70))
    assert (seen.etag, seen.modified) == ("", 70)


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.ROBOTS, Reason.NOT_FOUND])
def test_a_visit_without_a_page_is_no_fetch(reason: Reason) -> None:
    failed = report(160.0, reason=reason, status=404 if reason is Reason.NOT_FOUND else 0)
    seen = history(report(100.0, "a", etag='"1"'), failed)
    assert (seen.visits, seen.reason) == (2, reason)
    assert (seen.fetches, seen.last, seen.etag) == (1, 100, '"1"')


def test_an_etag_that_is_too_long_is_not_kept() -> None:
    assert history(report(100.0, "a", etag="x" * (revisit.MOST_ETAG + 1))).etag == ""


def test_the_history_is_enough_for_a_posterior_over_rates_of_change() -> None:
    """Of pages that are visited at irregular times, the likelihood of a rate is a product over the intervals. Those
    without a change need their sum alone; the others are taken as equally long."""
    times = [(0, "a"), (10, "a"), (40, "a"), (45, "b"), (50, "a"), (90, "a")]
    seen = history(*[report(1000.0 + time, payload) for time, payload in times])
    for rate in (0.001, 0.02, 0.5):
        exact = -rate * (10 + 30 + 40) + 2 * math.log(-math.expm1(-rate * 5))
        changed = (seen.last - seen.first - seen.unchanged) / seen.changes
        assert math.isclose(-rate * seen.unchanged + seen.changes * math.log(-math.expm1(-rate * changed)), exact)
