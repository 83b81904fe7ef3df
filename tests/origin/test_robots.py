"""robots.txt: groups, matching, limits, what an answer means, and what other suites say."""

import json
import random
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.shared import shared
from windrow.config import Config, Fetch
from windrow.data import Access, Capture, Failure, FileState, Kind, Origin, OriginFile, Reason, Task, Url
from windrow.origin import robots
from windrow.origin.robots import Ruleset

HOME = "http://site.test/robots.txt"


def read(text: str | bytes, agent: str = "windrow") -> Ruleset:
    return robots.parse(robots.condense(text if isinstance(text, bytes) else text.encode(), agent, HOME))


def rules(*lines: str) -> Ruleset:
    return read("\n".join(("User-agent: *", *lines)))


# Groups


def test_an_empty_file_allows_everything_and_condenses_to_nothing() -> None:
    assert robots.condense(b"", "windrow") == ""
    assert robots.condense(b"User-agent: *\nDisallow:\n", "windrow") == ""
    assert read("").allows("/x") and read("").decide("/x") == (True, "")


def test_the_condensed_text_is_a_robots_file_with_our_group_alone() -> None:
    text = "User-agent: other\nDisallow: /o\n\nUser-Agent: Windrow\nDISALLOW: /a b\nAllow:/a%62\nCrawl-delay: 2\nSitemap: /s.xml\n"
    assert robots.condense(text.encode(), "Windrow", HOME).split("\n") == [
        "user-agent: windrow",
        "disallow: /a%20b",
        "allow: /ab",
        "crawl-delay: 2",
        "sitemap: http://site.test/s.xml",
    ]


def test_all_groups_that_name_us_are_one() -> None:
    found = read(
        "User-agent: windrow\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: WINDROW\nDisallow: /b"
    )
    assert [found.allows(path) for path in ("/a", "/b", "/x", "/c")] == [False, False, True, True]


def test_the_general_group_counts_only_where_none_names_us() -> None:
    text = "User-agent: *\nDisallow: /\nCrawl-delay: 9\n\nUser-agent: windrow\nDisallow: /a"
    assert read(text).allows("/b") and read(text).delay is None
    assert not read(text, "other").allows("/b") and read(text, "other").delay == 9


def test_a_group_that_names_us_and_holds_nothing_allows_everything() -> None:
    assert read("User-agent: *\nDisallow: /\n\nUser-agent: windrow").allows("/a")


@pytest.mark.parametrize(
    "line", ["Sitemap: http://a.test/s", "Content-Usage: train-ai=n", "Crawl-delay: 1", "Nonsense: 1", "???", "", "# x"]
)
def test_no_line_but_a_rule_ends_a_list_of_agents(line: str) -> None:
    assert not read(f"User-agent: windrow\n{line}\nUser-agent: other\nDisallow: /").allows("/a")


def test_a_rule_ends_a_list_of_agents_even_when_it_is_empty() -> None:
    assert read("User-agent: windrow\nDisallow:\nUser-agent: other\nDisallow: /").allows("/a")


def test_rules_before_the_first_agent_belong_to_nobody() -> None:
    assert read("Disallow: /\nUser-agent: windrow\nDisallow: /a").allows("/b")


@pytest.mark.parametrize(
    "name", ["Windrow", "windrow/1.2", "windrow bot", "WINDROW, other", "windrow\t# us", "windrow<BR>", "windrow."]
)
def test_the_product_token_is_what_a_name_begins_with(name: str) -> None:
    assert not read(f"User-agent: {name}\nDisallow: /").allows("/a")


@pytest.mark.parametrize(
    "name",
    [
        "windrower",
        "windrow-news",
        "windrow_x",
        "windrow2",
        "mywindrow",
        "other windrow",
        "",
        "*windrow",
        "Mozilla/5.0 windrow",
    ],
)
def test_other_names_are_others(name: str) -> None:
    assert read(f"User-agent: {name}\nDisallow: /").allows("/a")


@pytest.mark.parametrize("name", ["*", " * ", "* # all", "*<br>", "* all of you"])
def test_a_star_is_everyone(name: str) -> None:
    assert not read(f"User-agent: {name}\nDisallow: /").allows("/a")


# Lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r", "\r\r\n"])
def test_lines_end_in_any_of_the_usual_ways(end: str) -> None:
    found = read(f"# who{end}User-agent: *{end}Disallow: /a{end}{end}Disallow: /b{end}")
    assert [found.allows(path) for path in ("/a", "/b", "/c")] == [False, False, True]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_is_read_in_any_unicode_encoding(encoding: str) -> None:
    found = read("User-agent: *\nDisallow: /č\n".encode(encoding))
    assert not found.allows("/%C4%8D") and found.allows("/a")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b""])
def test_a_byte_order_mark_or_what_is_left_of_it_is_skipped(mark: bytes) -> None:
    assert not read(mark + b"User-agent: *\nDisallow: /").allows("/a")


def test_octets_that_are_not_utf_8_are_compared_as_octets() -> None:
    found = read(b"User-agent: *\nDisallow: /b\xfccher\nDisallow: /voil\xc3\xa0\n")
    assert [found.allows(path) for path in ("/b%FCcher", "/b%C3%BCcher", "/voilà", "/voil%c3%a0", "/voil%C3")] == [
        False,
        True,
        False,
        False,
        True,
    ]


def test_nul_octets_and_no_break_spaces_are_no_obstacle() -> None:
    assert not read(b"User-\0agent: *\0\nDisallow:\xc2\xa0/a\0\n").allows("/a")


@pytest.mark.parametrize(
    "line",
    [
        "Disallow /a",
        "disallow\t/a",
        "  DISALLOW  :  /a  ",
        "Dissallow: /a",
        "desallow: /a",
        "Disallow:/a#b",
        "Disallow /a:b",
    ],
)
def test_a_disallow_line_is_obeyed_however_it_is_written(line: str) -> None:
    assert not rules(line).allows("/a:b")


@pytest.mark.parametrize(
    "line", ["Disallow / a", "Disallows everything", "# Disallow: /a", "Noindex: /a", "X-Disallow: /a", "Disallow: a"]
)
def test_what_is_not_a_disallow_line_is_not_obeyed(line: str) -> None:
    assert rules(line).allows("/a")


def test_a_page_of_html_holds_no_rules() -> None:
    page = "<!DOCTYPE html>\n<html><head><title>Not found: /</title></head>\n<body><p>Disallow: nothing</p>\n<p>Allow: /</p></body></html>"
    assert robots.condense(page.encode(), "windrow") == ""


def test_rules_that_an_editor_wrapped_in_html_are_found() -> None:
    found = read(
        "<html><body><p>User-agent: *<br>Disallow: <b>/a</b></p>\nDisallow: /b<BR>\nCrawl-delay: 4<br/></body></html>"
    )
    assert [found.allows(path) for path in ("/a", "/b", "/c")] == [False, False, True] and found.delay == 4


# Matching


def test_the_longest_rule_decides_and_is_named() -> None:
    found = rules("Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c")
    assert found.decide("/a/x") == (False, "disallow: /a")
    assert found.decide("/a/b/x") == (True, "allow: /a/b")
    assert found.decide("/a/b/c/d") == (False, "disallow: /a/b/c")
    assert found.decide("/b") == (True, "")


def test_between_equals_the_one_that_allows_decides() -> None:
    assert rules("Disallow: /a", "Allow: /a").decide("/a") == (True, "allow: /a")
    assert rules("Allow: /a/*", "Disallow: /*/b").decide("/a/b") == (True, "allow: /a/*")


def test_operators_count_in_the_length_of_a_rule() -> None:
    assert not rules("Allow: /a", "Disallow: /a*").allows("/a")
    assert rules("Allow: /$", "Disallow: /").allows("/")
    assert not rules("Allow: /abc", "Disallow: /a***").allows("/abcd")


def test_robots_txt_itself_is_always_allowed() -> None:
    assert rules("Disallow: /").allows("/robots.txt") and not rules("Disallow: /").allows("/robots.txt.html")


