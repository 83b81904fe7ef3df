"""The lines of a block, where the page shows any: code in `<pre>`, and text with single `<br>`.

A block's lines are its text with other white space: split into words they are the same words. No line ends with a
blank, and the first and the last line are not empty. Of white space only "\\n", "\\t" and the blank occur.
"""

import itertools
import re
from collections.abc import Sequence

CONTROL = re.compile(
    "[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]"
)  # the other control characters are white space
_OTHER_SPACE = re.compile(r"[^\S\n\t]")
_LINE_END = re.compile(r"(?<![ \t])[ \t]+(?=\n)")  # the look-behind: a run is read once, so that time stays linear
_EMPTY = re.compile(r"\A[ \t\n]*\n")


def clean(text: str) -> str:
    """Return the text on one line with single blanks, without control characters."""
    return " ".join(CONTROL.sub("", " ".join(text.split())).split())


def of_code(source: str) -> str:
    """Return the lines of the text inside a `<pre>`, each with its indent."""
    text = CONTROL.sub("", _OTHER_SPACE.sub(" ", source))
    return _EMPTY.sub("", _LINE_END.sub("", text.rstrip(" \t\n")))


def of_breaks(pieces: Sequence[str], places: Sequence[int]) -> str:
    """Return the lines of a block, given its pieces of text and the places among them that are a `<br>`."""
    borders = itertools.pairwise((0, *places, len(pieces)))
    return "\n".join(filter(None, (clean("".join(pieces[start:end])) for start, end in borders)))
