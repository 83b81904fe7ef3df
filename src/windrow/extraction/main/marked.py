"""Elements that are marked as the author, the date or the licence of a page: by rel, itemprop, class or place.

A search over the whole tree, or for the headline in the source, costs up to a tenth of the extraction. So only the
elements around the headline are looked at, which `html` takes from the tree.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from windrow.extraction.page import byline, dates
from windrow.extraction.page.links import Found

_OTHER_AUTHOR = re.compile(  # those of comments and other articles, their lives, and names of fields
    r"comment|bio|about|avatar|image|img|pic|photo|form|desc|title|role|box|card|related|social|icon|prep|reply|quote|^data-",
    re.IGNORECASE,
)
_COMMONS = "creativecommons.org/"
_COMMONS_LICENCE = re.compile(r"^(?:https?:)?//(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/\w")

_TEXT = 256  # characters of an element
_ONE = 60  # characters of the name of an author
_MAX_TIMES = 20  # time elements
_MAX_AUTHORS = 8  # links to authors
_MAX_MARKED = 4  # marked elements
_CLASSES = 512  # characters of a class attribute
_FOOTER = 0.75  # of the source is above the footer


class MarkedElement(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def stripped_strings(self) -> Iterator[str]: ...
    def attr(self, name: str, /) -> str | None: ...
    def find(self, *, itemprop: Any) -> "MarkedElement | None": ...


class MarkedTree(Protocol):
    def find_all(self, tag: str, /) -> list[Any]: ...


def times(document: MarkedTree) -> list[str]:
    """Return the dates of time elements; those marked as the publication date come first."""
    found = document.find_all("time")[:_MAX_TIMES]
    first = [time for time in found if time.attr("itemprop") == "datePublished" or time.attr("pubdate") is not None]
    return [time.attr("datetime") or time.text[:_TEXT] for time in (*first, *found)]


def linked_authors(document: MarkedTree, found: Found) -> list[str]:
    """Return the texts of links to authors. The links already found show whether a page has any; few do."""
    if not any(rel and "author" in rel for rel in found.values()):
        return []
    elements = (
        element for element in document.find_all("a") if "author" in (element.attr("rel") or "").lower().split()
    )
    return [element.text[:_TEXT] for element in itertools.islice(elements, _MAX_AUTHORS)]


def near(elements: Sequence[MarkedElement], latest: float) -> tuple[list[str], str]:
    """Return the names of authors and the date in the first elements whose itemprop or class says that they hold them.

    `elements` are those around the headline; `latest`: see `dates.day`. For names an itemprop comes first.
    """
    items, classed, dated = [], [], []
    for element in elements:
        item, classes = element.attr("itemprop"), element.attr("class")
        if item == "author":
            items.append(element)
        elif item == "datePublished":
            dated.append(element)
        if classes and ("uthor" in classes or "yline" in classes):
            classed.append((element, classes[:_CLASSES]))
    own = [element for element, classes in classed if any(map(_names_author, classes.split()))]
    # Elements may contain each other, so the number of those whose text is read is limited.
    found = itertools.chain(map(_item_names, items[:_MAX_MARKED]), map(_class_names, own[:_MAX_MARKED]))
    return next((names for names in found if names), []), _date(dated[0], latest) if dated else ""


def footer_licence(text: str, found: Found) -> str:
    """Return the link to a licence of Creative Commons at the end of a page: the only one on the page.

    Further up, or beside others, such a link tells the licence of a picture.
    """
    licences = [href.strip() for href in found if _COMMONS in href and _COMMONS_LICENCE.match(href.strip())]
    if len(licences) != 1 or text.find(_COMMONS) < _FOOTER * len(text):
        return ""
    return f"https:{licences[0]}" if licences[0].startswith("//") else licences[0]


def _date(element: MarkedElement, latest: float) -> str:
    return dates.day(element.attr("content") or element.attr("datetime") or element.text[:_TEXT], latest)


def _item_names(element: MarkedElement) -> list[str]:
    name = element.find(itemprop="name") or element
    line = " ".join((name.attr("content") or name.text[:_TEXT]).split())
    return byline.marked([line]) or ([line] if 0 < len(line) <= _ONE else [])  # a short one is the name of a user


def _class_names(element: MarkedElement) -> list[str]:
    return byline.marked(itertools.islice(element.stripped_strings, _MAX_AUTHORS))


def _names_author(name: str) -> bool:
    """Return whether a class is that of the author of a page."""
    return ("uthor" in name or "yline" in name) and not _OTHER_AUTHOR.search(name)
