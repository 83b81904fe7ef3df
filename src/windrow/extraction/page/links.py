"""The links of a parsed page: each target once, as canonical URLs.

Elements are found by tag alone: the parser lists the elements of a tag once, but a selector or an XPath goes over the
whole tree each time.
"""

import itertools
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from windrow import urls
from windrow.extraction.page.anchors import ANCHOR, LANGUAGE, Description
from windrow.extraction.readers import encode
from windrow.extraction.readers.sniff import HTML, media_type
from windrow.extraction.walk import Element, ElementTree
from windrow.records import Link, Url

Found = dict[str, str]  # href -> rel
Descriptions = Mapping[str, Description]  # by href, see `anchors`

_REFRESH = re.compile(
    r"\s*[\d.]+(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S.*))", re.IGNORECASE | re.DOTALL
)
_RELATIONS = {"canonical", "alternate", "next", "prev"}
_LABELLED = (("link", "href"), ("area", "href"), ("iframe", "src"), ("frame", "src"))  # tags, and who names the target
_TYPE = 256  # characters of a content type
_CONTENT = 4096  # characters read of a meta element
_MAX_LICENCES = 8
_UNPRINTABLE = dict.fromkeys([*range(32), *range(127, 160)])


def base(document: ElementTree, own: str, charset: str) -> str:
    """Return the URL that links are relative to: that of the first base element with an href, or the page's own."""
    if document.find("base") is not None:
        for element in document.find_all("base"):
            href = element.attr("href")
            if href is not None:
                return joined(own, href, charset) or own
    return own


def joined(base: str, href: str, charset: str) -> str:
    """Return the canonical URL of an href; empty if there is none."""
    url = urls.join(base, [encode.href(href, charset)])[0] if href else None
    return url.text if url else ""


def of_anchors(document: ElementTree) -> Found:
    """Return the hrefs of anchors without fragments, each once.

    In documentation three of five hrefs differ in nothing but the fragment.
    """
    found: Found = {}
    for element in document.find_all("a"):
        href = element.attr("href")
        if href is None:
            continue
        href = href.partition("#")[0] if "#" in href else href
        rel = element.attr("rel") or ""
        known = found.get(href)
        if known is None or ("nofollow" in known and "nofollow" not in rel.lower()):
            found[href] = rel.lower()
    return found


def add_relations(document: ElementTree, found: Found) -> tuple[str, list[str]]:
    """Add the related pages that link elements name, without feeds and styles.

    Return the href of the canonical page and those of licences; anchors may name licences too.
    """
    canonical = ""
    licences = [href for href, rel in found.items() if rel and "license" in rel]
    for element in document.find_all("link"):
        rel = (element.attr("rel") or "").lower()
        relations = _RELATIONS.intersection(rel.split())
        if "license" in rel:
            licences.append(element.attr("href") or "")
        if (
            not relations
            or "stylesheet" in rel
            or media_type((element.attr("type") or "text/html")[:_TYPE]) not in HTML
        ):
            continue
        href = element.attr("href")
        if href:
            _add(found, href, rel)
            canonical = canonical or (href if "canonical" in relations else "")
    return canonical, licences[:_MAX_LICENCES]


def add_others(document: ElementTree, metas: Sequence[Element], found: Found) -> None:
    """Add the links of areas, frames and meta refresh."""
    for tag, attribute in (("area", "href"), ("iframe", "src"), ("frame", "src")):
        if document.find(tag) is None:
            continue
        for element in document.find_all(tag):
            href = element.attr(attribute)
            if href:
                _add(found, href, (element.attr("rel") or "").lower())
    for meta in metas:
        if (meta.attr("http-equiv") or "").lower() == "refresh":
            href = refreshed(meta.attr("content") or "")
            if href is not None:
                _add(found, href, "refresh")


def refreshed(content: str) -> str | None:
    """Return the href in the content of a meta refresh; None if there is none."""
    match = _REFRESH.match(content[:_CONTENT])
    return match[1] or match[2] or match[3] or "" if match else None


def _add(found: Found, href: str, rel: str) -> None:
    """Keep the first link to each href, but prefer one without nofollow: consent given once is enough."""
    href = href.partition("#")[0]
    known = found.get(href)
    if known is None or ("nofollow" in known and "nofollow" not in rel):
        found[href] = rel


def labels(document: ElementTree, found: Found) -> dict[str, Description]:
    """Return what the links say of their targets that are no anchors: a title, and the language."""
    described: dict[str, Description] = {}
    for tag, attribute in _LABELLED:
        if document.find(tag) is None:
            continue
        for element in document.find_all(tag):
            href = (element.attr(attribute) or "").partition("#")[0]
            if href in found and href not in described:
                label = " ".join((element.attr("alt") or element.attr("title") or "")[:_CONTENT].split())
                language = (element.attr("hreflang") or "").strip()
                described[href] = label[:ANCHOR], "", language[:LANGUAGE]
    return described


class PageAddress(NamedTuple):
    """What the links of a page are relative to."""

    base: str  # URL
    charset: str
    own: int  # key of the page's own URL


def links(found: Found, page: PageAddress, max_links: int) -> tuple[dict[int, Link], list[Url | None]]:
    """Return the links by the keys of their URLs, without one to the page itself, and the URL of each href."""
    hrefs = list(itertools.islice(found, max_links))
    if page.charset != "UTF-8":
        hrefs = [encode.href(href, page.charset) for href in hrefs]
    targets = urls.join(page.base, hrefs)
    kept: dict[int, Link] = {}
    for url, rel in zip(targets, found.values(), strict=False):
        if url is None:
            continue
        known = kept.get(url.key)
        if known is None or ("nofollow" in known.rel and "nofollow" not in rel):
            kept[url.key] = Link(url, rel=clean(rel) if rel else "")
    kept.pop(page.own, None)
    return kept, targets


def describe(
    links: dict[int, Link], hrefs: Iterable[tuple[str, Url | None]], described: Descriptions, known: Container[int]
) -> None:
    """Add to the links that are not known what the page says of them, by their hrefs or their URLs. Of several links to
    one URL the first that has an anchor counts."""
    for href, url in hrefs:
        if url is None or url.key in known:
            continue
        link = links.get(url.key)
        about = described.get(href) or described.get(url.text)
        if link is not None and about and (about[0] or not link.context) and not link.anchor:
            links[url.key] = _described(link, about)


def _described(link: Link, about: Description) -> Link:
    anchor, context, language = about
    if not (anchor + context).isprintable():
        anchor, context = clean(anchor), clean(context)
    language = clean(language.lower()) if language else ""
    return Link(url=link.url, anchor=anchor, rel=link.rel, context=context, language=language)


def make_absolute(document: ElementTree, base: str, charset: str) -> None:
    """Make the hrefs of a tree canonical URLs. One that is none, or that leads to a place on its page, becomes empty:
    an `<a>` without an href would be no link."""
    elements = [(element, href) for element in document.find_all("a") if (href := element.attr("href")) is not None]
    hrefs = ["" if href.lstrip().startswith("#") else encode.href(href, charset) for _, href in elements]
    for (element, _), href, url in zip(elements, hrefs, urls.join(base, hrefs), strict=True):
        element.attrs["href"] = url.text if url and href else ""


def clean(text: str) -> str:
    """Remove control characters and replace lone surrogates."""
    return text if text.isprintable() else text.translate(_UNPRINTABLE).encode("utf-8", "replace").decode()
