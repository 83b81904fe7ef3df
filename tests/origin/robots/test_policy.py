"""What an answer, or its lack, means for the origin."""

from typing import Any

import pytest

from tests.origin.robots.support import HOME
from windrow.config import Config, FetchOptions
from windrow.origin import robots
from windrow.records import Access, Capture, Failure, FileState, Kind, Origin, OriginFile, Reason, Task, Url

TASK = Task(Url(HOME, "site.test", "site.test", 1), kind=Kind.FILE, file="robots")


CONFIG = FetchOptions()


BODY = b"User-agent: *\nDisallow: /a\n"


def capture(status: int = 200, body: bytes = BODY, *headers: str, **more: Any) -> Capture:
    head = "\r\n".join((f"HTTP/1.1 {status} X", *headers, "", "")).encode()
    return Capture(TASK, status, b"", head, body, 1000.0, 0.5, "127.0.0.1", "http/1.1", **more)


def learn(answer: Capture | Failure, fetch: FetchOptions = CONFIG, known: Origin | None = None) -> Origin:
    return robots.learn("http://site.test", known, answer, Config(fetch=fetch))


def record(rules: str = "", life: float = 86400.0, **fields: Any) -> Origin:
    return Origin(name="http://site.test", stamp=1000.0, fetched=1000.0, expires=1000.0 + life, rules=rules, **fields)


def test_a_file_is_obeyed_for_a_day() -> None:
    assert learn(capture()) == record("user-agent: *\ndisallow: /a", 86400)


@pytest.mark.parametrize("status", [301, 302, 308, 304, 400, 401, 403, 404, 410, 418, 451, 499])
def test_a_missing_file_means_no_rules(status: int) -> None:
    assert learn(capture(status)) == record("", 86400)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 100, 600, 999, 0])
def test_an_unavailable_file_closes_the_origin(status: int) -> None:
    assert learn(capture(status)) == record("", 3600, access=Access.CLOSED)


@pytest.mark.parametrize("status", [401, 403])
def test_a_forbidden_file_closes_the_origin_by_option(status: int) -> None:
    assert learn(capture(status), FetchOptions(forbidden_robots_closes=True)) == record("", 86400, access=Access.CLOSED)


@pytest.mark.parametrize(
    "reason",
    [
        Reason.TIMEOUT,
        Reason.CONNECT,
        Reason.DNS,
        Reason.TLS,
        Reason.DISCONNECT,
        Reason.PROTOCOL,
        Reason.BLOCKED_ADDRESS,
    ],
)
def test_a_failure_closes_the_origin(reason: Reason) -> None:
    assert learn(Failure(TASK, reason, "", 1000.0)).access is Access.CLOSED


@pytest.mark.parametrize("reason", [Reason.REDIRECTS, Reason.BAD_REDIRECT])
def test_a_redirect_without_a_usable_target_means_no_rules(reason: Reason) -> None:
    assert learn(Failure(TASK, reason, "", 1000.0)) == record("", 86400)


@pytest.mark.parametrize("more", [{"truncated": "time"}, {"truncated": "disconnect"}, {"encoded": True}])
def test_an_incomplete_file_closes_the_origin(more: dict[str, Any]) -> None:
    assert learn(capture(200, BODY, **more)).access is Access.CLOSED


def test_a_file_cut_at_the_size_limit_is_read_up_to_its_last_complete_line() -> None:
    found = learn(capture(200, BODY + b"Disallow: /", truncated="length"))
    assert (found.rules, found.access) == ("user-agent: *\ndisallow: /a", Access.OPEN)
    assert (
        learn(capture(200, BODY + b"Disallow: /b"), FetchOptions(robots_max_bytes=len(BODY) + 11)).rules
        == "user-agent: *\ndisallow: /a"
    )


def test_a_web_page_means_no_rules_with_status_200_and_closes_the_origin_with_202() -> None:
    page = b"<!doctype html><html><script>challenge()</script></html>"
    assert learn(capture(200, page)) == record("", 86400)
    assert learn(capture(200, b"\x89PNG\r\n\x1a\n" + bytes(range(256)))).rules == ""
    assert learn(capture(202, page)).access is Access.CLOSED
    assert learn(capture(204, b"")).access is Access.OPEN
    assert learn(capture(203)).rules == "user-agent: *\ndisallow: /a"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Cache-Control: max-age=7200", 7200),
        ("Cache-Control: public, MAX-AGE=7200", 7200),
        ("cache-control: max-age=10", 3600),
        ("Cache-Control: no-cache", 3600),
        ("Cache-Control: max-age=999999999", 86400),
        ("Cache-Control: max-age=x", 86400),
        ("Age: 5", 86400),
    ],
)
def test_cache_control_shortens_the_day_but_not_below_an_hour(header: str, seconds: float) -> None:
    assert learn(capture(200, BODY, header)).expires == 1000.0 + seconds


@pytest.mark.parametrize(
    ("wait", "seconds"), [("120", 120), ("0", 1), ("999999999999", 86400), ("soon", 3600), ("-1", 3600), ("²", 3600)]
)
def test_a_closed_origin_is_requested_again_after_retry_after(wait: str, seconds: float) -> None:
    head = f"HTTP/1.1 503 X\r\nRetry-After: {wait}\r\n\r\n".encode("latin-1")
    answer = Capture(TASK, 503, b"", head, b"", 1000.0, 0.5, "127.0.0.1", "http/1.1")
    assert learn(answer).expires == 1000.0 + seconds


def test_the_option_robots_ttl_sets_the_lifetime_up_to_a_day() -> None:
    assert learn(capture(), FetchOptions(robots_ttl=60)).expires == 1060.0
    assert learn(capture(503), FetchOptions(robots_ttl=60)).expires == 1060.0
    assert learn(capture(), FetchOptions(robots_ttl=10**6)).expires == 1000.0 + 86400


def test_relative_sitemaps_are_resolved_against_the_url_of_the_file() -> None:
    found = robots.learn("http://other.test", None, capture(200, b"Sitemap: /s.xml"), Config())
    assert (found.name, found.rules) == ("http://other.test", "sitemap: http://site.test/s.xml")


OLD = Origin(
    name="http://site.test",
    stamp=500.0,
    fetched=500.0,
    expires=900.0,
    delay=3.0,
    rules="user-agent: *\ndisallow: /old",
    files={"tdmrep": OriginFile(FileState.ABSENT)},
)


@pytest.mark.parametrize("answer", [capture(503), Failure(TASK, Reason.TIMEOUT, "", 1000.0)])
def test_while_the_file_is_unavailable_an_earlier_copy_stays_in_force(answer: Capture | Failure) -> None:
    found = learn(answer, known=OLD)
    assert (found.access, found.rules, found.delay, found.files) == (Access.STALE, OLD.rules, 3.0, OLD.files)
    assert (found.fetched, found.expires, found.stamp) == (500.0, 1000.0 + 3600, 1000.0)


def test_a_stale_copy_stays_in_force_for_a_month_after_it_was_fetched() -> None:
    def after(seconds: float) -> Access:
        return learn(Failure(TASK, Reason.TIMEOUT, "", OLD.fetched + seconds), known=OLD).access

    assert after(robots.STALE) is Access.STALE
    assert after(robots.STALE + 1) is Access.CLOSED


def test_a_closed_origin_has_no_copy_to_keep() -> None:
    closed = learn(capture(503))
    assert learn(capture(503), known=closed).access is Access.CLOSED
    assert learn(capture(), known=closed) == record("user-agent: *\ndisallow: /a")
