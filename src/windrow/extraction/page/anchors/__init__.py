"""What a page says of the targets of its links: the anchor, the words around it, and the language.

    anchor    the text of the `<a>`; if it has none, the alternative text of an image in it, its title, or its label
    context   the words around it in its own block, without the anchor
    language  the hreflang of the `<a>`, else the nearest lang attribute at it or around it, but not that of the page

A link that is alone in its block has its context from somewhere else: from the other text of its list item, table row
or article; if it stands in a heading, from the block behind it; or else from the nearest heading above it. A link that
occurs several times is described by the first occurrence that has an anchor.

`describe` reads the tree that the parser wrote out for the walk, in one pass: the time is linear, whatever the page.
The C kernel `_anchors` does it where it was built; otherwise `reference` does, with the same result. Taking the same
from the tree with one Python object per node would cost several times as much, and would need limits of its own
against blocks and nestings of any size.
"""

import functools

from windrow.extraction.page.anchors import reference
from windrow.extraction.page.anchors.reference import ANCHOR, LANGUAGE, SIDE, Description

try:
    from windrow.extraction.page.anchors import _anchors
except ImportError:  # there was no compiler: the reference does it
    _anchors = None  # type: ignore[assignment]

__all__ = ["ANCHOR", "LANGUAGE", "Description", "describe"]


def describe(markup: str, most: int) -> dict[str, Description]:
    """Return what a page that `walk.markup` wrote out says of its links, by their hrefs without fragments.

    `most` limits the number of hrefs: of what follows the last one only the next few blocks are read. Any other text
    is accepted too.
    """
    if _anchors is None:
        return reference.describe(markup, most)
    return _anchors.describe(markup, _compiled(), most)


@functools.cache
def _compiled() -> object:
    """Return the table of tags in the kernel's form."""
    return _anchors.compile(list(reference.TAGS.items()), (ANCHOR, SIDE, LANGUAGE, reference.BEHIND))
