"""Sitemaps: XML, text, packed; and what hostile XML cannot do."""

import gzip

import pytest

from tests.shared import shared
from tests.spent import cpu_seconds
from windrow import urls
from windrow.extraction.readers import sitemap
from windrow.records import Capture, Listing, Task

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def capture(body: bytes | str) -> Capture:
    url = urls.parse("http://a.test/sitemap.xml")
    assert url is not None
    data = body.encode() if isinstance(body, str) else body
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n"
    return Capture(Task(url), 200, b"", head, data, 0.0, 0.0, "127.0.0.1", "http/1.1")


def listed(body: bytes | str) -> list[tuple[str, float]]:
    listing = sitemap.read(capture(body))
    assert isinstance(listing, Listing)
    return [(entry.url.text, entry.changed) for entry in listing.links]


def urlset(*entries: str) -> str:
    inner = "".join(f"<url>{entry}</url>" for entry in entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>{inner}</urlset>'


def test_the_pages_of_a_sitemap_with_the_times_of_their_last_changes() -> None:
    body = urlset(
        "<loc> http://a.test/1?x=1&amp;y=2 </loc><lastmod>2024-05-01</lastmod><priority>0.8</priority>",
        "<lastmod>2024-05-01T12:00:00+02:00</lastmod><loc><![CDATA[http://a.test/2?x[]=1&y=2]]></loc>",
        "<loc>http://a.test/3?&#120;&copy=1</loc><lastmod>soon</lastmod>",
        "<loc>mailto:x@a.test</loc>",
        "<loc></loc>",
    )
    assert listed(body) == [
        ("http://a.test/1?x=1&y=2", 1714521600.0),
        ("http://a.test/2?x[]=1&y=2", 1714557600.0),
        ("http://a.test/3?x&copy=1", 0.0),
    ]


def test_an_index_lists_its_sitemaps() -> None:
    inner = "<sitemap><loc>http://a.test/one.xml.gz</loc><lastmod>2024</lastmod></sitemap>"
    body = f"<sitemapindex {NAMESPACE}>{inner}</sitemapindex>"
    assert listed(body) == [("http://a.test/one.xml.gz", 1704067200.0)]
    assert sitemap.is_index(body.encode()) and not sitemap.is_index(urlset().encode())


def test_prefixes_are_those_of_the_namespace_and_extensions_are_no_pages() -> None:
    entry = "<s:url><image:image><image:loc>http://a.test/i.png</image:loc></image:image><s:loc>http://a.test/1</s:loc>"
    assert listed(f"<s:urlset>{entry}</s:url></s:urlset>") == [("http://a.test/1", 0.0)]


def test_entries_in_comments_are_none_wherever_the_file_is_cut() -> None:
    body = urlset("<loc>http://a.test/1</loc><!-- <loc>http://a.test/no</loc> -->") + "<!-- <url><loc>http://a.test/no"
    commented = "<!-- <url><loc>http://a.test/no</loc></url> a<!--b -->"
    data = body.replace("</urlset>", f"{commented}<url><loc>http://a.test/2</loc></url>").encode()
    for size in (1, 2, 3, 7, 50, len(data)):
        cut = [data[at : at + size] for at in range(0, len(data), size)]
        assert [location for location, _ in sitemap.entries(cut)] == ["http://a.test/1", "http://a.test/2"], size


def test_a_text_sitemap_has_one_url_per_line() -> None:
    body = b"\xef\xbb\xbfhttp://a.test/1\r\n\r\n http://a.test/2 \nno url\n"
    assert listed(body) == [("http://a.test/1", 0.0), ("http://a.test/2", 0.0)]


OTHERS = (b"", b"a text of words", b"<html><p>http://a.test/", gzip.compress(b"\0tar"), b"\x1f\x8b\x08no")


@pytest.mark.parametrize("body", OTHERS)
def test_another_file_is_no_sitemap(body: bytes) -> None:
    assert sitemap.read(capture(body)) is None


def test_a_packed_sitemap_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    body = urlset(*[f"<loc>http://a.test/{number}</loc>" for number in range(1000)]).encode()
    assert len(listed(gzip.compress(body))) == 1000
    monkeypatch.setattr(sitemap, "LIMIT", len(body) // 2)
    assert 450 < len(listed(gzip.compress(body))) < 550


def test_as_many_entries_are_read_as_the_protocol_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MOST", 3)
    assert len(listed(urlset(*[f"<loc>http://a.test/{number}</loc>" for number in range(9)]))) == 3
    assert len(listed("".join(f"http://a.test/{number}\n" for number in range(9)))) == 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0.0),
        ("1970-02", 31 * 86400.0),
        ("1970-01-02T00:00Z", 86400.0),
        ("1970-01-01T00:00:01.5-01:00", 3601.5),
        ("0001-01-01", 0.0),
        ("2024-13-01", 0.0),
        ("2024-05-01 12:00", 0.0),
        ("Wed, 01 May 2024 12:00:00 GMT", 0.0),
        ("9" * 10_000, 0.0),
    ],
)
def test_dates_are_those_of_the_w3c_and_others_say_nothing(text: str, seconds: float) -> None:
    assert sitemap.epoch(text) == seconds