def test_paths_are_compared_with_regard_to_case_and_with_their_query() -> None:
    found = rules("Disallow: /A", "Disallow: /s?q=")
    assert [found.allows(path) for path in ("/a", "/A", "/s", "/s?q=1", "/s?p=1&q=1")] == [
        True,
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("/*.gif$", ["/a.gif", "/.gif", "/a.gif.gif"], ["/a.gif?", "/a.gift", "/gif"]),
        ("*.gif", ["/a.gif", "/a.gift"], ["/a.png"]),
        ("/a*b*c", ["/abc", "/a-b-c-", "/aabbcc"], ["/acb", "/ab", "/xabc"]),
        ("/a*b*c$", ["/abc", "/abcc"], ["/abcd", "/ac"]),
        ("/a*a$", ["/aa", "/aba"], ["/a", "/ab"]),
        ("/*ab*ab$", ["/abab", "/ab/ab"], ["/ab", "/aab"]),
        ("/a$", ["/a"], ["/a/", "/a?b", "/"]),
        ("/*$", ["/", "/a"], []),
        ("*", ["/", "/a"], []),
        ("/a**b", ["/ab", "/axb"], ["/a"]),
        ("/a$b", ["/a$b", "/a%24b"], ["/a", "/ab"]),
    ],
)
def test_wildcards(pattern: str, matched: list[str], others: list[str]) -> None:
    found = rules(f"Disallow: {pattern}")
    assert [path for path in matched if found.allows(path)] == []
    assert [path for path in others if not found.allows(path)] == []


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/%62%61%7a", "/baz", True),
        ("/baz", "/%62%61%7A", True),
        ("/a%2fb", "/a%2Fb", True),
        ("/a%2Fb", "/a/b", False),
        ("/a/b", "/a%2Fb", False),
        ("/ツ", "/%e3%83%84", True),
        ("/%E3%83%84", "/ツ", True),
        ("/a b", "/a%20b", True),
        ("/a|b", "/a%7cb", True),
        ("/a%7Cb", "/a|b", True),
        ("/%2A", "/*", True),
        ("/%2A", "/x", False),
        ("/%24", "/$", True),
        ("/x%24", "/x", False),
        ("/%7Ejoe", "/~joe/", True),
        ("/100%", "/100%25", True),
        ("/100%$", "/100%25", True),
        ("/100%x", "/100%25x", True),
        ("/*%", "/a%20b", True),
        ("/*%*c", "/a%20bc", True),
        ("/%2541", "/%41", False),
        ("/a?b=%3D", "/a?b==", False),
    ],
)
def test_escapes(pattern: str, path: str, matches: bool) -> None:
    assert rules(f"Disallow: {pattern}").allows(path) is not matches


# The rest of a file


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10),
        ("0.5", 0.5),
        ("1,5", 1.5),
        (".5", 0.5),
        ("0", 0),
        ("10 seconds", 10),
        ("1e2", 100),
        ("1e999", 86400),
        ("9" * 5000, 86400),
        ("inf", None),
        ("NaN", None),
        ("-5", None),
        ("", None),
        ("ten", None),
    ],
)
def test_crawl_delay(value: str, seconds: float | None) -> None:
    assert rules(f"Crawl-delay: {value}").delay == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1/10", 10), ("10/1m", 6), ("2/1h 0900-1700", 1800), ("1/9d", 86400), ("0/5", None), ("x", None)],
)
def test_a_request_rate_is_a_delay(value: str, seconds: float | None) -> None:
    assert rules(f"Request-rate: {value}").delay == seconds


def test_the_longest_delay_is_the_one_to_keep() -> None:
    assert rules("Crawl-delay: 3", "Request-rate: 1/20", "Crawl-delay: 5").delay == 20


def test_a_delay_holds_for_the_agents_named_before_it() -> None:
    text = "User-agent: windrow\nCrawl-delay: 10\nUser-agent: other\nDisallow: /a\n"
    assert (read(text).delay, read(text, "other").delay) == (10, None)


