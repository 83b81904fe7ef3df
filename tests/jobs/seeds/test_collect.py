"""`windrow seeds`: every kind of source, recognised by its content."""

import gzip
from pathlib import Path

import pytest

from tests.jobs import ranges, warcs
from windrow.config import ConfigError
from windrow.jobs.seeds import collect

OLD = """-- MySQL dump
CREATE TABLE `externallinks` (
  `el_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `el_from` int(8) unsigned NOT NULL DEFAULT 0,
  `el_to` blob NOT NULL,
  `el_index` blob NOT NULL,
  PRIMARY KEY (`el_id`)
) ENGINE=InnoDB;
/*!40000 ALTER TABLE `externallinks` DISABLE KEYS */;
INSERT INTO `externallinks` VALUES (1,10,'http://a.example/it\\'s,(1)','x'),(2,10,'//b.example/p','y'),(3,11,'mailto:x@y','z');
INSERT INTO `externallinks` VALUES (4,12,'https://c.example/?q=\\"a\\\\b\\"','x'),(5,NULL,'http://a.example/it\\'s,(1)','x');
"""
NEW = """CREATE TABLE `externallinks` (
  `el_id` int(10) unsigned NOT NULL,
  `el_from` int(8) unsigned NOT NULL,
  `el_to_domain_index` varbinary(255) NOT NULL DEFAULT '',
  `el_to_path` blob DEFAULT NULL,
  PRIMARY KEY (`el_id`)
);
INSERT INTO `externallinks` VALUES (1,10,'https://org.example.www.','/a?b'),(2,10,'http://org.example.:8080','/'),\
(3,11,'http://V4.192.0.2.7.','/x'),(4,11,'mailto:org.example.@joe',''),(5,11,'http://com.plain.',NULL);
"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="x" xmlns:image="y">
<url><loc> https://a.example/1?x=1&amp;y=2 </loc><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
<url><loc><![CDATA[https://a.example/2]]></loc></url></urlset>"""


def read(path: Path | str, complaints: list[str] | None = None) -> list[str]:
    found: list[str] = [] if complaints is None else complaints
    urls = list(collect.unique(collect.read(str(path), found.append)))
    assert complaints is not None or found == []
    return urls


@pytest.mark.parametrize("packed", [False, True])
def test_a_dump_of_external_links_of_before_2024(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "mlwiki-externallinks.sql.gz"
    path.write_bytes(gzip.compress(OLD.encode()) if packed else OLD.encode())
    assert read(path) == ["http://a.example/it's,(1)", "https://b.example/p", "https://c.example/?q=%22a\\b%22"]


def test_a_dump_with_hosts_in_reverse_order(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    path.write_text(NEW)
    assert read(path) == [
        "https://www.example.org/a?b",
        "http://example.org:8080/",
        "http://192.0.2.7/x",
        "http://plain.com/",
    ]


def test_a_dump_of_another_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    path.write_text("CREATE TABLE `externallinks` (\n  `x` int\n);\nINSERT INTO `externallinks` VALUES (1);\n")
    with pytest.raises(ConfigError, match="no column el_to"):
        read(path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_sitemap_without_the_images_of_its_pages(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_bytes(gzip.compress(SITEMAP.encode()) if packed else SITEMAP.encode())
    assert read(path) == ["https://a.example/1?x=1&y=2", "https://a.example/2"]


def index(*urls: str) -> str:
    inner = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<sitemapindex xmlns="x">{inner}</sitemapindex>'


def test_an_index_of_sitemaps_beside_it(tmp_path: Path) -> None:
    (tmp_path / "one.xml.gz").write_bytes(gzip.compress(SITEMAP.encode()))
    (tmp_path / "index.xml").write_text(index("https://a.example/maps/one.xml.gz", "https://a.example/two.xml"))
    complaints: list[str] = []
    assert len(read(tmp_path / "index.xml", complaints)) == 2
    assert "https://a.example/two.xml" in complaints[0] and len(complaints) == 1


def test_an_index_of_sitemaps_on_a_server(tmp_path: Path) -> None:
    (tmp_path / "one.xml.gz").write_bytes(gzip.compress(SITEMAP.encode()))
    with ranges.serve(tmp_path) as server:
        (tmp_path / "index.xml").write_text(index(f"{server.url}/one.xml.gz", f"{server.url}/none.xml"))
        complaints: list[str] = []
        assert len(read(f"{server.url}/index.xml", complaints)) == 2
        assert "none.xml" in complaints[0] and len(complaints) == 1


def test_an_index_that_contains_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "index.xml").write_text(index("https://a.example/index.xml"))
    complaints: list[str] = []
    assert read(tmp_path / "index.xml", complaints) == []
    assert len(complaints) == 1


def test_pages_of_a_warc_file(tmp_path: Path) -> None:
    made = [
        warcs.record("http://a.example/1", b"<p>x</p>"),
        warcs.record("http://a.example/2", b"", "image/png"),
        warcs.record("http://a.example/3", b"", status="404 Not Found"),
    ]
    path = warcs.write(tmp_path / "a.warc.gz", made)
    assert read(path) == ["http://a.example/1"]


def test_pages_of_a_warc_file_before_and_behind_its_damage(tmp_path: Path) -> None:
    first, second = (gzip.compress(warcs.record(f"http://a.example/{number}", b"<p>x</p>")) for number in (1, 2))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(first + b"garbage" + second)
    complaints: list[str] = []
    assert read(path, complaints) == ["http://a.example/1", "http://a.example/2"]
    [complaint] = complaints
    assert f"{path}, bytes {len(first)} to {len(first) + 7}: " in complaint


def test_a_list_of_hosts_and_urls_with_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "hosts.txt"
    path.write_text("\ufeffexample.org\nhttps://a.example/x  # why\n\n# comment\nno url\nexample.org\nB.example:8080\n")
    complaints: list[str] = []
    assert read(path, complaints) == ["http://example.org/", "https://a.example/x", "http://b.example:8080/"]
    assert complaints == [f"{path}, line 5: 'no url' is neither a URL nor a host"]


def test_a_limit_per_host(tmp_path: Path) -> None:
    urls = [f"http://{host}.example/{number}" for number in range(5) for host in "ab"]
    assert list(collect.unique(urls, 2)) == urls[:4]


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read(tmp_path / "none")
