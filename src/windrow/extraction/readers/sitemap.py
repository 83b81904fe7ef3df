"""Sitemaps -> Listing: the URLs of a site, or of further sitemaps, with the times of their last changes.

The format is https://www.sitemaps.org/protocol.html: XML with <urlset> or <sitemapindex>, or text with one URL per
line, packed with gzip or not. The XML is read by its tags. A parser would also do what a hostile file defines: expand
its entities, open what it names, descend as deep as it nests. Here none of these has a meaning, and the time is linear:
whatever is searched for ends at the next tag.
"""

import datetime
import html
import itertools
import re
from collections.abc import Iterable, Iterator

from windrow import urls
from windrow.io import coding
from windrow.records import Capture, ListedUrl, Listing

LIMIT = 50 << 20  # bytes of a sitemap, unpacked, and
MOST = 50_000  # entries: both as the protocol has it
START = 1 << 14  # bytes by which a sitemap is recognised

_END = re.compile(rb"</(?:[\w.-]++:)?(?:url|sitemap)\s*+>", re.IGNORECASE)  # of an entry
_VALUE = re.compile(
    rb"<((?:[\w.-]++:)?)(loc|lastmod)\s*+>\s*+(?:<!\[CDATA\[((?:[^<\]]|\](?!\]>))*+)\]\]>|([^<]*+))", re.IGNORECASE
)
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")  # what XML itself defines
_OTHERS = (b"image:", b"video:", b"news:")  # extensions, whose <loc> is not a page
_INDEX = re.compile(rb"<(?:\w+:)?sitemapindex[\s>]", re.IGNORECASE)
_URLS = re.compile(rb"<(?:\w+:)?urlset[\s>]", re.IGNORECASE)
_LONGEST = 1 << 16  # bytes of an entry; of a longer one the end is read
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(T.+)?)?)?")
_LINE = re.compile(rb"[^\r\n]++")
_CHUNK = 1 << 18  # bytes of a sitemap that are taken apart at once


def is_sitemap(start: bytes) -> bool:
    """Return whether the first bytes are those of a sitemap in XML."""
    return bool(_INDEX.search(start) or _URLS.search(start))


def is_index(start: bytes) -> bool:
    return _INDEX.search(start) is not None


def read(capture: Capture) -> Listing | None:
    """Return the entries of a sitemap; None if the capture is not one, such as another file packed with gzip."""
    body = capture.body
    if body.startswith(b"\x1f\x8b"):
        body = coding.decode(body, "gzip", LIMIT).body
    body = body.removeprefix(b"\xef\xbb\xbf")
    start = body[:START]
    if is_sitemap(start):
        rows = entries(body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK))
    elif start.lstrip().lower().startswith((b"http://", b"https://")):
        rows = ((line[0].decode("utf-8", "replace"), "") for line in _LINE.finditer(body))
    else:
        return None
    listed = [(urls.parse(text), changed) for text, changed in itertools.islice(rows, MOST)]
    return Listing(tuple([ListedUrl(url, epoch(changed)) for url, changed in listed if url is not None]))


def entries(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the location and the last change of every entry of a sitemap in XML, as they are written."""
    held = b""
    for chunk in chunks:
        text, comment = _without_comments(held + chunk)
        *ended, rest = _END.split(text)
        for entry in ended:
            values = _values(entry[-_LONGEST:])
            if b"loc" in values:
                yield values[b"loc"], values.get(b"lastmod", "")
        held = rest[-_LONGEST:] + comment


def _values(entry: bytes) -> dict[bytes, str]:
    """Return the first location and the first time of an entry, by name."""
    values: dict[bytes, str] = {}
    for prefix, name, quoted, plain in _VALUE.findall(entry):
        text = (quoted or plain).decode("utf-8", "replace").strip()
        if text and prefix.lower() not in _OTHERS:
            values.setdefault(name.lower(), text if quoted else _REFERENCE.sub(_referred, text))
    return values


def _referred(reference: re.Match[str]) -> str:
    return html.unescape(reference[0])


def _without_comments(text: bytes) -> tuple[bytes, bytes]:
    """Return a text without its comments, and what to keep of one that has not ended: its beginning and its end."""
    first, *others = text.split(b"<!--")
    left = [first]
    for other in others:
        comment, end, after = other.partition(b"-->")
        left.append(after)
    return b"".join(left), b"<!--" + comment[-2:] if others and not end else b""


def epoch(text: str) -> float:
    """Return a W3C date, with a time or without, in epoch seconds; 0 if it is none. Without a zone it is UTC."""
    match = _DATE.fullmatch(text)
    if match is None:
        return 0.0
    year, month, day, time = match.groups()
    try:
        then = datetime.datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}{time or ''}")
    except ValueError:
        return 0.0
    return max(0.0, (then if then.tzinfo else then.replace(tzinfo=datetime.UTC)).timestamp())