def test_sitemaps_are_for_everyone_absolute_and_once() -> None:
    text = "Sitemap: /a.xml\nUser-agent: x\nDisallow: /\nSitemap: http://b.test/b.xml\nsite-map: /a.xml\nSitemap: ftp://c.test/\nSitemap: http://[x/\nSitemap:\n"
    assert read(text).sitemaps == ("http://site.test/a.xml", "http://b.test/b.xml")
    assert robots.condense(text.encode(), "windrow") == "sitemap: http://b.test/b.xml"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        (b"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n", "ccbot gptbot"),
        (b"User-agent: gptbot/1.1\nDisallow: /\n", "gptbot"),
        (b"User-agent: GPTBot\nDisallow: /private\n", ""),
        (b"User-agent: GPTBot\nDisallow: /\nAllow: /\n", ""),
        (b"User-agent: *\nDisallow: /\n", ""),
        (b"User-agent: OtherBot\nDisallow: /\n", ""),
    ],
)
def test_a_site_closed_to_crawlers_of_ai_companies_is_a_signal(text: bytes, closed: str) -> None:
    condensed = robots.condense(text, "windrow")
    assert robots.parse(condensed).signals == ((f"ai-agents: {closed}",) if closed else ())
    assert robots.condense(condensed.encode(), "windrow") == condensed


def test_signals_are_kept_for_who_weighs_them() -> None:
    text = "Content-Signal: search=yes\nLicense: /l.xml\nUser-agent: *\nContent-Usage: /a  train-ai=n\nDisallow: /p\n"
    others = "User-agent: x\nContent-Usage: train-ai=y"
    assert read(text + others).signals == (
        "content-signal: search=yes",
        "content-usage: /a train-ai=n",
        "license: http://site.test/l.xml",
    )


# Limits


def test_only_whole_lines_within_the_limit_are_read() -> None:
    text = b"User-agent: *\nDisallow: /private\nDisallow: /other\n"
    assert robots.condense(text, "windrow", limit=26) == ""
    assert robots.condense(text, "windrow", limit=32) == ""
    assert robots.condense(text, "windrow", limit=33) == "user-agent: *\ndisallow: /private"
    assert robots.condense(text, "windrow", limit=len(text)) == "user-agent: *\ndisallow: /private\ndisallow: /other"


def test_half_a_mebibyte_is_read_and_no_more() -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    filler = b"# " + b"x" * 97 + b"\n"
    inside = head + filler * ((robots.LIMIT - 100 - len(head)) // 100) + b"Disallow: /inside\n"
    outside = inside + filler * 2 + b"Disallow: /outside\n"
    assert len(inside) < robots.LIMIT < len(outside)
    assert [read(outside).allows(path) for path in ("/first", "/inside", "/outside")] == [False, False, True]


def test_an_endless_line_counts_as_far_as_it_is_read() -> None:
    found = rules("Disallow: /" + "a" * 20_000)
    assert not found.allows("/" + "a" * 16_700) and found.allows("/" + "a" * 1000)


def test_links_and_signals_are_kept_in_number_and_length() -> None:
    text = (
        "".join(f"Sitemap: /{n}.xml\nContent-Usage: a{n}=y\n" for n in range(2 * robots.LINKS))
        + f"Sitemap: /{'x' * robots.LINK}\n"
    )
    assert len(read(text).sitemaps) == robots.LINKS and len(read(text).signals) == robots.SIGNALS


def test_ten_thousand_rules_are_each_obeyed() -> None:
    found = rules(*(f"Disallow: /d{n}/" for n in range(10_000)), *(f"Allow: /d{n}/a" for n in range(0, 10_000, 2)))
    assert [n for n in range(10_000) if found.allows(f"/d{n}/b")] == []
    assert [found.allows(f"/d{n}/a") for n in range(4)] == [True, False, True, False]
    assert found.allows("/d10000/") and found.allows("/d")


def test_ten_thousand_wildcard_rules_are_each_obeyed() -> None:
    found = rules(
        *(f"Disallow: /*/item{n}/*.html$" for n in range(10_000)), "Disallow: /*?", "Disallow: /*$", "Allow: /*"
    )
    assert [
        n for n in range(0, 10_000, 7) if found.decide(f"/a/item{n}/b.html") != (False, f"disallow: /*/item{n}/*.html$")
    ] == []
    assert found.decide("/a?b") == (False, "disallow: /*?") and found.decide("/a") == (False, "disallow: /*$")


def test_a_rule_of_stars_costs_a_walk_along_the_path() -> None:
    found = rules("Disallow: /" + "*a" * 8000 + "$")
    assert found.allows("/" + "a" * 1_000_000 + "b")
    assert not found.allows("/" + "a" * 1_000_000)
    assert found.allows("/" + "a" * 7999)


def test_rules_made_to_be_tried_in_vain_end_in_a_no() -> None:
    found = rules(*(f"Disallow: /*abcabcabc*{n:x}x" for n in range(20_000)))
    assert found.decide("/abcabcabc" * 20) == (False, "disallow: too many wildcard rules apply to say")
    assert found.allows("/index.html")


FIELDS = [
    "User-agent: *",
    "User-agent: windrow",
    "user-agent: x",
    "Disallow: /",
    "allow: /a%",
    "Disallow: /*%4",
    "Allow: *$",
    "Noindex: /",
]
OTHERS = [
    "Crawl-delay: 1,5",
    "request-rate: 1/3m",
    "Sitemap: //h/\x85",
    "Sitemap: http://[/",
    "License: ?a b",
    "content-usage: \x1c=n",
]
PIECES = st.sampled_from([*FIELDS, *OTHERS, *"\n\r\0$*%#\xa0", "<html>", "<br>"])
BODIES = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map(lambda parts: "\n".join(parts).encode()),
    st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map(lambda parts: "".join(parts).encode("utf-16")),
)


