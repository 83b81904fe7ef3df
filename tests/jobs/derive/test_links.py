"""The table of links."""

from pathlib import Path
from typing import Any

from tests.jobs import warcs
from tests.jobs.derive.made import derived, rows
from windrow.jobs.derive import links

URL = "http://www.a.example/dir/page.html?x=1#part"


def of_page(tmp_path: Path, body: bytes, **record: str) -> list[dict[str, Any]]:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record(URL, body, **record)])
    derived(source, tmp_path / "out", links=True)
    return rows(tmp_path / "out" / "links.parquet")


def test_a_link_has_its_page_its_target_and_its_attributes(tmp_path: Path) -> None:
    (row,) = of_page(tmp_path, b"<a href=' ../x?b=2#f' rel=nofollow title=T hreflang=de target=_top>to  x</a>")
    assert row.pop("fetch_time").isoformat() == "2024-05-06T07:08:09+00:00"
    assert {name: value for name, value in row.items() if value is not None} == {
        "url": "http://www.a.example/dir/page.html?x=1",
        "url_host_name": "www.a.example",
        "url_host_registered_domain": "a.example",
        "warc_filename": "a.warc.gz",
        "warc_record_offset": 0,
        "position": 0,
        "path": "A@/href",
        "href": " ../x?b=2#f",
        "target_url": "http://www.a.example/x?b=2",
        "target_host_name": "www.a.example",
        "target_host_registered_domain": "a.example",
        "text": "to x",
        "rel": "nofollow",
        "title": "T",
        "hreflang": "de",
        "frame": "_top",
    }


def test_every_kind_of_link_has_a_row(tmp_path: Path) -> None:
    body = (
        b"<base href=http://b.example/base/><meta http-equiv=Refresh content='5; url=r'><link rel=alternate href=l>"
        b"<script src=s></script><img src=i alt=A><form action=f method=post></form><a href=mailto:x@y.example>m</a>"
        b"<style>p { background: url(c.png) }</style><div data-href=d>"
    )
    found = of_page(tmp_path, body, Link="<h>; rel=next, <k>", Content_Location="o")
    assert [(row["path"], row["target_url"]) for row in found] == [
        ("HTTP@/link", "http://b.example/base/h"),
        ("HTTP@/link", "http://b.example/base/k"),
        ("HTTP@/content-location", "http://b.example/base/o"),
        ("META@/refresh", "http://b.example/base/r"),
        ("LINK@/href", "http://b.example/base/l"),
        ("SCRIPT@/src", "http://b.example/base/s"),
        ("IMG@/src", "http://b.example/base/i"),
        ("FORM@/action", "http://b.example/base/f"),
        ("A@/href", None),
        ("STYLE/#text", "http://b.example/base/c.png"),
        ("DIV@/data-href", "http://b.example/base/d"),
    ]
    assert [row["position"] for row in found] == list(range(len(found)))
    assert (found[0]["rel"], found[1]["rel"], found[6]["alt"], found[7]["method"]) == ("next", None, "A", "post")


def test_a_redirect_is_a_link_and_a_page_without_links_has_no_row(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.record("http://a.example/1", b"", status="301 Moved", Location="/2"),
            warcs.record("http://a.example/2", b"<p>no link"),
            warcs.record("http://a.example/3", b"\x00\x01", "image/png"),
        ],
    )
    account = derived(source, tmp_path / "out", links=True)
    (row,) = rows(tmp_path / "out" / "links.parquet")
    assert (row["path"], row["target_url"], account["links"]) == ("HTTP@/location", "http://a.example/2", 1)


def test_the_links_of_a_page_in_another_encoding_are_requested_as_browsers_do(tmp_path: Path) -> None:
    body = "<meta charset=windows-1251><a href='/s?q=мир'>мир</a>".encode("cp1251")
    (row,) = of_page(tmp_path, body, content_type="text/html")
    assert (row["target_url"], row["text"]) == ("http://www.a.example/s?q=%EC%E8%F0", "мир")


def test_rows_come_in_batches_and_none_is_lost(tmp_path: Path) -> None:
    pages = [warcs.record(f"http://a.example/{page}", b"<a href=x>y</a>" * 300) for page in range(100)]
    source = warcs.write(tmp_path / "a.warc.gz", pages)
    batches = list(links.rows(str(source)))
    found = [(row["url"], row["position"]) for batch in batches for row in batch.to_pylist()]
    assert len(batches) > 1
    assert found == [(f"http://a.example/{page}", place) for page in range(100) for place in range(300)]


def test_a_page_with_a_million_links_gives_a_bounded_number_of_rows(tmp_path: Path) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", [warcs.record("http://a.example/", b"<a href=/x>" * 1_000_000)])
    account = derived(source, tmp_path / "out", links=True)
    assert account["links"] == 1 << 17