def test_entities_mean_nothing() -> None:
    """A parser would expand the bomb to gigabytes, open the file, and fail at the one that is not defined."""
    bomb = "".join(
        f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    entries = "".join(f"<url><loc>http://a.test/&{name};</loc></url>" for name in ("i", "x", "none"))
    body = (
        f'<!DOCTYPE urlset [<!ENTITY a "ha">{bomb}<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset>{entries}</urlset>'
    )
    assert [text for text, _ in listed(body)] == ["http://a.test/&i;", "http://a.test/&x;", "http://a.test/&none;"]


ATTACKS = ("xmlbomb", "xmlbomb2", "quadratic", "cyclic", "dtd", "external", "external_file", "simple", "simple-ns")


@pytest.mark.parametrize("name", ATTACKS)
def test_the_attacks_of_others_list_nothing(name: str) -> None:
    body = shared(f"conformance/xml-attacks/{name}.xml").read_bytes()
    assert sitemap.read(capture(body)) is None
    assert list(sitemap.entries([body])) == []
    with_entry = body + b"<urlset><url><loc>http://a.test/&a;&ee;</loc></url></urlset>"
    assert list(sitemap.entries([with_entry])) == [("http://a.test/&a;&ee;", "")]


HOSTILE = {
    "locations that do not end": b"<loc>" * 800_000,
    "sections that do not end": b"<loc><![CDATA[" * 300_000,
    "brackets": b"<url><loc><![CDATA[" + b"]" * 4_000_000,
    "comments that do not end": b"<!--" * 1_000_000,
    "ends": b"</url>" * 600_000,
    "half ends": b"</" * 2_000_000,
    "a long name": b"</" + b"a" * 4_000_000,
    "prefixes": b"<a:" * 1_300_000,
    "blanks": b"<url><loc>" + b" " * 4_000_000,
    "a deep nest": b"<url>" * 400_000 + b"</url>" * 400_000,
    "one entry": b"<url>" + b"<loc>x</loc>" * 330_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_is_linear_whatever_the_sitemap_holds(name: str) -> None:
    """Four times as much may take at most twelve times as long: with a quadratic part it would be sixteen."""
    body = b"<urlset>" + HOSTILE[name]

    quarter = cpu_seconds(lambda: sitemap.read(capture(body[: len(body) // 4])))
    assert cpu_seconds(lambda: sitemap.read(capture(body))) < 12 * max(quarter, 0.02)


def test_a_bomb_of_gzip_is_unpacked_up_to_the_limit() -> None:
    body = gzip.compress(b"<urlset>" + b"\0" * (sitemap.LIMIT + (64 << 20)), 1)
    assert len(body) < 1 << 20 and listed(body) == []