@given(BODIES, st.text(max_size=12))
@example(b"User-agent: *\nDisallow: /\xff%\xfe%4*%$\nAllow: /%%34%31", "%41")
def test_any_bytes_can_be_read_and_condensed_text_stays_as_it_is(body: bytes, path: str) -> None:
    text = robots.condense(body, "windrow", HOME)
    assert text.isascii() and robots.condense(text.encode(), "windrow", HOME) == text
    found = robots.parse(text)
    assert found.decide("/" + path)[0] is found.allows("/" + path)


@given(st.text(max_size=80), st.text(max_size=12))
def test_any_text_can_be_parsed(text: str, path: str) -> None:
    found = robots.parse(text)
    assert found.allows(path) is found.decide(path)[0]


# Against the plainest matcher there is


def symbols(text: str, operators: str = "") -> list[str]:
    """A text as the octets that are compared: a character that may stand as it is, or an escape."""
    found = []
    for piece in re.findall(r"%[0-9A-Fa-f]{2}|.", text, re.DOTALL):
        octets = [int(piece[1:], 16)] if len(piece) == 3 else piece.encode()
        for octet in octets:
            plain = chr(octet) if octet < 128 and (chr(octet).isalnum() or chr(octet) in "-._~") else ""
            kept = piece if piece in operators or (piece in ":/?#[]@!&'()+,;=" and len(piece) == 1) else ""
            found.append(plain or kept or f"%{octet:02X}")
    return found


def matches(pattern: str, path: str) -> bool:
    anchored = pattern.endswith("$")
    places = {0}
    octets = symbols(path)
    for symbol in symbols(pattern[:-1] if anchored else pattern, "*"):
        if symbol == "*":
            places = {later for place in places for later in range(place, len(octets) + 1)}
        else:
            places = {place + 1 for place in places if place < len(octets) and octets[place] == symbol}
    return len(octets) in places if anchored else bool(places)


def allowed(lines: list[tuple[bool, str]], path: str) -> bool:
    best = (0, True)
    for allow, pattern in lines:
        anchored = pattern.endswith("$")
        length = len("".join(symbols(pattern[:-1] if anchored else pattern, "*"))) + anchored
        if matches(pattern, path):
            best = max(best, (length, allow))
    return best[1]


def text_of(lines: list[tuple[bool, str]]) -> list[str]:
    return [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in lines]


