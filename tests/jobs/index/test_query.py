"""`windrow query`: Common Crawl's own queries, the forms of the output, and errors with their place."""

import gzip
import io
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.jobs import ranges
from tests.jobs.index import crawls
from windrow.config import ConfigError
from windrow.jobs.index import query, table

# As published, except for the quotation marks and the caret, which the slides have lost.
CAPTURES_PER_TLD = """
SELECT COUNT(*) AS n_captures,
       COUNT(DISTINCT url_host_registered_domain)
         AS n_domains,
       url_host_tld
FROM "ccindex"."ccindex"
WHERE crawl = 'CC-MAIN-2022-49'
  AND subset = 'warc'
  -- primary language: Malayalam
  AND content_languages LIKE 'mal%'
GROUP BY url_host_tld
ORDER BY n_captures DESC;
"""
SITES_BY_LANGUAGE = """
WITH tmp AS (
SELECT COUNT(*) AS num_pages,
       regexp_extract(content_languages, '^([a-z]{3})') AS primary_content_language,
       url_host_name,
       SUM(COUNT(*)) OVER (PARTITION BY regexp_extract(content_languages, '^([a-z]{3})'))
         AS total_pages_lang,
       SUM(COUNT(*)) OVER (PARTITION BY url_host_name) AS total_pages_host,
       array_agg(regexp_extract(content_languages, '^([a-z]{3})')) OVER (PARTITION BY url_host_name)
         AS host_primary_content_languages
FROM ccindex.ccindex
WHERE crawl = 'CC-MAIN-2022-49'
  AND subset = 'warc'
GROUP BY regexp_extract(content_languages, '^([a-z]{3})'),
         url_host_tld,
         url_host_name)
SELECT num_pages,
       url_host_name,
       (100.0*num_pages/total_pages_lang) AS perc_of_lang,
       total_pages_host,
       (100.0*num_pages/total_pages_host) AS perc_of_host,
       host_primary_content_languages
FROM tmp
WHERE primary_content_language = 'mal'
  AND num_pages >= 5
  AND (100.0*num_pages/total_pages_host) >= 5.0
ORDER BY num_pages DESC;
"""
PAGES = {  # host -> languages of its pages
    "ml.wikipedia.org": ["mal"] * 6 + ["lat"] + ["mal,eng"] * 2,
    "www.manorama.com": ["mal"] * 5,
    "few.example.com": ["mal"] * 4,
    "rare.example.com": ["mal"] * 5 + ["eng"] * 100,
    "fanport.in": ["mal"] * 7 + ["eng"] + [""],
}


def line(host: str, number: int, languages: str) -> table.Row:
    values = {"url": f"https://{host}/{number}", "length": "1", "offset": "0", "filename": "f", "status": "200"}
    values |= {"languages": languages} if languages else {}
    return table.row(table.parse(b"k 20221126000000 " + json.dumps(values).encode()), "0")


def write(directory: Path, parts: dict[str, list[table.Row]]) -> None:
    """Write a small table; rows by partition, sorted."""
    for name, rows in parts.items():
        writer = table.TableWriter(directory / name)
        for row in rows:
            writer.add(row)
        writer.close()


@pytest.fixture(scope="module")
def malayalam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with pages in Malayalam and other languages, in the folders of Common Crawl's."""
    directory = tmp_path_factory.mktemp("bucket") / "cc-index" / "table" / "cc-main" / "warc"
    rows = [line(host, number, code) for host, found in PAGES.items() for number, code in enumerate(found)]
    other = [line("other.example.com", number, "mal") for number in range(9)]
    parts = {
        "crawl=CC-MAIN-2022-49/subset=warc": rows,
        "crawl=CC-MAIN-2022-49/subset=crawldiagnostics": other,
        "crawl=CC-MAIN-2021-01/subset=warc": other,
    }
    write(directory, parts)
    return directory


def test_captures_per_top_level_domain(malayalam: Path) -> None:
    found = query.run(str(malayalam), CAPTURES_PER_TLD)
    assert found.columns == ["n_captures", "n_domains", "url_host_tld"]
    assert list(found.rows()) == [(14, 2, "com"), (8, 1, "org"), (7, 1, "in")]


def test_sites_by_language_keep_pages_without_one(malayalam: Path) -> None:
    found = [
        (*row[:2], round(row[2], 1), row[3], round(row[4], 1))
        for row in query.run(str(malayalam), SITES_BY_LANGUAGE).rows()
    ]
    assert found == [
        (8, "ml.wikipedia.org", 27.6, 9, 88.9),
        (7, "fanport.in", 24.1, 9, 77.8),
        (5, "www.manorama.com", 17.2, 5, 100.0),
    ]
    languages = {row[1]: row[5] for row in query.run(str(malayalam), SITES_BY_LANGUAGE).rows()}
    assert sorted(languages["fanport.in"], key=str) == [None, "eng", "mal"]


