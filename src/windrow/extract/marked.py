"""Elements that are marked as the author, the date or the licence of a page: by rel, itemprop, class or place.

A search over the whole tree, or over the whole source, costs up to a tenth of the extraction. So the source near the
headline is searched first, and the tree only if the mark is there.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any, Protocol

from windrow.extract import byline, dates
from windrow.extract.links import Found

_AUTHOR_WORDS = ("author", "Author", "byline", "Byline")  # in the names of classes
_BEFORE = re.compile(r"[\w-]*$")
_BEHIND = re.compile(r"[\w-]*")
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
_MAX_CLASSES = 32  # occurrences of a word in the names of classes
_NEAR = 1 << 13  # characters of source before a headline, and half of those behind it, that may hold the author
_CLASS = 64  # characters of the name of a class
_FOOTER = 0.75  # of the source is above the footer


class MarkedElement(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def stripped_strings(self) -> Iterator[str]: ...
    def attr(self, name: str, /) -> str | None: ...
    def find(self, *, itemprop: Any) -> "MarkedElement | None": ...


class MarkedTree(Protocol):
    def find(self, tag: Any = None, *, class_: Any = None, itemprop: Any = None) -> MarkedElement | None: ...
    def find_all(self, tag: str, /) -> list[Any]: ...


def times(document: MarkedTree) -> list[str]:
    """Return the dates of time elements; those marked as the publication date come first."""
    found = document.find_all("time")[:_MAX_TIMES]
    first = [time for time in found if time.attr("itemprop") == "datePublished" or time.attr("pubdate") is not None]
    return [time.attr("datetime") or time.text[:_TEXT] for time in (*first, *found)]


def linked_authors(document: MarkedTree, found: Found) -> list[str]:
    """Return the texts of links to authors. The links already found show whether a page has any; few do."""
    if not any(rel and "author" in rel for _, rel in found.values()):
        return []
    elements = (
        element for element in document.find_all("a") if "author" in (element.attr("rel") or "").lower().split()
    )
    return [element.text[:_TEXT] for element in itertools.islice(elements, _MAX_AUTHORS)]


def near_headline(document: MarkedTree, text: str) -> str:
    """Return the part of a page's source in which the author and the date are usually marked; empty without a h1."""
    if document.find("h1") is None:
        return ""
    headline = text.find("<h1")
    if headline < 0:
        headline = max(0, text.find("<H1"))
    return text[max(0, headline - _NEAR) : headline + 2 * _NEAR]


def authors(document: MarkedTree, near: str) -> list[str]:
    """Return the names in elements whose itemprop or class says that they hold the author; `near`: `near_headline`."""
    if element := _item(document, near, "author"):
        name = element.find(itemprop="name") or element
        line = " ".join((name.attr("content") or name.text[:_TEXT]).split())
        if names := byline.marked([line]) or ([line] if 0 < len(line) <= _ONE else []):  # or the name of a user
            return names
    for mark in list(dict.fromkeys(_author_classes(near)))[:_MAX_AUTHORS]:
        element = document.find(class_=mark)
        if element is not None and (names := byline.marked(itertools.islice(element.stripped_strings, _MAX_AUTHORS))):
            return names
    return []


def date(document: MarkedTree, near: str, latest: float) -> str:
    """Return the date in the element whose itemprop says that it holds the date of publication; see `dates.day`."""
    element = _item(document, near, "datePublished")
    if element is None:
        return ""
    return dates.day(element.attr("content") or element.attr("datetime") or element.text[:_TEXT], latest)


def footer_licence(text: str, found: Found) -> str:
    """Return the link to a licence of Creative Commons at the end of a page: the only one on the page.

    Further up, or beside others, such a link tells the licence of a picture.
    """
    licences = [href.strip() for href in found if _COMMONS in href and _COMMONS_LICENCE.match(href.strip())]
    if len(licences) != 1 or text.find(_COMMONS) < _FOOTER * len(text):
        return ""
    return f"https:{licences[0]}" if licences[0].startswith("//") else licences[0]


def _item(document: MarkedTree, near: str, name: str) -> MarkedElement | None:
    if "itemprop=" in near and re.search(rf"itemprop=[\"']?{name}\b", near):
        return document.find(itemprop=name)
    return None


def _author_classes(near: str) -> Iterator[str]:
    """Yield the words in the source that may be the class of the author."""
    for word in _AUTHOR_WORDS:
        place = -1
        for _ in range(_MAX_CLASSES):
            if (place := near.find(word, place + 1)) < 0:
                break
            start = place - len(_BEFORE.search(near[max(0, place - _CLASS) : place])[0])  # type: ignore[index]
            end = _BEHIND.match(near, place)
            name = near[start : end.end() if end else place]
            if len(name) <= _CLASS and not _OTHER_AUTHOR.search(name):
                yield name
