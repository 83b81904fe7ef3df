"""The table of failures: retries, pauses and closings."""

import pytest

from windrow.config import FetchOptions
from windrow.frontier.policy import retry
from windrow.records import Reason


@pytest.mark.parametrize(
    "reason",
    [
        Reason.OK,
        Reason.REDIRECT,
        Reason.NOT_FOUND,
        Reason.FORBIDDEN,
        Reason.ROBOTS,
        Reason.HOST_DEAD,
        Reason.PARSE_CRASH,
    ],
)
def test_a_final_outcome_is_not_retried(reason: Reason) -> None:
    assert not retry.again(reason, 0)


@pytest.mark.parametrize(
    ("reason", "tries"),
    [(Reason.TIMEOUT, 3), (Reason.SERVER_ERROR, 8), (Reason.NO_SUCH_HOST, 1), (Reason.THROTTLED, 20)],
)
def test_a_temporary_failure_is_retried_this_many_times(reason: Reason, tries: int) -> None:
    assert [retry.again(reason, attempt) for attempt in range(tries + 2)] == [True] * tries + [False] * 2


def test_pauses_double_up_to_a_limit() -> None:
    fetch = FetchOptions(delay=5.0, backoff=1.0, max_backoff=100.0)
    assert [retry.pause(Reason.SERVER_ERROR, errors, 5.0, fetch) for errors in (0, 1, 2, 3, 5, 6, 1000)] == [
        0,
        5,
        10,
        20,
        80,
        100,
        100,
    ]


def test_without_a_delay_pauses_begin_at_the_backoff() -> None:
    assert retry.pause(Reason.TIMEOUT, 1, 0.0, FetchOptions(backoff=0.5)) == 0.5


def test_a_host_that_forbids_requests_rests_a_minute_at_most() -> None:
    assert retry.pause(Reason.FORBIDDEN, 30, 5.0, FetchOptions()) == 60.0


def test_a_success_needs_no_pause() -> None:
    assert retry.pause(Reason.OK, 3, 5.0, FetchOptions()) == 0.0


def test_failures_in_a_row_close_a_host() -> None:
    fetch = FetchOptions(host_failures=3)
    assert [retry.closes(Reason.CONNECT, failures, fetch) for failures in (1, 2, 3)] == [None, None, Reason.HOST_DEAD]
    assert [retry.closes(Reason.NO_SUCH_HOST, failures, fetch) for failures in (1, 2)] == [None, Reason.NO_SUCH_HOST]
    assert retry.closes(Reason.BLOCKED_ADDRESS, 1, fetch) is Reason.BLOCKED_ADDRESS


@pytest.mark.parametrize(
    "reason", [Reason.SERVER_ERROR, Reason.THROTTLED, Reason.FORBIDDEN, Reason.NOT_FOUND, Reason.OK]
)
def test_a_host_that_responds_is_never_closed_for_failures(reason: Reason) -> None:
    assert retry.closes(reason, 1000, FetchOptions()) is None


def test_the_pace_slows_when_a_host_throttles_and_recovers_with_successes() -> None:
    fetch = FetchOptions(delay=1.0, backoff=1.0, max_crawl_delay=60.0)
    pace = 0.0
    for _ in range(3):
        pace = retry.pace(Reason.THROTTLED, pace, 1.0, fetch)
    assert pace == 8.0
    for _ in range(200):
        pace = retry.pace(Reason.OK, pace, 1.0, fetch)
    assert pace == 0.0


def test_the_pace_has_a_limit() -> None:
    fetch = FetchOptions(max_crawl_delay=60.0)
    assert retry.pace(Reason.THROTTLED, 50.0, 5.0, fetch) == 60.0


def test_dns_has_to_say_three_times_that_a_name_does_not_exist() -> None:
    assert [retry.doubts(Reason.NO_SUCH_HOST, attempt) for attempt in range(4)] == [True, True, False, False]
    assert not retry.doubts(Reason.DNS, 0) and not retry.doubts(None, 0)
    assert retry.spacing(FetchOptions(no_such_host_seconds=600.0)) == 300.0
