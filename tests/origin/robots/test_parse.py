"""robots.txt to condensed rules: groups, lines, other fields, limits."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.origin.robots.support import HOME, read, rules
from windrow.origin import robots


def test_an_empty_file_allows_everything_and_condenses_to_nothing() -> None:
    assert robots.condense(b"", "windrow") == ""
    assert robots.condense(b"User-agent: *\nDisallow:\n", "windrow") == ""
    assert read("").decide("/x") == (True, "")


def test_the_condensed_text_is_a_robots_file_with_our_group_alone() -> None:
    text = (
        "User-agent: other\nDisallow: /o\n\nUser-Agent: Windrow\n"
        "DISALLOW: /a b\nAllow:/a%62\nCrawl-delay: 2\nSitemap: /s.xml\n"
    )
    assert robots.condense(text.encode(), "Windrow", HOME).split("\n") == [
        "user-agent: windrow",
        "disallow: /a%20b",
        "allow: /ab",
        "crawl-delay: 2",
        "sitemap: http://site.test/s.xml",
    ]


def test_all_groups_that_name_us_are_merged() -> None:
    found = read(
        "User-agent: windrow\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: WINDROW\nDisallow: /b"
    )
    assert [found.decide(path)[0] for path in ("/a", "/b", "/x", "/c")] == [False, False, True, True]


def test_the_general_group_applies_only_if_no_group_names_us() -> None:
    text = "User-agent: *\nDisallow: /\nCrawl-delay: 9\n\nUser-agent: windrow\nDisallow: /a"
    assert read(text).decide("/b")[0] and read(text).delay is None
    assert not read(text, "other").decide("/b")[0] and read(text, "other").delay == 9


def test_an_empty_group_that_names_us_allows_everything() -> None:
    assert read("User-agent: *\nDisallow: /\n\nUser-agent: windrow").decide("/a")[0]


@pytest.mark.parametrize(
    "line", ["Sitemap: http://a.test/s", "Content-Usage: train-ai=n", "Crawl-delay: 1", "Nonsense: 1", "???", "", "# x"]
)
def test_only_a_rule_ends_a_list_of_agents(line: str) -> None:
    assert not read(f"User-agent: windrow\n{line}\nUser-agent: other\nDisallow: /").decide("/a")[0]


def test_a_rule_ends_a_list_of_agents_even_when_it_is_empty() -> None:
    assert read("User-agent: windrow\nDisallow:\nUser-agent: other\nDisallow: /").decide("/a")[0]


def test_rules_before_the_first_agent_are_ignored() -> None:
    assert read("Disallow: /\nUser-agent: windrow\nDisallow: /a").decide("/b")[0]


@pytest.mark.parametrize(
    "name", ["Windrow", "windrow/1.2", "windrow bot", "WINDROW, other", "windrow\t# us", "windrow<BR>", "windrow."]
)
def test_the_product_token_is_the_start_of_a_name(name: str) -> None:
    assert not read(f"User-agent: {name}\nDisallow: /").decide("/a")[0]


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
def test_groups_with_other_names_do_not_apply_to_us(name: str) -> None:
    assert read(f"User-agent: {name}\nDisallow: /").decide("/a")[0]


@pytest.mark.parametrize("name", ["*", " * ", "* # all", "*<br>", "* all of you"])
def test_a_star_names_every_agent(name: str) -> None:
    assert not read(f"User-agent: {name}\nDisallow: /").decide("/a")[0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\r", "\r\r\n"])
def test_lines_may_end_in_lf_cr_lf_or_cr(end: str) -> None:
    found = read(f"# who{end}User-agent: *{end}Disallow: /a{end}{end}Disallow: /b{end}")
    assert [found.decide(path)[0] for path in ("/a", "/b", "/c")] == [False, False, True]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_file_is_read_in_utf_8(encoding: str) -> None:
    found = read("User-agent: *\nDisallow: /č\n".encode(encoding))
    assert not found.decide("/%C4%8D")[0] and found.decide("/a")[0]


WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_in_utf_16_or_utf_32_has_no_rules_as_in_googles_parser(encoding: str, mark: str) -> None:
    body = f"{mark}User-agent: *\nDisallow: /\nSitemap: http://a.org/s\n".encode(encoding)
    assert robots.condense(body, "windrow") == ""


@pytest.mark.parametrize("line", ["User_agent: other", "user_agent other", "USER_AGENT : *"])
def test_a_user_agent_line_with_an_underscore_is_none(line: str) -> None:
    found = read(f"User-agent: windrow\nDisallow: /a\n{line}\nDisallow: /b\n")
    assert [found.decide(path)[0] for path in ("/a", "/b", "/c")] == [False, False, True]
    assert read(f"{line}\nDisallow: /\n").decide("/a")[0]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef", b""])
def test_a_byte_order_mark_or_a_part_of_it_is_skipped(mark: bytes) -> None:
    assert not read(mark + b"User-agent: *\nDisallow: /").decide("/a")[0]


def test_octets_that_are_not_utf_8_are_compared_as_octets() -> None:
    found = read(b"User-agent: *\nDisallow: /b\xfccher\nDisallow: /voil\xc3\xa0\n")
    assert [found.decide(path)[0] for path in ("/b%FCcher", "/b%C3%BCcher", "/voilà", "/voil%c3%a0", "/voil%C3")] == [
        False,
        True,
        False,
        False,
        True,
    ]


def test_nul_octets_and_no_break_spaces_are_ignored() -> None:
    assert not read(b"User-\0agent: *\0\nDisallow:\xc2\xa0/a\0\n").decide("/a")[0]


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
    assert not rules(line).decide("/a:b")[0]


@pytest.mark.parametrize(
    "line", ["Disallow / a", "Disallows everything", "# Disallow: /a", "Noindex: /a", "X-Disallow: /a", "Disallow: a"]
)
def test_a_line_that_is_not_a_disallow_line_is_not_obeyed(line: str) -> None:
    assert rules(line).decide("/a")[0]


def test_an_html_page_has_no_rules() -> None:
    page = (
        "<!DOCTYPE html>\n<html><head><title>Not found: /</title></head>\n"
        "<body><p>Disallow: nothing</p>\n<p>Allow: /</p></body></html>"
    )
    assert robots.condense(page.encode(), "windrow") == ""


def test_rules_that_an_editor_wrapped_in_html_are_found() -> None:
    found = read(
        "<html><body><p>User-agent: *<br>Disallow: <b>/a</b></p>\nDisallow: /b<BR>\nCrawl-delay: 4<br/></body></html>"
    )
    assert [found.decide(path)[0] for path in ("/a", "/b", "/c")] == [False, False, True] and found.delay == 4


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
def test_a_crawl_delay_is_read_in_seconds(value: str, seconds: float | None) -> None:
    assert rules(f"Crawl-delay: {value}").delay == seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1/10", 10), ("10/1m", 6), ("2/1h 0900-1700", 1800), ("1/9d", 86400), ("0/5", None), ("x", None)],
)
def test_a_request_rate_is_a_delay(value: str, seconds: float | None) -> None:
    assert rules(f"Request-rate: {value}").delay == seconds


def test_the_longest_delay_is_kept() -> None:
    assert rules("Crawl-delay: 3", "Request-rate: 1/20", "Crawl-delay: 5").delay == 20


def test_a_delay_applies_to_the_agents_named_before_it() -> None:
    text = "User-agent: windrow\nCrawl-delay: 10\nUser-agent: other\nDisallow: /a\n"
    assert (read(text).delay, read(text, "other").delay) == (10, None)


@pytest.mark.parametrize("line", ["Crawl-delay: {}", "Request-rate: 1/{}"])
@pytest.mark.parametrize("between", ["", "\n", "Sitemap: /s.xml\n", "Noindex: /\n"])
def test_a_group_without_rules_keeps_its_delay_to_itself(line: str, between: str) -> None:
    groups = [("windrow", 1), ("other", 30), ("*", 60)]
    text = between.join(f"User-agent: {name}\n{line.format(seconds)}\n" for name, seconds in groups)
    assert [read(text, agent).delay for agent in ("windrow", "other", "third")] == [1, 30, 60]


@pytest.mark.parametrize("line", ["Noindex: /", "Visit-time: 0600-0845", "Clean-param: a /", "Content-Usage: a=n"])
def test_a_delay_does_not_apply_to_an_earlier_group_of_other_lines(line: str) -> None:
    text = f"User-agent: windrow\n{line}\nUser-agent: other\nCrawl-delay: 30\n"
    assert (read(text).delay, read(text, "other").delay) == (None, 30)


def test_a_delay_after_a_rule_applies_to_the_agents_named_since_the_last_delay() -> None:
    text = "User-agent: windrow\nCrawl-delay: 1\nUser-agent: a\nUser-agent: b\nDisallow: /x\nCrawl-delay: 30\n"
    assert [read(text, agent).delay for agent in ("windrow", "a", "b")] == [1, 30, 30]
    assert not any(read(text, agent).decide("/x")[0] for agent in ("windrow", "a", "b"))


def test_statements_about_use_of_another_group_without_rules_are_not_ours() -> None:
    text = "User-agent: windrow\nContent-Usage: train-ai=y\n\nUser-agent: other\nContent-Usage: train-ai=n\n"
    assert read(text).signals == ("content-usage: train-ai=y",)


def test_sitemaps_of_all_groups_are_absolute_and_unique() -> None:
    text = (
        "Sitemap: /a.xml\nUser-agent: x\nDisallow: /\nSitemap: http://b.test/b.xml\n"
        "site-map: /a.xml\nSitemap: ftp://c.test/\nSitemap: http://[x/\nSitemap:\n"
    )
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
def test_excluding_the_crawlers_of_ai_companies_is_a_signal(text: bytes, closed: str) -> None:
    condensed = robots.condense(text, "windrow")
    assert robots.parse(condensed).signals == ((f"ai-agents: {closed}",) if closed else ())
    assert robots.condense(condensed.encode(), "windrow") == condensed


def test_lines_about_the_use_of_pages_are_kept_as_signals() -> None:
    text = "Content-Signal: search=yes\nLicense: /l.xml\nUser-agent: *\nContent-Usage: /a  train-ai=n\nDisallow: /p\n"
    others = "User-agent: x\nContent-Usage: train-ai=y"
    assert read(text + others).signals == (
        "content-signal: search=yes",
        "content-usage: /a train-ai=n",
        "license: http://site.test/l.xml",
    )


def test_only_complete_lines_within_the_limit_are_read() -> None:
    text = b"User-agent: *\nDisallow: /private\nDisallow: /other\n"
    assert robots.condense(text, "windrow", limit=26) == ""
    assert robots.condense(text, "windrow", limit=32) == ""
    assert robots.condense(text, "windrow", limit=33) == "user-agent: *\ndisallow: /private"
    assert robots.condense(text, "windrow", limit=len(text)) == "user-agent: *\ndisallow: /private\ndisallow: /other"


def test_nothing_beyond_512000_bytes_is_read() -> None:
    head = b"User-agent: *\nDisallow: /first\n"
    filler = b"# " + b"x" * 97 + b"\n"
    inside = head + filler * ((robots.LIMIT - 100 - len(head)) // 100) + b"Disallow: /inside\n"
    outside = inside + filler * 2 + b"Disallow: /outside\n"
    assert len(inside) < robots.LIMIT < len(outside)
    assert [read(outside).decide(path)[0] for path in ("/first", "/inside", "/outside")] == [False, False, True]


def test_an_endless_line_counts_up_to_its_limit() -> None:
    found = rules("Disallow: /" + "a" * 20_000)
    assert not found.decide("/" + "a" * 16_700)[0] and found.decide("/" + "a" * 1000)[0]


def test_links_and_signals_are_limited_in_number_and_length() -> None:
    text = (
        "".join(f"Sitemap: /{n}.xml\nContent-Usage: a{n}=y\n" for n in range(2 * robots.LINKS))
        + f"Sitemap: /{'x' * robots.LINK}\n"
    )
    assert len(read(text).sitemaps) == robots.LINKS and len(read(text).signals) == robots.SIGNALS


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
def test_any_bytes_can_be_condensed_and_condensing_again_changes_nothing(body: bytes, path: str) -> None:
    text = robots.condense(body, "windrow", HOME)
    assert text.isascii() and robots.condense(text.encode(), "windrow", HOME) == text
    found = robots.parse(text)
    assert found.decide("/" + path)[0] in (True, False)


@given(st.text(max_size=80), st.text(max_size=12))
def test_any_text_can_be_parsed(text: str, path: str) -> None:
    found = robots.parse(text)
    assert found.decide(path)[0] in (True, False)
