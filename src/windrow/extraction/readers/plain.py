"""Plain text -> Page: the text that another program extracted, such as that of a WET file, one paragraph per line."""

import re

from windrow.records import Capture, Page, Paragraph

_READ = 1 << 24  # bytes, as of an HTML page
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def extract(capture: Capture) -> Page:
    """Return the lines of a text as paragraphs. Nothing is left out: no markup tells what is main text."""
    text = capture.body[:_READ].decode("utf-8", "replace").removeprefix("\ufeff")
    lines = [" ".join(_CONTROLS.sub("", line).split()) for line in text.splitlines()]
    return Page(paragraphs=tuple([Paragraph(line) for line in lines if line]), charset="utf-8")
