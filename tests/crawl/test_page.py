"""The life of a page, station by station: what a server says, and what it means for the URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import config, urls
from windrow.crawl import loop, page
from windrow.data import Capture, Failure, Kind, Link, Place, Reason, Task, Url
from windrow.frontier.policy import retry
from windrow.frontier.policy.scope import Scope

NOW = 1_800_000_000.0
SCOPE = Scope(config.Scope())
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
    assert page.reason(capture(status)) is reason


def test_a_503_that_says_when_to_come_back_asks_for_time() -> None:
    assert page.reason(capture(503, ("Retry-After", "5"))) is Reason.THROTTLED


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_obeyed_for_a_day_at_most(status: int, value: str, seconds: float | None) -> None:
    until = page.until(capture(status, ("Retry-After", value)))
    assert until == (0.0 if seconds is None else pytest.approx(NOW + seconds))


def test_retry_after_means_nothing_where_nothing_was_wrong() -> None:
    assert page.until(capture(200, ("Retry-After", "120"))) == 0.0


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=40), st.sampled_from([302, 429, 503]))
def test_no_header_makes_a_report_fail(value: str, status: int) -> None:
    report = page.answered(capture(status, ("Retry-After", value), ("Location", value)), SCOPE, 10)
    assert report.reason in (Reason.REDIRECT, Reason.BAD_REDIRECT, Reason.THROTTLED, Reason.SERVER_ERROR)
    assert 0.0 <= report.until <= NOW + 86400


def test_an_error_goes_back_to_its_queue_until_its_tries_are_used_up() -> None:
    tries = retry.TABLE[Reason.SERVER_ERROR].tries
    reports = [
        page.answered(capture(500, task=Task(url(), attempt=attempt)), SCOPE, 10) for attempt in range(tries + 1)
    ]
    assert [report.final for report in reports] == [False] * tries + [True]
    assert {report.detail for report in reports} == {"status 500"}


def test_a_refusal_is_final_at_once() -> None:
    assert page.answered(capture(403), SCOPE, 10).final


def test_an_answer_that_broke_off_is_tried_again_and_kept_at_last() -> None:
    tries = retry.TABLE[Reason.DISCONNECT].tries
    first, last = (
        page.answered(capture(truncated="disconnect", task=Task(url(), attempt=at)), SCOPE, 10) for at in (0, tries)
    )
    assert (first.reason, first.final) == (Reason.DISCONNECT, False)
    assert (last.reason, last.final) == (Reason.OK, True)


def test_what_is_cut_for_its_length_or_time_is_a_page() -> None:
    assert {page.answered(capture(truncated=why), SCOPE, 10).reason for why in ("length", "time")} == {Reason.OK}


def test_the_target_of_a_redirect_is_a_task_like_a_link_one_hop_on() -> None:
    report = page.answered(moved("/next", depth=3, redirects=2), SCOPE, 10)
    assert (report.reason, report.detail, report.final) == (Reason.REDIRECT, "http://a.test/next", True)
    [task] = report.found
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
def test_a_redirect_to_what_is_not_a_web_page_goes_nowhere(location: str) -> None:
    report = page.answered(moved(location), SCOPE, 10)
    assert (report.reason, report.found, report.final) == (Reason.BAD_REDIRECT, (), True)


def test_a_redirect_without_a_location_goes_nowhere() -> None:
    assert page.answered(capture(301), SCOPE, 10).reason is Reason.BAD_REDIRECT


def test_too_many_redirects_in_a_row_end() -> None:
    assert page.answered(moved("/next", redirects=9), SCOPE, 10).reason is Reason.REDIRECT
    report = page.answered(moved("/next", redirects=10), SCOPE, 10)
    assert (report.reason, report.found) == (Reason.REDIRECTS, ())


def test_a_redirect_out_of_scope_is_counted_by_the_rule_and_not_followed() -> None:
    report = page.answered(moved("http://a.test:22/"), SCOPE, 10)
    assert (report.reason, report.found, report.refused) == (Reason.REDIRECT, (), {"port": 1})


def test_user_names_and_passwords_are_not_carried_along() -> None:
    [task] = page.answered(moved("http://user:secret@b.test/"), SCOPE, 10).found
    assert task.url.text == "http://b.test/"


def test_a_robots_txt_that_moved_is_asked_for_there_on_behalf_of_its_origin() -> None:
    task = Task(url("http://a.test/robots.txt"), Kind.ROBOTS)
    hops: list[Task] = []
    while (onward := page.moved(capture(301, ("Location", f"http://b.test/{len(hops)}"), task=task))) is not None:
        hops.append(onward)
        task = onward
    assert len(hops) == 5
    assert {(hop.kind, hop.via, hop.url.host) for hop in hops} == {(Kind.ROBOTS, "http://a.test", "b.test")}


def test_a_tdmrep_json_that_moved_is_asked_for_in_the_same_way() -> None:
    task = Task(url("http://a.test/.well-known/tdmrep.json"), Kind.TDMREP)
    onward = page.moved(capture(302, ("Location", "https://b.test/policy"), task=task))
    assert onward is not None
    assert (onward.kind, onward.via, onward.url.text, onward.redirects) == (
        Kind.TDMREP,
        "http://a.test",
        "https://b.test/policy",
        1,
    )


def test_a_robots_txt_that_is_there_or_moved_to_nowhere_ends_here() -> None:
    task = Task(url("http://a.test/robots.txt"), Kind.ROBOTS)
    assert page.moved(capture(200, ("Location", "/elsewhere"), task=task)) is None
    assert page.moved(capture(302, ("Location", "ftp://a.test/"), task=task)) is None
    assert page.moved(capture(302, task=task)) is None


def test_a_failure_is_a_report_that_says_whether_it_is_tried_again() -> None:
    failure = Failure(Task(url()), Reason.TIMEOUT, "no whole header", NOW, 20.0, 17)
    report = page.failed(failure)
    assert (report.reason, report.detail, report.time, report.seconds, report.downloaded) == (
        Reason.TIMEOUT,
        "no whole header",
        NOW,
        20.0,
        17,
    )
    assert not report.final and report.place is None
    assert page.failed(Failure(Task(url(), Kind.ROBOTS), Reason.TIMEOUT, "", NOW)).final, (
        "robots.txt has a table of its own"
    )


def test_links_become_tasks_and_those_refused_are_counted() -> None:
    scope = Scope(config.Scope(max_depth=2, homepages=False))
    links = [Link(url("http://a.test/1")), Link(url("http://b.test/2"))]
    refused: dict[str, int] = {"nofollow": 1}
    found = page.followed(Task(url(), depth=1), links, scope, refused)
    assert [(task.url.text, task.depth, task.distance, task.via) for task in found] == [
        ("http://a.test/1", 2, 0, "http://a.test/page"),
        ("http://b.test/2", 2, 1, "http://a.test/page"),
    ]
    assert page.followed(Task(url(), depth=2), links, scope, refused) == ()
    assert refused == {"nofollow": 1, "depth": 2}


def test_an_archived_report_says_where() -> None:
    report = page.archived(page.answered(capture(), SCOPE, 10), 7, Place("warc/x.warc.gz", 10, 20), "DIGEST")
    assert (report.seq, report.place, report.digest, report.reason) == (
        7,
        Place("warc/x.warc.gz", 10, 20),
        "DIGEST",
        Reason.OK,
    )


@pytest.mark.parametrize("jump", [-1e9, -60.0, 60.0, 1e9])
def test_what_a_moved_clock_says_is_dated_by_ours(jump: float) -> None:
    assert loop.steady(capture(), NOW + 0.2) == capture(), "a little off is not moved"
    seen = loop.steady(capture(), NOW + jump)
    assert seen.time + seen.seconds == pytest.approx(NOW + jump, abs=0.01)
    failure = Failure(Task(url()), Reason.TIMEOUT, "", NOW, 20.0)
    assert loop.steady(failure, NOW) == failure
    assert loop.steady(failure, NOW + jump).time == pytest.approx(NOW + jump, abs=0.01)