LITERALS = ["/", "a", "b", "%61", "%2F", "%2f", "%2A", "%24", "é", "%C3%A9", "%c3", "?", "|", "%7C", "-", "$"]
PATTERNS = st.lists(st.sampled_from([*LITERALS, "*", "*", "*"]), max_size=7).map(lambda parts: "/" + "".join(parts))
PATHS = st.lists(st.sampled_from([*LITERALS, "*"]), max_size=10).map(lambda parts: "/" + "".join(parts))


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=8), st.lists(PATHS, min_size=1, max_size=8))
def test_a_plain_matcher_says_the_same_of_a_few_rules(lines: list[tuple[bool, str]], paths: list[str]) -> None:
    found = rules(*text_of(lines))
    assert [found.allows(path) for path in paths] == [allowed(lines, path) for path in paths]


@given(st.integers(0, 10**6))
def test_a_plain_matcher_says_the_same_of_many_rules(seed: int) -> None:
    chance = random.Random(seed)
    parts = [*LITERALS, "*", "*", "*", "abc", "cab"]
    lines = [(chance.random() < 0.4, "/" + "".join(chance.choices(parts, k=chance.randint(1, 6)))) for _ in range(150)]
    found = rules(*text_of(lines))
    paths = ["/" + "".join(chance.choices([*LITERALS, "abc", "cab"], k=chance.randint(0, 8))) for _ in range(20)]
    assert [found.allows(path) for path in paths] == [allowed(lines, path) for path in paths]


# What an answer means

TASK = Task(Url(HOME, "site.test", "site.test", 1), kind=Kind.FILE, file="robots")
CONFIG = Fetch()
BODY = b"User-agent: *\nDisallow: /a\n"


def capture(status: int = 200, body: bytes = BODY, *headers: str, **more: Any) -> Capture:
    head = "\r\n".join((f"HTTP/1.1 {status} X", *headers, "", "")).encode()
    return Capture(TASK, status, b"", head, body, 1000.0, 0.5, "127.0.0.1", "http/1.1", **more)


def learn(answer: Capture | Failure, fetch: Fetch = CONFIG, known: Origin | None = None) -> Origin:
    return robots.learn("http://site.test", known, answer, Config(fetch=fetch))


def record(rules: str = "", life: float = 86400.0, **fields: Any) -> Origin:
    return Origin(name="http://site.test", stamp=1000.0, fetched=1000.0, expires=1000.0 + life, rules=rules, **fields)


def test_a_file_that_was_found_is_obeyed_for_a_day() -> None:
    assert learn(capture()) == record("user-agent: *\ndisallow: /a", 86400)


@pytest.mark.parametrize("status", [301, 302, 308, 304, 400, 401, 403, 404, 410, 418, 451, 499])
def test_no_file_means_no_rules(status: int) -> None:
    assert learn(capture(status)) == record("", 86400)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599, 100, 600, 999, 0])
def test_an_unavailable_file_closes_the_origin(status: int) -> None:
    assert learn(capture(status)) == record("", 3600, access=Access.CLOSED)


@pytest.mark.parametrize("status", [401, 403])
def test_forbidden_closes_the_origin_where_that_is_wished(status: int) -> None:
    assert learn(capture(status), Fetch(forbidden_robots_closes=True)) == record("", 86400, access=Access.CLOSED)


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
def test_a_redirect_that_leads_nowhere_is_no_file(reason: Reason) -> None:
    assert learn(Failure(TASK, reason, "", 1000.0)) == record("", 86400)


@pytest.mark.parametrize("more", [{"truncated": "time"}, {"truncated": "disconnect"}, {"encoded": True}])
def test_a_file_that_is_not_whole_closes_the_origin(more: dict[str, Any]) -> None:
    assert learn(capture(200, BODY, **more)).access is Access.CLOSED


def test_a_file_that_was_cut_for_its_length_is_read_up_to_its_last_whole_line() -> None:
    found = learn(capture(200, BODY + b"Disallow: /", truncated="length"))
    assert (found.rules, found.access) == ("user-agent: *\ndisallow: /a", Access.OPEN)
    assert (
        learn(capture(200, BODY + b"Disallow: /b"), Fetch(robots_max_bytes=len(BODY) + 11)).rules
        == "user-agent: *\ndisallow: /a"
    )