def test_the_table_of_a_crawl_is_found_from_its_directory_its_index_and_its_files(tmp_path: Path) -> None:
    crawl = crawls.write(tmp_path / "crawl")
    crawls.index(crawl)
    text = "SELECT count(*) FROM ccindex WHERE crawl = 'TEST-2026-01' AND subset = 'warc'"
    for place in (crawl, crawl / "index", crawl / "index" / "table"):
        assert list(query.run(str(place), text).rows()) == [(4,)]
    [file] = (crawl / "index" / "table").rglob("subset=robotstxt/*.parquet")
    assert list(query.run(str(file), "SELECT url, subset FROM ccindex").rows()) == [
        ("http://example.org/robots.txt", "robotstxt")
    ]


def test_functions_of_athena_are_known(malayalam: Path) -> None:
    text = "SELECT approx_distinct(url_host_name) FROM ccindex WHERE regexp_like(url_host_name, '^ml')"
    assert list(query.run(str(malayalam), text).rows()) == [(1,)]


def test_a_table_is_read_over_http_and_by_a_list_of_paths(malayalam: Path) -> None:
    bucket = malayalam.parents[3]
    [file] = malayalam.rglob("crawl=CC-MAIN-2022-49/subset=warc/*.parquet")
    name = file.relative_to(bucket).as_posix()
    paths = bucket / "crawl-data" / "CC-MAIN-2022-49" / "cc-index-table.paths.gz"
    paths.parent.mkdir(parents=True)
    paths.write_bytes(gzip.compress(f"{name}\n".encode()))
    text = "SELECT count(*), min(crawl), min(subset) FROM ccindex"
    with ranges.serve(bucket) as server:
        for place in (f"{server.url}/{name}", f"{server.url}/{paths.relative_to(bucket)}", str(paths)):
            assert list(query.run(place, text).rows()) == [(132, "CC-MAIN-2022-49", "warc")]
        with pytest.raises(ConfigError, match=r"nothing\.parquet cannot be read as a table"):
            query.run(f"{server.url}/nothing.parquet", text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("SELECT *\nFORM ccindex", "the query, line 2, column 6: syntax error"),
        ("SELECT url,\n  nope FROM ccindex", 'the query, line 2, column 3: Referenced column "nope" not found'),
        ("SELECT *\nFROM ccindx", "the query, line 2, column 6: Table with name ccindx does not exist"),
        ("SELECT cast(url AS int) FROM ccindex", "Could not convert"),
        ("CREATE TABLE x (a int)", "the query is a CREATE"),
        ("SELECT 1;\nSELECT 2", "the query has 2 statements"),
        (" ", "the query is empty"),
    ],
)
def test_an_error_in_sql_is_one_sentence_with_its_place(malayalam: Path, text: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        list(query.run(str(malayalam), text).rows())
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_place_without_a_table_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="windrow index"):
        query.find(str(tmp_path))
    with pytest.raises(ConfigError, match="no such directory"):
        query.find(str(tmp_path / "missing"))
    (tmp_path / "bad.parquet").write_bytes(b"no table")
    with pytest.raises(ConfigError, match=r"bad\.parquet cannot be read as a table"):
        query.run(str(tmp_path), "SELECT 1")
    (tmp_path / "list.paths.gz").write_bytes(b"no gzip")
    with pytest.raises(ConfigError, match="is not a list of paths"):
        query.find(str(tmp_path / "list.paths.gz"))


def written(place: Path, form: str, text: str = "", shown: int = 1000) -> str:
    out = io.StringIO()
    query.write(
        query.run(str(place), text or "SELECT 1 AS a, 'x,\u00e9' AS \"b c\", NULL AS n, [1, 2] AS l"), form, out, shown
    )
    return out.getvalue()


def test_rows_are_written_in_every_form(malayalam: Path, tmp_path: Path) -> None:
    assert written(malayalam, "csv") == 'a,b c,n,l\n1,"x,é",,"[1, 2]"\n'
    assert json.loads(written(malayalam, "json")) == [{"a": 1, "b c": "x,é", "n": None, "l": [1, 2]}]
    assert written(malayalam, "table").splitlines() == ["a  b c  n     l", "1  x,é  null  [1, 2]"]
    assert written(malayalam, "json", "SELECT 1 WHERE false") == "[]\n"
    result = query.run(str(malayalam), "SELECT url, fetch_time FROM ccindex ORDER BY url LIMIT 3")
    assert query.write_parquet(result, tmp_path / "out.parquet") == 3
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").column_names == ["url", "fetch_time"]


def test_a_table_on_the_screen_has_a_limited_length(malayalam: Path) -> None:
    assert len(written(malayalam, "table", "SELECT * FROM range(50)", shown=7).splitlines()) == 8
