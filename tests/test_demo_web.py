"""Check the demo web: every page that it lists exists and can be reached by links."""

import asyncio
import gzip
import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from tests import reader
from tests.reader import Reader
from windrow.demo import declaration, site, web
from windrow.demo.server import Reply, Server
from windrow.demo.web import Web

LIBRARY = f"http://{site.LIBRARY}"


@pytest.fixture
def demo() -> Iterator[Web]:
    with web.serve() as served:
        yield served


@pytest.fixture
def client(demo: Web) -> Iterator[Reader]:
    client = Reader(demo.port)
    yield client
    client.close()


def walk(demo: Web, client: Reader) -> tuple[set[str], set[str]]:
    """Follow every link except forbidden ones and the calendar's; return the pages found and the missing pages."""
    found, lost, seen, queue = set[str](), set[str](), set(demo.seeds), list(demo.seeds)
    while queue:
        url = queue.pop()
        answer = client.get(url)
        if answer.status == 503:
            answer = client.get(url)
        if answer.status == 200:
            found.add(url)
            targets = reader.links(url, answer.body)
        else:
            targets = {urljoin(url, answer.headers["Location"])} if answer.status == 301 else set()
            lost |= {url} if answer.status == 404 else set()
        new = {target for target in targets if not re.search(r"/\d{4}/\d\d$", target)} - demo.disallowed - seen
        seen |= new
        queue += new
    return found, lost


def test_the_pages_reached_by_links_are_the_pages_listed(demo: Web, client: Reader) -> None:
    found, lost = walk(demo, client)
    assert found == demo.pages
    assert lost == {f"{LIBRARY}/lost.html"}
    assert 300 <= len(demo.pages) <= 400
    assert {urlsplit(url).netloc for url in found} == set(demo.hosts)


def test_forbidden_pages_exist_and_are_forbidden_by_robots(demo: Web, client: Reader) -> None:
    assert [client.get(url).status for url in sorted(demo.disallowed)] == [200, 200]
    assert b"Disallow: /private/\n" in client.get(f"{LIBRARY}/robots.txt").body
    assert b"Disallow: /*/draft\n" in client.get(f"http://{site.COMPRESSED}/robots.txt").body
    assert client.get("http://kirjasto.demo.test/robots.txt").status == 404


def test_a_flaky_page_fails_at_its_first_request(client: Reader) -> None:
    assert [client.get(site.FLAKY).status for _ in range(3)] == [503, 200, 200]


def test_redirects_lead_to_a_page(demo: Web, client: Reader) -> None:
    first = client.get(f"{LIBRARY}/universal")
    second = client.get(urljoin(LIBRARY, first.headers["Location"]))
    assert (first.status, second.status) == (301, 301)
    assert urljoin(LIBRARY, second.headers["Location"]) in demo.pages


def test_one_host_compresses_if_the_client_accepts_it(client: Reader) -> None:
    url = f"http://{site.COMPRESSED}/fr/article-1.html"
    plain, packed = client.get(url, **{"Accept-Encoding": "identity"}), client.get(url, **{"Accept-Encoding": "gzip"})
    assert plain.headers["Content-Encoding"] is None
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body


def test_the_mirror_serves_the_same_bytes(demo: Web, client: Reader) -> None:
    copies = [url for url in demo.pages if f"//{site.MIRROR}/" in url]
    assert len(copies) == 32
    for url in copies:
        assert client.get(url).body == client.get(url.replace(site.MIRROR, site.ORIGINAL)).body


@pytest.mark.parametrize(
    ("language", "url"),
    [
        ("de", "http://bibliothek.demo.test/de/article-1.html"),
        ("ja", f"{LIBRARY}/whole/ja.html"),
        ("ru", "http://bibliothek.demo.test/ru/article-1.html"),
    ],
)
def test_a_page_is_written_in_its_charset(client: Reader, language: str, url: str) -> None:
    charset = site.CHARSETS.get(language, "utf-8")
    answer = client.get(url)
    declared = (
        f"charset={charset}" in answer.headers["Content-Type"] or f'<meta charset="{charset}">'.encode() in answer.body
    )
    assert declared
    assert declaration.load(language).sections[1].paragraphs[0] in html.unescape(answer.body.decode(charset))


def test_the_calendar_never_ends(client: Reader) -> None:
    url = f"http://{site.CALENDAR}/"
    months = [
        url := max(reader.links(url, client.get(url).body) - {f"{LIBRARY}/", f"{LIBRARY}/about.html"})
        for _ in range(30)
    ]
    assert len(set(months)) == 30
    assert client.get(months[-1]).status == 200


def test_requests_are_logged_in_the_order_of_arrival(demo: Web, client: Reader) -> None:
    client.get(f"{LIBRARY}/about.html?PHPSESSID=1")
    client.get(f"http://{site.CALENDAR}/")
    assert [(r.host, r.path, r.connection, r.address) for r in demo.requests] == [
        (site.LIBRARY, "/about.html?PHPSESSID=1", 1, "127.0.0.1"),
        (site.CALENDAR, "/", 1, "127.0.0.1"),
    ]
    assert demo.requests[0].monotonic <= demo.requests[1].monotonic


def test_the_sitemap_lists_the_pages_of_its_host(demo: Web, client: Reader) -> None:
    body = client.get(f"{LIBRARY}/sitemap.xml").body.decode()
    assert set(re.findall(r"<loc>(.*?)</loc>", body)) == {url for url in demo.pages if url.startswith(f"{LIBRARY}/")}


@pytest.mark.parametrize("language", [*site.HOME, *site.WHOLE])
def test_every_text_has_a_preamble_and_thirty_articles(language: str) -> None:
    text = declaration.load(language)
    assert len(text.sections) == 31
    assert all(section.heading and section.paragraphs for section in text.sections)


def test_an_unknown_host_has_no_pages(client: Reader) -> None:
    assert client.get("http://elsewhere.test/").status == 404


def test_pipelined_requests_are_answered_in_order() -> None:
    async def exchange() -> bytes:
        server = Server(
            lambda request: Reply(200, body=request.path.encode(), delay=0.01 if request.path == "/late" else 0.0)
        )
        connection, writer = await asyncio.open_connection("127.0.0.1", await server.start(["127.0.0.1"]))
        writer.write(
            b"GET /late HTTP/1.1\r\n\r\nHEAD /soon HTTP/1.1\r\n\r\nPOST / HTTP/1.1\r\nConnection: close\r\n\r\n"
        )
        answer = await connection.read()
        writer.close()
        server.close()
        return answer

    assert asyncio.run(exchange()) == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n/late"
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
    )