def test_a_page_in_place_of_the_file_is_no_file_under_200_and_no_answer_under_202() -> None:
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
def test_cache_control_shortens_the_day_to_an_hour_at_least(header: str, seconds: float) -> None:
    assert learn(capture(200, BODY, header)).expires == 1000.0 + seconds


@pytest.mark.parametrize(
    ("wait", "seconds"), [("120", 120), ("0", 1), ("999999999999", 86400), ("soon", 3600), ("-1", 3600), ("²", 3600)]
)
def test_a_closed_origin_is_asked_again_when_it_said(wait: str, seconds: float) -> None:
    head = f"HTTP/1.1 503 X\r\nRetry-After: {wait}\r\n\r\n".encode("latin-1")
    answer = Capture(TASK, 503, b"", head, b"", 1000.0, 0.5, "127.0.0.1", "http/1.1")
    assert learn(answer).expires == 1000.0 + seconds


def test_the_time_to_live_is_the_users_and_at_most_a_day() -> None:
    assert learn(capture(), Fetch(robots_ttl=60)).expires == 1060.0
    assert learn(capture(503), Fetch(robots_ttl=60)).expires == 1060.0
    assert learn(capture(), Fetch(robots_ttl=10**6)).expires == 1000.0 + 86400


def test_relative_sitemaps_are_resolved_where_the_file_was_found() -> None:
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


# What other suites say. A disagreement has its number in the suite and its reason; one that disappears is an error, too.

Case = dict[str, Any]

NOT_GOOGLE = {
    36: "GoogleOnly: `Foo Bar` as our own name is no product token; we take `Foo` of it, and our configuration refuses it",
    59: "RFC 9309 §2.2.2: octets outside ASCII are percent-encoded before they are compared, in the URL, too",
    61: "the same",
    62: "RFC 9309 §2.2.2: %62%61%7A is unreserved and decoded before it is compared; the RFC's own table has this example",
    74: "GoogleOnly: `Allow: /index.html` says nothing of `/` in RFC 9309",
}
A_PHRASE = "our name is a phrase of three words; RFC 9309 §2.2.1 knows a product token, which begins the phrase"
NOT_CRAWLER_COMMONS = {
    276: A_PHRASE,
    277: A_PHRASE,
    278: A_PHRASE,
    281: A_PHRASE,
    309: "crawler-commons' policy: a long Crawl-delay disallows; ours: it is cut to fetch.max_crawl_delay",
    341: "Google's rule that `Allow: /index.html` is about `/`, too, is not in RFC 9309; `Disallow: /*` is the longest match",
}


def cases(path: str) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = json.loads(shared(path).read_text(encoding="utf-8"))
    return found


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + ("?" + parts.query if parts.query else "")


def agrees(case: Case) -> bool:
    found = read(case["robots"].encode(case.get("robots_encoding", "utf-8")), case["agent"])
    if "crawl_delay_ms" in case:
        return bool(found.delay == case["crawl_delay_ms"] / 1000)
    return bool(found.allows(path_of(case["url"])) is case["allowed"])


def test_google_says_the_same_but_where_rfc_9309_does_not() -> None:
    numbered = cases("conformance/google-robotstxt/cases.json")["allow_cases"]
    assert len(numbered) == 145
    assert {number for number, case in enumerate(numbered) if not agrees(case)} == NOT_GOOGLE.keys()


def test_google_finds_the_same_sitemaps() -> None:
    for case in cases("conformance/google-robotstxt/cases.json")["sitemap"]:
        assert list(read(case["robots"]).sitemaps) == case["sitemaps"]


def test_the_examples_of_rfc_9309_are_as_the_rfc_says() -> None:
    found = cases("conformance/rfc9309/cases.json")
    assert [case for case in found["examples"] + found["escaping"] if not agrees(case)] == []


def test_crawler_commons_says_the_same_but_where_there_is_a_reason() -> None:
    numbered = cases("conformance/crawler-commons/robots_cases.json")["cases"]
    strict = {number: case for number, case in enumerate(numbered) if not case.get("lenient_ua")}
    assert len(strict) == 244
    assert {number for number, case in strict.items() if not agrees(case)} == NOT_CRAWLER_COMMONS.keys()
