"""What a response, a failure or a rule means for the task."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import config, urls
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine import clock
from windrow.crawler.machine.clock import Clock
from windrow.crawler.outcome import Archived, Outcome, Reading
from windrow.decide import Decision
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope
from windrow.records import Access, Capture, Failure, History, Kind, Link, Origin, Place, Reason, Task, Url

NOW = 1_800_000_000.0
SCOPE = Scope(config.ScopeOptions())
STATUSES = {
    200: Reason.OK,
    204: Reason.OK,
    299: Reason.OK,
    300: Reason.BAD_STATUS,
    301: Reason.REDIRECT,
    302: Reason.REDIRECT,
    303: Reason.REDIRECT,
    304: Reason.BAD_STATUS,
    307: Reason.REDIRECT,
    308: Reason.REDIRECT,
    400: Reason.CLIENT_ERROR,
    401: Reason.FORBIDDEN,
    402: Reason.FORBIDDEN,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    410: Reason.NOT_FOUND,
    418: Reason.CLIENT_ERROR,
    429: Reason.THROTTLED,
    451: Reason.FORBIDDEN,
    500: Reason.SERVER_ERROR,
    503: Reason.SERVER_ERROR,
    599: Reason.SERVER_ERROR,
    100: Reason.BAD_STATUS,
    600: Reason.BAD_STATUS,
    999: Reason.BAD_STATUS,
}
RETRY_AFTER = [
    ("120", 120.0),
    ("0", 0.0),
    ("99999999999999999999", 86400.0),
    ("Fri, 15 Jan 2027 09:00:00 GMT", 3600.0),
    ("Fri, 15 Jan 2027 07:00:00 GMT", None),
    ("Fri, 15 Jan 2077 08:00:00 GMT", 86400.0),
    ("-5", None),
    ("soon", None),
    ("1.5", None),
    ("²", None),
    ("", None),
    ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", None),
]


def url(text: str = "http://a.test/page") -> Url:
    found = urls.parse(text)
    assert found is not None
    return found


def capture(status: int = 200, *fields: tuple[str, str], task: Task | None = None, truncated: str = "") -> Capture:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    head = f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode("latin-1")
    return Capture(
        task or Task(url()), status, b"", head, b"body", NOW - 0.5, 0.5, "127.0.0.1", "http/1.1", truncated=truncated
    )


def moved(location: str, **fields: object) -> Capture:
    return capture(302, ("Location", location), task=Task(url(), **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "reason"), STATUSES.items())
def test_a_status_is_a_reason(status: int, reason: Reason) -> None:
    assert outcomes.reason(capture(status)) is reason


def test_a_304_says_of_a_page_that_is_visited_again_that_it_has_not_changed() -> None:
    again = Task(url(), history=History(visits=1))
    assert outcomes.answered(capture(304, task=again), SCOPE, 10).reason is Reason.NOT_MODIFIED
    first = Task(url(), history=History())
    assert outcomes.answered(capture(304, task=first), SCOPE, 10).reason is Reason.BAD_STATUS


@pytest.mark.parametrize(
    ("fields", "validators"),
    [
        ([], ("", 0)),
        ([("ETag", 'W/"5f3c"'), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")], ('W/"5f3c"', 784111777)),
        ([("Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT")], ("", 0)),
        ([("Last-Modified", "Sun, 06 Nov 1994 10:49:37 +0200")], ("", 0)),
        ([("Last-Modified", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT")], ("", 0)),
        ([("Last-Modified", "yesterday")], ("", 0)),
    ],
)
def test_validators_are_kept_as_they_must_be_sent_back(
    fields: list[tuple[str, str]], validators: tuple[str, int]
) -> None:
    outcome = outcomes.answered(capture(200, *fields, task=Task(url(), history=History())), SCOPE, 10)
    report = outcomes.report(outcome, None, None, None)
    assert (report.etag, report.modified) == validators


def test_validators_of_a_page_that_is_visited_once_are_not_kept() -> None:
    outcome = outcomes.answered(capture(200, ("ETag", '"1"')), SCOPE, 10)
    assert (outcome.etag, outcome.modified) == ("", 0)


def test_a_503_that_says_when_to_come_back_asks_for_time() -> None:
    assert outcomes.reason(capture(503, ("Retry-After", "5"))) is Reason.THROTTLED


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_obeyed_for_a_day_at_most(status: int, value: str, seconds: float | None) -> None:
    until = outcomes.until(capture(status, ("Retry-After", value)))
    assert until == (0.0 if seconds is None else pytest.approx(NOW + seconds))


def test_retry_after_means_nothing_where_nothing_was_wrong() -> None:
    assert outcomes.until(capture(200, ("Retry-After", "120"))) == 0.0


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=40), st.sampled_from([302, 429, 503]))
def test_no_header_breaks_the_reading_of_a_response(value: str, status: int) -> None:
    outcome = outcomes.answered(capture(status, ("Retry-After", value), ("Location", value)), SCOPE, 10)
    assert outcome.reason in (Reason.REDIRECT, Reason.BAD_REDIRECT, Reason.THROTTLED, Reason.SERVER_ERROR)
    assert 0.0 <= outcome.until <= NOW + 86400


def test_an_error_goes_back_to_its_queue_until_its_attempts_are_used_up() -> None:
    tries = retry.TABLE[Reason.SERVER_ERROR].tries
    outcomes_ = [
        outcomes.answered(capture(500, task=Task(url(), attempt=attempt)), SCOPE, 10) for attempt in range(tries + 1)
    ]
    assert [outcome.final for outcome in outcomes_] == [False] * tries + [True]
    assert {outcome.detail for outcome in outcomes_} == {"status 500"}


def test_a_refusal_is_final_at_once() -> None:
    assert outcomes.answered(capture(403), SCOPE, 10).final


def test_a_response_that_broke_off_is_requested_again_and_kept_at_last() -> None:
    tries = retry.TABLE[Reason.DISCONNECT].tries
    first, last = (
        outcomes.answered(capture(truncated="disconnect", task=Task(url(), attempt=at)), SCOPE, 10) for at in (0, tries)
    )
    assert (first.reason, first.final) == (Reason.DISCONNECT, False)
    assert (last.reason, last.final) == (Reason.OK, True)


def test_a_response_cut_for_its_length_or_time_is_a_page() -> None:
    assert {outcomes.answered(capture(truncated=why), SCOPE, 10).reason for why in ("length", "time")} == {Reason.OK}


def test_the_target_of_a_redirect_is_a_task_one_hop_further() -> None:
    outcome = outcomes.answered(moved("/next", depth=3, redirects=2), SCOPE, 10)
    assert (outcome.reason, outcome.detail, outcome.final) == (Reason.REDIRECT, "http://a.test/next", True)
    [task] = outcome.links
    assert (task.url, task.redirects, task.via) == (url("http://a.test/next"), 3, "http://a.test/page")


@pytest.mark.parametrize(
    "location",
    [
        "",
        "file:///etc/passwd",
        "ftp://a.test/",
        "javascript:alert(1)",
        "data:text/html,hello",
        "gopher://a.test/",
        "s3://bucket/",
        "http://",
    ],
)
def test_a_redirect_to_something_other_than_a_web_page_is_not_followed(location: str) -> None:
    outcome = outcomes.answered(moved(location), SCOPE, 10)
    assert (outcome.reason, outcome.links, outcome.final) == (Reason.BAD_REDIRECT, (), True)


def test_a_redirect_without_a_location_is_not_followed() -> None:
    assert outcomes.answered(capture(301), SCOPE, 10).reason is Reason.BAD_REDIRECT


def test_too_many_redirects_in_a_row_end() -> None:
    assert outcomes.answered(moved("/next", redirects=9), SCOPE, 10).reason is Reason.REDIRECT
    outcome = outcomes.answered(moved("/next", redirects=10), SCOPE, 10)
    assert (outcome.reason, outcome.links) == (Reason.REDIRECTS, ())


def test_a_redirect_out_of_scope_is_counted_by_the_rule_and_not_followed() -> None:
    outcome = outcomes.answered(moved("http://a.test:22/"), SCOPE, 10)
    assert (outcome.reason, outcome.links, outcome.refused) == (Reason.REDIRECT, (), {"port": 1})


def test_user_names_and_passwords_are_not_carried_along() -> None:
    [task] = outcomes.answered(moved("http://user:secret@b.test/"), SCOPE, 10).links
    assert task.url.text == "http://b.test/"


@pytest.mark.parametrize(("file", "status"), [("robots", 301), ("tdmrep", 302)])
def test_a_well_known_file_that_moved_is_requested_there_five_times_at_most(file: str, status: int) -> None:
    task = Task(url("http://a.test/file"), kind=Kind.FILE, file=file)
    hops: list[str] = []
    while (there := outcomes.moved(capture(status, ("Location", f"http://b.test/{len(hops)}"), task=task))) is not None:
        hops.append(there.text)
        task = msgspec.structs.replace(task, url=there, redirects=task.redirects + 1, via="http://a.test")
    assert hops == [f"http://b.test/{hop}" for hop in range(5)]


def test_a_robots_txt_that_is_present_or_has_no_usable_target_did_not_move() -> None:
    task = Task(url("http://a.test/robots.txt"), kind=Kind.FILE, file="robots")
    assert outcomes.moved(capture(200, ("Location", "/elsewhere"), task=task)) is None
    assert outcomes.moved(capture(302, ("Location", "ftp://a.test/"), task=task)) is None
    assert outcomes.moved(capture(302, task=task)) is None


def test_a_failure_says_whether_the_task_is_tried_again() -> None:
    failure = Failure(Task(url()), Reason.TIMEOUT, "no whole header", NOW, 20.0, 17)
    outcome = outcomes.failed(failure)
    assert (outcome.reason, outcome.detail, outcome.time, outcome.seconds, outcome.downloaded) == (
        Reason.TIMEOUT,
        "no whole header",
        NOW,
        20.0,
        17,
    )
    assert not outcome.final and outcome.requested
    assert outcomes.failed(Failure(Task(url(), kind=Kind.FILE, file="robots"), Reason.TIMEOUT, "", NOW)).final, (
        "robots.txt has a table of its own"
    )


def test_links_become_tasks_and_those_refused_are_counted() -> None:
    scope = Scope(config.ScopeOptions(max_depth=2, homepages=False))
    links = [Link(url("http://a.test/1")), Link(url("http://b.test/2"))]
    refused: dict[str, int] = {"nofollow": 1}
    found = outcomes.followed(Task(url(), depth=1), links, scope, refused)
    assert [(task.url.text, task.depth, task.distance, task.via) for task in found] == [
        ("http://a.test/1", 2, 0, "http://a.test/page"),
        ("http://b.test/2", 2, 1, "http://a.test/page"),
    ]
    assert outcomes.followed(Task(url(), depth=2), links, scope, refused) == ()
    assert refused == {"nofollow": 1, "depth": 2}


def test_a_task_has_the_hints_of_its_link_and_the_home_page_of_another_host_has_none() -> None:
    links = [Link(url("http://a.test/1"), hints=b"\0\1"), Link(url("http://b.test/2"), hints=b"\0\2")]
    found = outcomes.followed(Task(url(), hints=b"\0\7"), links, Scope(config.ScopeOptions(homepages=True)), {})
    assert {task.url.text: task.hints for task in found} == {
        "http://a.test/1": b"\0\1",
        "http://b.test/2": b"\0\2",
        "http://b.test/": b"",
    }


def test_the_target_of_a_redirect_has_the_hints_of_the_link_that_led_there() -> None:
    [target] = outcomes.answered(moved("/next", hints=b"\0\7"), SCOPE, 10).links
    assert target.hints == b"\0\7"


class Frozen(Clock):
    def now(self) -> float:
        return NOW


CLOCK = Frozen()
ORIGIN = Origin(name="http://a.test", stamp=3.0, fetched=1.0, expires=9.0)


def test_a_report_is_put_together_from_what_every_stage_returned() -> None:
    outcome = outcomes.answered(capture(), SCOPE, 10, rules=3.0)
    links = (Task(url("http://a.test/next")),)
    reading = Reading(links, {"suffix": 2}, 77)
    decision = Decision(
        reason=Reason.LANGUAGE, detail="eng", language="eng", scores={"language": 0.5}, clean=9, primary=1, text=5
    )
    archived = Archived(7, Place("warc/x.warc.gz", 10, 20), "DIGEST")
    report = outcomes.report(outcome, reading, decision, archived)
    assert (report.seq, report.place, report.digest) == (7, Place("warc/x.warc.gz", 10, 20), "DIGEST")
    assert (report.reason, report.detail, report.language, report.scores) == (
        Reason.LANGUAGE,
        "eng",
        "eng",
        {"language": 0.5},
    )
    assert (report.clean, report.primary, report.kept, report.text) == (9, 1, 0, 5)
    assert (report.links, report.refused, report.shape, report.rules) == (links, {"suffix": 2}, 77, 3.0)
    assert (report.task, report.status, report.time, report.seconds) == (outcome.task, 200, NOW, 0.5)


def test_a_report_without_a_page_has_what_the_exchange_gave() -> None:
    outcome = outcomes.answered(moved("/next"), SCOPE, 10)
    report = outcomes.report(outcome, None, None, None)
    assert (report.seq, report.place, report.reason, report.detail) == (0, None, Reason.REDIRECT, "http://a.test/next")
    assert report.links == outcome.links != ()


def test_robots_txt_forbids_what_it_disallows_and_all_of_a_closed_origin() -> None:
    rules = msgspec.structs.replace(ORIGIN, rules="user-agent: *\ndisallow: /p")
    outcome = outcomes.forbidden(Task(url()), rules, CLOCK)
    assert outcome is not None
    assert (outcome.reason, outcome.detail, outcome.rules, outcome.requested) == (
        Reason.ROBOTS,
        "disallow: /p",
        3.0,
        False,
    )
    assert outcomes.forbidden(Task(url("http://a.test/other")), rules, CLOCK) is None
    closed = msgspec.structs.replace(ORIGIN, access=Access.CLOSED)
    unreachable = outcomes.forbidden(Task(url()), closed, CLOCK)
    assert unreachable is not None and unreachable.reason is Reason.ROBOTS_UNREACHABLE
    assert outcomes.forbidden(Task(url()), msgspec.structs.replace(rules, access=Access.STALE), CLOCK) == outcome


def test_a_task_of_a_closed_host_ends_without_a_request() -> None:
    outcome: Outcome = outcomes.closed(Task(url()), Reason.LOW_YIELD, NOW)
    assert (outcome.reason, outcome.final, outcome.requested) == (Reason.LOW_YIELD, True, False)
    assert "retired" in outcome.detail


@pytest.mark.parametrize("jump", [-1e9, -60.0, 60.0, 1e9])
def test_an_outcome_is_re_stamped_if_the_system_clock_jumped(jump: float) -> None:
    assert clock.steady(capture(), NOW + 0.2) == capture(), "a little off is not moved"
    seen = clock.steady(capture(), NOW + jump)
    assert seen.time + seen.seconds == pytest.approx(NOW + jump, abs=0.01)
    failure = Failure(Task(url()), Reason.TIMEOUT, "", NOW, 20.0)
    assert clock.steady(failure, NOW) == failure
    assert clock.steady(failure, NOW + jump).time == pytest.approx(NOW + jump, abs=0.01)
