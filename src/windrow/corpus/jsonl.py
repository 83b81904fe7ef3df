"""Documents as dataset engineers have them: JSON with one text, under the names that datatrove and dolma read.

datatrove wants text, id and metadata; dolma wants id, text and source, and knows added, created and metadata. Both pass over what they do
not know, so that "both" has all of these.
"""

from typing import Any

import msgspec

from windrow import urls
from windrow.config import ConfigError
from windrow.corpus import document as own
from windrow.data import Document

STYLES = ("both", "datatrove", "dolma", "windrow")
_MEMBERS = {"both": ("id", "text", "source", "added", "created", "metadata"), "datatrove": ("text", "id", "metadata")}
_MEMBERS["dolma"] = _MEMBERS["both"]

_encode = msgspec.json.Encoder().encode


def text(document: Document) -> str:
    """One paragraph a line."""
    return "\n".join(paragraph.text for paragraph in document.paragraphs)


def line(document: Document, style: str, dump: str) -> bytes:
    """`dump` names the crawl."""
    members: dict[str, Any] = {
        "id": document.id,
        "text": text(document),
        "source": dump,
        "added": document.time,
        "created": f"{document.date}T00:00:00.000Z" if document.date else document.time,
        "metadata": metadata(document, dump),
    }
    return _encode({name: members[name] for name in _MEMBERS[style]}) + b"\n"


def metadata(document: Document, dump: str) -> dict[str, Any]:
    place = document.place
    host = own.host(document.url)
    return {
        "url": document.url,
        "date": document.time,
        "dump": dump,
        "file_path": place.file,
        "language": document.language,
        "language_score": document.scores.get("language"),
        "title": document.title,
        "author": document.author,
        "published": document.date,
        "host": host,
        "domain": urls.domain(host),
        "tld": urls.tld(host),
        "licence": document.licence,
        "scores": document.scores,
        "signals": document.signals,
        "offset": place.offset,
        "length": place.length,
        "digest": place.digest,
    }


def check(style: str) -> None:
    if style not in STYLES:
        raise ConfigError(f"--style {style!r} is unknown; it must be one of {', '.join(STYLES)}")
