"""Plain text -> Page, one paragraph per line. Nothing is left out: no markup tells what is main text."""

import re

from windrow.extraction.readers import decode, header
from windrow.records import Capture, Page, Paragraph

_READ = 1 << 24  # bytes of the text of a WET file, characters of others, as of an HTML page
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def extract(capture: Capture) -> Page:
    """Return the text that another program extracted, such as that of a WET file: UTF-8."""
    return _page(capture.body[:_READ].decode("utf-8", "replace").removeprefix("\ufeff"), "utf-8")


def read(capture: Capture) -> Page:
    """Return a text as a server has sent it."""
    text, charset = decode.decode(capture.body, header.content_type(capture.head))
    return _page(text[:_READ], charset)


def _page(text: str, charset: str) -> Page:
    lines = [" ".join(_CONTROLS.sub("", line).split()) for line in text.splitlines()]
    return Page(paragraphs=tuple([Paragraph(line) for line in lines if line]), charset=charset)
