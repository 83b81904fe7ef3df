"""What an answer, or its lack, means for the origin."""

from typing import Any

import pytest

from tests.origin.robots.support import HOME
from windrow.config import Fetch
from windrow.data import Capture, Failure, Reason, Robots, Task, Url
from windrow.origin import robots

TASK = Task(Url(HOME, "site.test", "site.test", 1))


CONFIG = Fetch()


BODY = b"User-agent: *\nDisallow: /a\n"


def capture(status: int = 200, body: bytes = BODY, *headers: str, **more: Any) -> Capture:
    head = "\r\n".join((f"HTTP/1.1 {status} X", *headers, "", "")).encode()
    return Capture(TASK, status, b"", head, body, 1000.0, 0.5, "127.0.0.1", "http/1.1", **more)


def verdict(answer: Capture | Failure, config: Fetch = CONFIG) -> Robots:
    return robots.verdict("http://site.test", answer, config, "windrow")


def test_a_file_is_obeyed_for_a_day() -> None:
    assert verdict(capture()) == Robots("http://site.test", "user-agent: *\ndisallow: /a", 1000.0, 1000.0 + 86400)


@pytest.mark.parametrize("status", [301, 302, 308, 304, 400, 401, 403, 404, 410, 418, 451, 499])
def test_a_missing_file_means_no_rules(status: int) -> None:
    assert verdict(capture(status)) == Robots("http://site.test", "", 1000.0, 1000.0 + 86400)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 100, 600, 999, 0])
def test_an_unavailable_file_closes_the_origin(status: int) -> None:
    assert verdict(capture(status)) == Robots("http://site.test", "", 1000.0, 1000.0 + 3600, closed=True)


@pytest.mark.parametrize("status", [401, 403])
def test_a_forbidden_file_closes_the_origin_by_option(status: int) -> None:
    assert verdict(capture(status), Fetch(forbidden_robots_closes=True)) == Robots(
        "http://site.test", "", 1000.0, 1000.0 + 86400, closed=True
    )


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
    assert verdict(Failure(TASK, reason, "", 1000.0)).closed


@pytest.mark.parametrize("reason", [Reason.REDIRECTS, Reason.BAD_REDIRECT])
def test_a_redirect_without_a_usable_target_means_no_rules(reason: Reason) -> None:
    assert verdict(Failure(TASK, reason, "", 1000.0)) == Robots("http://site.test", "", 1000.0, 1000.0 + 86400)


@pytest.mark.parametrize("more", [{"truncated": "time"}, {"truncated": "disconnect"}, {"encoded": True}])
def test_an_incomplete_file_closes_the_origin(more: dict[str, Any]) -> None:
    assert verdict(capture(200, BODY, **more)).closed


def test_a_file_cut_at_the_size_limit_is_read_up_to_its_last_complete_line() -> None:
    found = verdict(capture(200, BODY + b"Disallow: /", truncated="length"))
    assert (found.rules, found.closed) == ("user-agent: *\ndisallow: /a", False)
    assert (
        verdict(capture(200, BODY + b"Disallow: /b"), Fetch(robots_max_bytes=len(BODY) + 11)).rules
        == "user-agent: *\ndisallow: /a"
    )


def test_a_web_page_means_no_rules_with_status_200_and_closes_the_origin_with_202() -> None:
    page = b"<!doctype html><html><script>challenge()</script></html>"
    assert verdict(capture(200, page)) == Robots("http://site.test", "", 1000.0, 1000.0 + 86400)
    assert verdict(capture(200, b"\x89PNG\r\n\x1a\n" + bytes(range(256)))).rules == ""
    assert verdict(capture(202, page)).closed
    assert not verdict(capture(204, b"")).closed
    assert verdict(capture(203)).rules == "user-agent: *\ndisallow: /a"


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
    assert verdict(capture(200, BODY, header)).expires == 1000.0 + seconds


@pytest.mark.parametrize(
    ("wait", "seconds"), [("120", 120), ("0", 1), ("999999999999", 86400), ("soon", 3600), ("-1", 3600), ("²", 3600)]
)
def test_a_closed_origin_is_requested_again_after_retry_after(wait: str, seconds: float) -> None:
    head = f"HTTP/1.1 503 X\r\nRetry-After: {wait}\r\n\r\n".encode("latin-1")
    answer = Capture(TASK, 503, b"", head, b"", 1000.0, 0.5, "127.0.0.1", "http/1.1")
    assert verdict(answer).expires == 1000.0 + seconds


def test_the_option_robots_ttl_sets_the_lifetime_up_to_a_day() -> None:
    assert verdict(capture(), Fetch(robots_ttl=60)).expires == 1060.0
    assert verdict(capture(503), Fetch(robots_ttl=60)).expires == 1060.0
    assert verdict(capture(), Fetch(robots_ttl=10**6)).expires == 1000.0 + 86400


def test_relative_sitemaps_are_resolved_against_the_url_of_the_file() -> None:
    found = robots.verdict("http://other.test", capture(200, b"Sitemap: /s.xml"), CONFIG, "windrow")
    assert (found.origin, found.rules) == ("http://other.test", "sitemap: http://site.test/s.xml")
