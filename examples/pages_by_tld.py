"""Count HTML pages by top-level domain.

windrow batch examples/pages_by_tld.py CRAWL --output tlds.csv --format csv
"""

from windrow import urls


def process(record):
    if record.is_html and record.status == 200:
        yield urls.tld(urls.host_of(record.url)), 1
