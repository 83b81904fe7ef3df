"""Sitemaps: the URLs of a site, or of further sitemaps.

Only the <loc> elements are read, by their tags: an XML parser would also expand what a hostile file defines.
"""

import html
import re
from collections.abc import Iterator

_LOCATION = re.compile(
    rb"<((?:\w+:)?)loc\s*>\s*(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?\s*</\1loc\s*>", re.DOTALL | re.IGNORECASE
)
_OTHERS = (b"image:", b"video:", b"news:")  # extensions, whose <loc> is not a page
_INDEX = re.compile(rb"<(?:\w+:)?sitemapindex[\s>]", re.IGNORECASE)
_URLS = re.compile(rb"<(?:\w+:)?urlset[\s>]", re.IGNORECASE)
_LONGEST = 1 << 16  # bytes of an element; a longer one is not a URL


def is_sitemap(start: bytes) -> bool:
    return bool(_INDEX.search(start) or _URLS.search(start))


def is_index(start: bytes) -> bool:
    return _INDEX.search(start) is not None


def locations(chunks: Iterator[bytes]) -> Iterator[str]:
    """Yield the URLs of a sitemap, or of the sitemaps in an index."""
    held = b""
    for chunk in chunks:
        held += chunk
        end = 0
        for match in _LOCATION.finditer(held):
            end = match.end()
            if match[1].lower() not in _OTHERS:
                yield html.unescape(match[2].decode("utf-8", "replace")).strip()
        held = held[max(end, len(held) - _LONGEST) :]
