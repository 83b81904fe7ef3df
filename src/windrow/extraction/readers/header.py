"""What the header of a response says to a reader: the media type of the body, and directives for robots."""

import re
from collections.abc import Iterator

_FIELDS = re.compile(rb"\r\n(content-type|x-robots-tag)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
_AGENT = re.compile(r"[ \t]*([a-z0-9_*.-]+)[ \t]*:(.*)", re.DOTALL)
# Directives with a value, which look like the name of an agent.
_VALUED = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_TYPE = 256  # characters of a content type
_NOFOLLOW = {"nofollow", "none"}
_NOINDEX = {"noindex", "none"}


def read(head: bytes, agent: str) -> tuple[str, set[str]]:
    """Return the content type, and the directives of X-Robots-Tag for all robots and for `agent` (lower case)."""
    content_type = ""
    directives: set[str] = set()
    for name, value in _FIELDS.findall(head):
        if name[0] in b"Cc":
            content_type = content_type or value[:_TYPE].decode("latin-1").rstrip()
        else:
            directives.update(_directives(value.decode("latin-1").lower(), agent))
    return content_type, directives


def content_type(head: bytes) -> str:
    return read(head, "")[0]


def nofollow(directives: set[str]) -> bool:
    return not directives.isdisjoint(_NOFOLLOW)


def noindex(directives: set[str]) -> bool:
    return not directives.isdisjoint(_NOINDEX)


def _directives(value: str, agent: str) -> Iterator[str]:
    """Yield the directives for us: `noindex, nofollow` applies to all robots; after `name:` all apply to that robot."""
    ours = True
    for part in value.split(","):
        match = _AGENT.fullmatch(part)
        if match and match[1] not in _VALUED:
            ours, part = match[1] in ("*", agent), match[2]
        if ours:
            yield from part.split()
