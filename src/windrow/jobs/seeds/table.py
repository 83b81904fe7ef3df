"""Which hosts have pages in a language, by the columnar index: Common Crawl's query for the discovery of sites."""

import re
from collections.abc import Iterator

import msgspec

from windrow.config import ConfigError
from windrow.jobs.index import query
from windrow.judge.language import codes

PER_HOST = 5  # URLs of a host, unless the user says otherwise
_CRAWL = re.compile(r"[\w.-]+")

# The first part is the published query; the second takes the shortest URLs of each host, whose pages have the language.
_QUERY = """
WITH counted AS (
    SELECT COUNT(*) AS num_pages,
           regexp_extract(content_languages, '^([a-z]{{3}})') AS primary_content_language,
           url_host_name,
           SUM(COUNT(*)) OVER (PARTITION BY url_host_name) AS total_pages_host
    FROM ccindex.ccindex
    WHERE subset = 'warc' {crawl}
    GROUP BY primary_content_language, url_host_name
), hosts AS (
    SELECT url_host_name, num_pages FROM counted
    WHERE primary_content_language = '{language}'
      AND num_pages >= {pages}
      AND 100.0 * num_pages / total_pages_host >= {share}
), pages AS (
    SELECT url, url_host_name,
           row_number() OVER (PARTITION BY url_host_name ORDER BY length(url), url) AS place
    FROM (SELECT DISTINCT url, url_host_name FROM ccindex.ccindex
          WHERE subset = 'warc' {crawl} AND content_languages LIKE '{language}%')
)
SELECT url FROM pages JOIN hosts USING (url_host_name)
{limit}
ORDER BY num_pages DESC, url_host_name, place
"""


class LanguageHosts(msgspec.Struct, frozen=True, kw_only=True):
    """Which hosts are wanted: those with enough pages in a language."""

    language: str
    crawl: str = ""  # empty: all crawls of the table
    min_pages: int = 5
    min_share: float = 5.0  # per cent of the pages of the host
    per_host: int = PER_HOST  # 0: all


def find(location: str, wanted: LanguageHosts) -> Iterator[str]:
    """Yield URLs of the hosts, those with the most pages first."""
    language = codes.parse(wanted.language)
    if wanted.crawl and not _CRAWL.fullmatch(wanted.crawl):
        raise ConfigError(f"{wanted.crawl!r} is not the name of a crawl; write for example CC-MAIN-2024-22")
    text = _QUERY.format(
        language=language,
        crawl=f"AND crawl = '{wanted.crawl}'" if wanted.crawl else "",
        pages=int(wanted.min_pages),
        share=float(wanted.min_share),
        limit=f"WHERE place <= {int(wanted.per_host)}" if wanted.per_host else "",
    )
    for (url,) in query.run(location, text, f"the query for {language}").rows():
        yield str(url)
