"""The canonical form, tested with the test data of WHATWG, crawler-commons and the public suffix list."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ada_url
import publicsuffixlist
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.shared import shared
from windrow import urls
from windrow.records import Url


def canonical(text: str) -> str | None:
    url = urls.parse(text)
    return None if url is None else url.text


def joined(base: str, href: str) -> str | None:
    (url,) = urls.join(base, [href])
    return None if url is None else url.text


CANONICAL = {
    "HTTP://Example.ORG": "http://example.org/",
    "http://example.org:80/": "http://example.org/",
    "https://example.org:443/": "https://example.org/",
    "https://example.org:80/": "https://example.org:80/",
    "http://example.org./a": "http://example.org/a",
    "http://example.org.:8080/a": "http://example.org:8080/a",
    "http://user:secret@example.org/": "http://example.org/",
    "http://example.org/a#b": "http://example.org/a",
    "http://example.org/?": "http://example.org/",
    "http://example.org/a?#": "http://example.org/a",
    "http://example.org/a/./b/../c": "http://example.org/a/c",
    "http://example.org/a/%2e%2E/b": "http://example.org/b",
    " \thttp://exa\nmple.org/ ": "http://example.org/",
    "http:\\\\example.org\\a": "http://example.org/a",
    "http://bücher.example/ü?ü": "http://xn--bcher-kva.example/%C3%BC?%C3%BC",
    "http://EXAMPLE%2eorg/": "http://example.org/",
    "http://example.org/%7Euser/%61%2d%5f?%41=%7e": "http://example.org/~user/a-_?A=~",
    "http://example.org/a%2fb?c%26d%3d": "http://example.org/a%2Fb?c%26d%3D",
    "http://example.org/100%": "http://example.org/100%25",
    "http://example.org/%%34%31": "http://example.org/%2541",
    "http://example.org//a//b": "http://example.org//a//b",
    "http://example.org/?b=2&a=1": "http://example.org/?b=2&a=1",
    "http://www.example.org/": "http://www.example.org/",
    "http://example.org/a b|c?d e|f": "http://example.org/a%20b|c?d%20e|f",
    "http://example.org/a^b?c^d": "http://example.org/a%5Eb?c^d",  # the URL Standard; the parser is older
    "http://example.org/a%5eb": "http://example.org/a%5Eb",
    "http://[::FFFF:1.2.3.4]:80/": "http://[::ffff:102:304]/",
    "http://under_score.example.org/": "http://under_score.example.org/",
}


@pytest.mark.parametrize("text", CANONICAL)
def test_all_spellings_of_a_url_have_one_form(text: str) -> None:
    assert canonical(text) == CANONICAL[text]


TOKEN = "0123456789abcdef0123456789abcdef"
VISITS = [
    ";jsessionid=1A2B3C",
    ";JSESSIONID=1A2B3C!1234!5678",
    "%3Bjsessionid%3D1A2B3C",
    "?PHPSESSID=abc",
    "?jsessionid=abc",
    "?ASPSESSIONIDQQBCDEFG=ABCDEFGHIJKLMNOPQRSTUVWX",
    "?CFID=1&CFTOKEN=2",
    "?osCsid=x",
    "?zenid=x",
    f"?sid={TOKEN}",
    f"?s={TOKEN}",
    f"?SID={TOKEN}",
    f"?session_id={TOKEN}",
    "?sessionid=a8f3c2d9",
    "?session=AbCdEfGhIjKlMnOpQr_123",
    "?utm_source=a&UTM_MEDIUM=b&utm_whatever=c",
    "?fbclid=x&gclid=y&msclkid=z&yclid=1",
    "?PHPSESSID=",
    "?PHPSESSID",
    "?amp;utm_source=a&amp;amp;sid=" + TOKEN,
    ";jsessionid=1?utm_source=2#3",
]


@pytest.mark.parametrize("visit", VISITS)
def test_a_part_that_identifies_a_visit_is_removed(visit: str) -> None:
    assert canonical("http://example.org/page" + visit) == "http://example.org/page"


PAGES = [
    "?sid=17",  # a story, a session of parliament
    "?s=windrow",
    "?s=deadbeefdeadbeef",  # no digit: a word
    "?sid=1234567890123456789",  # no letter: a number
    "?session=2024-spring",
    "?session_id=20241105",
    "?id=" + TOKEN,
    "?class=" + TOKEN,
    "?ref=home&source=x&campaign=y",
    "?phpsessid_help=1",
    "/;a=b;c",
    "/(S(short))/x",
    "/(X(1))/x",
    "/function_(mathematics)",
    "?q=tl;dr",
    "?q=AT%26amp;T",
    "?amp=1",
    "?a&&b",
    "??a",
]


@pytest.mark.parametrize("page", PAGES)
def test_a_part_that_may_identify_a_page_is_kept(page: str) -> None:
    assert canonical("http://example.org" + page) == "http://example.org" + ("" if page[0] == "/" else "/") + page


MIXED = {
    f"?a=1&sid={TOKEN}&b=2": "?a=1&b=2",
    f"?sid={TOKEN};a=1;b=2": "?a=1;b=2",
    f"?a=1;sid={TOKEN}&b=2": "?a=1&b=2",
    "?a=1&utm_source=x#f": "?a=1",
    "?a=1&amp;b=2&amp;amp;c=3": "?a=1&b=2&c=3",
    "?a=1&amp%3Bb=2&amp%3bamp%3Bc=3": "?a=1&b=2&c=3",
    "a;jsessionid=1/b;jsessionid=2": "a/b",
    "a/..;jsessionid=1/b": "b",
    "(S(4hqa0555fwsecu455xqckv45))/a.aspx": "a.aspx",
    "x/(4hqa0555fwsecu455xqckv45)/a.aspx": "x/a.aspx",
    "(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45)f(4hqa0555fwsecu455xqckv45))/a.aspx?b": "a.aspx?b",
    "x/(X(1)S(4hqa0555fwsecu455xqckv45))": "x",
    "?PHPSESSI%44=1&a": "?a",
}


@pytest.mark.parametrize("text", MIXED)
def test_the_parts_around_a_session_id_are_kept(text: str) -> None:
    assert canonical("http://example.org/" + text) == "http://example.org/" + MIXED[text]


NOT_URLS = [
    "",
    "example.org",
    "//example.org/",
    "/path",
    "ftp://example.org/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "mailto:a@example.org",
    "http:",
    "http://",
    "http://?",
    "http://./",
    "http://../",
    "http://a..b/",
    "http://exa mple.org/",
    "http://example.org:65536/",
    "http://example.org:port/",
    "http://[::1/",
    "http://256.1.1.1/",
    "http://1.2.3.4.5/",
    "http://a\0b/",
    "http://a,b/",
    "http://" + "a" * 64 + ".org/",
    "http://" + "a." * 127 + "org/",
    "http://example.org/" + "a" * urls.LONGEST,
]


@pytest.mark.parametrize("text", NOT_URLS, ids=lambda text: text[:40])
def test_a_url_that_cannot_be_requested_is_none(text: str) -> None:
    assert urls.parse(text) is None


SPELLINGS = (
    "0x7f.1 017700000001 2130706433 127.1 127.0.1 0x7f000001 0x7F.0.0.0x1 "
    "①②⑦.0.0.1 １２７。0.0.1 127.0.0.1. %31%32%37.1"
)


@pytest.mark.parametrize("text", SPELLINGS.split())
def test_all_spellings_of_an_ip_address_have_one_form(text: str) -> None:
    url = urls.parse(f"http://{text}/")
    assert url is not None
    assert (url.text, url.host, url.domain) == ("http://127.0.0.1/", "127.0.0.1", "127.0.0.1")


def test_a_url_carries_its_host_domain_and_key() -> None:
    url = urls.parse("https://News.Example.co.uk:8443/a")
    assert url == Url(
        "https://news.example.co.uk:8443/a",
        "news.example.co.uk",
        "example.co.uk",
        urls.key("https://news.example.co.uk:8443/a"),
    )


def test_the_key_never_changes() -> None:
    assert urls.key("") == 0x2D06800538D394C2
    assert urls.key("http://example.org/") == 13203927043952424321


HREFS = {
    "c": "http://example.org/a/c",
    "../c": "http://example.org/c",
    "/c": "http://example.org/c",
    "//other.example/c": "http://other.example/c",
    "///other.example/c": "http://other.example/c",
    "\\\\\\other.example/c": "http://other.example/c",
    "?q": "http://example.org/a/b?q",
    "#f": "http://example.org/a/b?x=1",
    "": "http://example.org/a/b?x=1",
    "https:c": "https://c/",
    "http:c": "http://example.org/a/c",
    "HTTPS://Other.Example": "https://other.example/",
    "c#f": "http://example.org/a/c",
    "c d": "http://example.org/a/c%20d",
    "\ud800": "http://example.org/a/%EF%BF%BD",
    "\ud83d\ude00": "http://example.org/a/%F0%9F%98%80",
    "mailto:a@b.org": None,
    "javascript:void(0)": None,
    "http://": None,
    "//[": None,
}


def test_hrefs_are_resolved_against_their_base_and_keep_their_order() -> None:
    found = urls.join("http://example.org/a/b?x=1", list(HREFS) * 2)
    assert [url and url.text for url in found] == list(HREFS.values()) * 2


def test_without_a_usable_base_hrefs_must_be_absolute() -> None:
    assert [url and url.text for url in urls.join("about:blank", ["a", "http://b.org"])] == [None, "http://b.org/"]
    assert [url and url.text for url in urls.join("", ["a", "http://b.org"])] == [None, "http://b.org/"]


def test_a_session_id_of_the_base_is_not_in_the_link() -> None:
    assert joined("http://user@example.org/(S(4hqa0555fwsecu455xqckv45))/a", "b;jsessionid=3") == "http://example.org/b"


def test_a_redirect_may_be_written_in_raw_utf8_or_latin_1() -> None:
    for location, expected in {
        "/größe".encode().decode("latin-1"): "http://a.org/gr%C3%B6%C3%9Fe",
        "/größe": "http://a.org/gr%C3%B6%C3%9Fe",
        "//bücher.example/".encode().decode("latin-1"): "http://xn--bcher-kva.example/",
        "/Ω": "http://a.org/%CE%A9",
        "b?c": "http://a.org/x/b?c",
        "ftp://a.org/": None,
    }.items():
        url = urls.redirect("http://a.org/x/y", location)
        assert (None if url is None else url.text) == expected


def test_a_full_cache_does_not_change_results() -> None:
    hrefs = [f"http://h{number}.example.org/{number}" for number in range(3 * urls.REMEMBERED)]
    assert [url and url.text for url in urls.join("http://a.org/", hrefs)] == hrefs


PARTS = {
    "http://example.org/": ("http://example.org", 80, "org"),
    "https://example.org/a:1/b": ("https://example.org", 443, "org"),
    "http://example.org:8080/a": ("http://example.org:8080", 8080, "org"),
    "http://a/": ("http://a", 80, "a"),
    "http://[::1]/": ("http://[::1]", 80, ""),
    "https://[::1]:8443/": ("https://[::1]:8443", 8443, ""),
    "http://127.0.0.1:81/": ("http://127.0.0.1:81", 81, ""),
}


@pytest.mark.parametrize("text", PARTS)
def test_origin_port_and_tld_are_read_from_the_canonical_text(text: str) -> None:
    url = urls.parse(text)
    assert url is not None
    assert (urls.origin(url.text), urls.port(url.text), urls.tld(url.host)) == PARTS[text]


SURTS = {
    "https://fusionbikes.com.ar/producto/luz-knog-blinder-mini-niner/": (
        "ar,com,fusionbikes)/producto/luz-knog-blinder-mini-niner"
    ),
    "http://www.archive.org/": "org,archive)/",
    "http://www34.archive.org/index.html?b=a&b=b&a=b": "org,archive)/index.html?a=b&b=a&b=b",
    "http://www2foo.com/": "com,www2foo)/",
    "https://Example.org:8443/A/B/?Q=X&a-b=1&a=2&c&A": "org,example:8443)/a/b?a&a=2&a-b=1&c&q=x",
    "http://host.com//twoslashes?more//slashes": "com,host)/twoslashes?more//slashes",
    "http://127.0.0.1/x": "1,0,0,127)/x",
    "http://[::1]:81/x": "[::1]:81)/x",
    "http://host/%25%32%35": "host)/%25",
    "http://host/a%2Fb%2520c%C3%89": "host)/a/b%20c%c3%89",
    "http://host/?%26=1&b": "host)/?&=1&b",
}


@pytest.mark.parametrize("text", SURTS)
def test_the_surt_equals_that_of_public_indexes(text: str) -> None:
    assert urls.surt(canonical(text) or "") == SURTS[text]


def test_the_surt_of_deeply_nested_escapes_is_computed() -> None:
    assert urls.surt("http://a.org/%" + "25" * 30000 + "41") == "org,a)/a"


DOMAINS = {
    "example.org": "example.org",
    "a.b.example.org": "example.org",
    "a.b.example.co.uk": "example.co.uk",
    "co.uk": "co.uk",
    "someone.blogspot.com": "someone.blogspot.com",
    "www.someone.blogspot.com": "someone.blogspot.com",
    "blogspot.com": "blogspot.com",
    "a.b.c.kawasaki.jp": "b.c.kawasaki.jp",
    "a.city.kawasaki.jp": "city.kawasaki.jp",
    "kawasaki.jp": "kawasaki.jp",
    "a.b.site.test": "site.test",
    "localhost": "localhost",
    "127.0.0.1": "127.0.0.1",
    "[::1]": "[::1]",
    "a.xn--55qx5d.cn": "a.xn--55qx5d.cn",
}


@pytest.mark.parametrize("host", DOMAINS)
def test_the_domain_is_the_registered_one(host: str) -> None:
    assert urls.domain(host) == DOMAINS[host]


def test_every_rule_of_the_public_suffix_list_gives_the_same_domain_as_its_own_library() -> None:
    reader = publicsuffixlist.PublicSuffixList()
    data = Path(publicsuffixlist.__file__).with_name("public_suffix_list.dat").read_text("utf-8")
    rules = [line.split()[0] for line in data.splitlines() if line.strip() and not line.startswith("//")]
    assert len(rules) > 9000
    for rule in rules:
        url = urls.parse("http://x." + rule.removeprefix("!").replace("*", "w"))
        assert url is not None, rule
        for host in (url.host, url.host.removeprefix("x."), "y." + url.host, "z.y." + url.host):
            assert urls.domain(host) == (reader.privatesuffix(host) or host), host


def test_the_test_cases_of_the_public_suffix_list_pass() -> None:
    lines = shared("conformance/publicsuffix/tests/tests.txt").read_text("utf-8").splitlines()
    cases = [line.split() for line in lines if line and not line.startswith("//")]
    for name, expected in cases:
        url = urls.parse(f"http://{name}/")
        if name == "null" or name.startswith("."):
            continue  # no input, and a leading dot, which no host has
        assert url is not None, name
        wanted = urls.parse(f"http://{expected}/")
        assert url.domain == (url.host if expected == "null" else wanted and wanted.host), name
    assert len(cases) > 70


def load(name: str) -> list[dict[str, Any]]:
    return [case for case in json.loads(shared(f"conformance/{name}").read_text("utf-8")) if isinstance(case, dict)]


def normal(text: str) -> str:
    """Apply RFC 3986 §6.2.2, written independently of the module, to the parts that WHATWG leaves as they are."""
    text = re.sub("%(?![0-9A-Fa-f]{2})", "%25", text)
    return re.sub("%..", lambda found: decoded if (decoded := unreserved(found[0])) else found[0].upper(), text)


def unreserved(escape: str) -> str:
    char = chr(int(escape[1:], 16))
    return char if re.fullmatch(r"[A-Za-z0-9._~-]", char) else ""


# Valid for WHATWG, but impossible names in DNS.
NO_NAMES = ("http://!\"$&'()*+,-.;=_`{}~/", "http://./", "http://../", "http://foo.09..")


# WHATWG keeps a space before the fragment as %20; we remove it with the fragment, so that a typing error is no new
# page.
BLANK = {"http://f:21/ b ? d # e ": "http://f:21/%20b%20?%20d"}


def test_the_parser_agrees_with_the_web_platform_tests() -> None:
    checked = 0
    for case in load("wpt-url/urltestdata.json"):
        base = case.get("base")
        found = canonical(case["input"]) if base is None else joined(base, case["input"])
        if case.get("failure") or case["protocol"] not in ("http:", "https:") or case["input"] in NO_NAMES:
            expected = None
        else:
            host = re.sub(r"\.(?=:\d+$|$)", "", case["host"])
            expected = BLANK.get(case["input"]) or normal(
                f"{case['protocol']}//{host}{case['pathname']}{case['search']}"
            )
        assert found == expected, case
        checked += expected is not None
    assert checked > 240


def no_dns(host: str) -> bool:
    """Check labels (1 to 63 letters, digits, - and _) and length (253). Browsers leave these checks to the resolver."""
    return len(host) > 253 or not all(re.fullmatch("[a-z0-9_-]{1,63}", label) for label in host.split("."))


NEWER_UNICODE = "\U00032931\U00032b9a"  # assigned in Unicode 17, which the parser's tables do not have yet


@pytest.mark.parametrize("name", ["toascii", "IdnaTestV2", "IdnaTestV2-removed"])
def test_international_names_agree_with_the_web_platform_tests(name: str) -> None:
    cases = load(f"wpt-url/{name}.json")
    for case in cases:
        if not case["input"] or set(case["input"]) & set(NEWER_UNICODE):
            continue
        url = urls.parse(f"https://{case['input']}/x")
        expected = (case["output"] or "").removesuffix(".")
        assert (url and url.host) == (None if no_dns(expected) else expected), case
    assert len(cases) >= 20


def rows(name: str) -> Iterator[list[str]]:
    text = shared(f"conformance/crawler-commons/src/test/resources/{name}").read_text("utf-8")
    lines = [line for line in re.split("\r?\n", text) if line.strip() and not line.startswith("#")]
    for row in csv.reader(lines, skipinitialspace=True):
        yield [field.strip(" ") for field in row]


def other_policy(weird: str, theirs: str) -> str:
    """Return why the normalizer of crawler-commons gives another result; empty where both must agree."""
    query = weird.partition("#")[0].partition("?")[2]
    if not weird.startswith("http"):
        return "only absolute http and https URLs are ours; seed lists may leave http:// out"
    if theirs == "http:/":
        return "a URL without a host cannot be requested"
    if "//" in weird[8:].partition("?")[0]:
        return "empty path segments are kept: servers may tell /a//b from /a/b"
    if re.search(r"[\[\]^`|]", query):
        return "browsers send these in a query as they are"
    if query and (sorted(query.split("&")) != query.split("&") or re.search(r"(^|&)(=|&)|[=&](&|$)", query)):
        return "parameters keep their order, and empty ones stay"
    return ""


def test_urls_are_normalized_as_crawler_commons_does_or_differ_for_a_reason() -> None:
    same = 0
    for weird, theirs in rows("normalizer/weirdToNormalizedUrls.csv"):
        if not other_policy(weird, theirs):
            assert canonical(weird) == theirs, weird
            same += 1
    assert same > 75
    for (invalid,) in rows("normalizer/invalidUrls.csv"):
        assert urls.parse(invalid) is None


def test_urls_are_resolved_as_crawler_commons_does() -> None:
    checked = 0
    for href, base, theirs in rows("url-utils/url-resolve.csv"):
        if not theirs.startswith("file:"):  # never fetched
            bare = re.sub("//[^/]*@", "//", theirs).partition("#")[0]  # user and fragment are not ours
            assert joined(base, href) == normal(bare), href
            checked += 1
    assert checked > 15


INGREDIENTS = (
    "http:// https:// // a.org xn-- / .. . % 25 2 E e ? & amp; %3B ; = # jsessionid PHPSESSID sid utm_x (S( )) ( ) "
    "@ : 80 \\ é \ud800 \0 + ["
)
SOUP = st.lists(st.sampled_from([*INGREDIENTS.split(" "), TOKEN, " ", "\t"]), max_size=24).map("".join)


@given(st.one_of(st.text(), SOUP, SOUP.map("http://a.org/".__add__)))
@example("http://a.org/%%34%31?PHPSESSID=%&%41")
@example("http://a.org/(S(4hqa0555fwse/(S(4hqa0555fwsecu455xqckv45))cu455xqckv45))/a")
def test_the_canonical_form_of_any_text_is_its_own_canonical_form(text: str) -> None:
    url = urls.parse(text)
    if url is not None:
        assert urls.parse(url.text) == url
        assert url.text.isascii()
        assert url.key == urls.key(url.text)
        assert "#" not in url.text
        assert urls.origin(url.text).endswith((url.host, f"{url.host}:{urls.port(url.text)}"))
        assert url.host == url.domain or url.host.endswith("." + url.domain)
        assert urls.surt(url.text).isascii()


@given(st.one_of(st.text(), SOUP), st.one_of(st.just("http://a.org/b/c?d"), SOUP))
def test_any_href_can_be_joined(href: str, base: str) -> None:
    (url,) = urls.join(base, [href])
    if url is not None:
        assert urls.parse(url.text) == url


@given(st.text(alphabet="abcXYZ019-._~!*'()/:@é%?=+ \\\t", max_size=40))
def test_a_second_parser_gives_the_same_result(path: str) -> None:
    text = f"http://example.org/{path}"
    other = ada_url.URL(text)
    assert canonical(text) == normal(f"{other.origin}{other.pathname}{other.search}")


def test_hostile_lengths_and_depths_are_refused_or_parsed() -> None:
    for text in (
        "http://" + "é" * 60000,
        "http://" + "xn--a." * 10000,
        "http://a.org/" + "(S(" * 20000,
        "http://a.org/" + "../" * 20000,
        "http://a.org/?" + "&amp;" * 12000,
        "http://a.org/?" + "amp;" * 15000,
        "http://a.org/" + ";jsessionid=1" * 5000,
        "http://a.org/" + "%" * 60000,
        "http://a.org/?" + "sid" * 20000 + "=" + TOKEN,
        "x" * 1_000_000,
        "http://a.org/" + "b" * 1_000_000,
        "\ud800" * 1_000_000,
    ):
        url = urls.parse(text)
        assert url is None or urls.parse(url.text) == url
        assert urls.join("http://a.org/", [text])[0] in (url, None)


@pytest.mark.parametrize(
    ("text", "authority", "host"),
    [
        ("http://example.org/", "example.org", "example.org"),
        ("https://example.org:8443/a//b", "example.org:8443", "example.org"),
        ("http://[::1]/", "[::1]", "[::1]"),
        ("http://[::1]:8080/a", "[::1]:8080", "[::1]"),
        ("", "", ""),
        ("example", "", ""),
    ],
)
def test_host_and_authority_are_read_from_a_canonical_url(text: str, authority: str, host: str) -> None:
    assert (urls.authority_of(text), urls.host_of(text)) == (authority, host)


def test_a_host_is_below_itself_and_the_domains_above_it() -> None:
    assert [urls.below(host, {"b.org"}) for host in ("b.org", "a.b.org", "ab.org", "org", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org/A/../b?z=1&a=2#f", "org,example)/b?a=2&z=1"),
        ("HTTP://user@WWW2.Example.org:80/x/", "org,example)/x"),
        ("https://example.org:8443/a?utm_source=x", "org,example:8443)/a?utm_source=x"),
        ("http://example.org/a?x=1&PHPSESSID=0123456789abcdef0123456789abcdef&y", "org,example)/a?x=1&y"),
        ("http://example.org/(S(0123456789abcdef01234567))/p.aspx", "org,example)/p.aspx"),
        ("http://example.org/?sid=short", "org,example)/?sid=short"),
        ("http://192.0.2.7/", "7,2,0,192)/"),
        ("http://WWW.Example.Org/A", "org,example)/a"),
        ("http://example.org", "org,example)/"),
        ("http://example.org?a=1", "org,example)/?a=1"),
        ("dns:example.org", ""),
        ("no URL", ""),
    ],
)
def test_the_sort_key_of_any_url(url: str, key: str) -> None:
    assert urls.sort_key(url) == key


@given(st.text("aA.%/?&=;:-~#2F\\u00e9 ", max_size=30))
def test_the_sort_key_of_a_canonical_url_is_its_surt(rest: str) -> None:
    url = urls.parse(f"http://www.Example.org/{rest}")
    if url is not None:
        assert urls.sort_key(url.text) == urls.surt(url.text)


@given(st.text("aBn-.", max_size=8), st.text("aB./?&=", max_size=20))
@example("WWW.", "")
@example("", "?a")
@example("xn--", "/")
def test_the_sort_key_does_not_depend_on_how_it_is_computed(host: str, rest: str) -> None:
    url = f"http://{host}example.org{rest}"
    assert urls.sort_key(url) == urls.sort_key(url.replace("http://", "http://u@", 1))


@given(st.text())
def test_any_text_has_a_sort_key_or_none(text: str) -> None:
    assert urls.sort_key(text) == ""
    assert isinstance(urls.sort_key(f"http://{text}"), str)
