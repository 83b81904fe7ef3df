"""The title of a page without the name of its site: its main heading, if that says what the title says.

A page declares a title for browsers (`<title>`), often one for social networks (`og:title`), and shows a heading. The
first two tend to end with the name of the site; the third may be the site's banner. So the heading is taken if it
resembles a declared title without the site's name, and that declared title if no heading does.
"""

import html
import re
from collections.abc import Iterable, Sequence

import msgspec

_SEPARATOR = re.compile(
    r"\s+(?:[-|–—―•·»«:~⋆*<>›‹/\\]|::|//|\|\|)\s+|\s*[|｜»]\s*|(?<=\w)_(?=[^\W\d_]{2,}$)|[-—–](?=\w+网$)|:\s+"
)
_FIRM = re.compile(r"[|｜»•›]|::|//")  # separators that stand between a title and its site, seldom within a title
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_PILCROW = re.compile(r"[\s¶#§🔗\u200b]+$")
_LONGEST = 300  # characters of a heading that may be a title
_DECLARED = 512  # characters of a declared title
_HEADINGS = 24  # headings that are looked at, each in up to three readings
_OF_PART = 0.4  # of the characters of a part belong to the name of the site, if the part is that name
_NAME = 4  # characters of a name that are enough to find it within another word
_COMMON = frozenset(("", *"www co com org blog news forum docs".split()))  # labels of host names that name no site
_ALIKE = 0.5  # share of words that two titles must have in common


class Titles(msgspec.Struct, frozen=True, gc=False):
    """What a page has that may be its title, or tell the name of its site."""

    declared: Sequence[str] = ()  # for readers of the source: <title>, og:title, …
    headings: Sequence[str] = ()  # texts of h1, in all readings
    sites: Sequence[str] = ()  # og:site_name, application-name
    host: str = ""


def choose(titles: Titles) -> str:
    """Return the title of a page without the name of its site; empty if the page has none."""
    names = _site_names(titles)
    declared = [text for each in titles.declared if (text := " ".join(_unescaped(each[:_DECLARED]).split()))]
    bare = list(dict.fromkeys(_without_site(text, names) for text in declared))
    headings = [
        text
        for each in titles.headings[:_HEADINGS]
        if (text := _PILCROW.sub("", " ".join(each.split()))) and len(text) <= _LONGEST
    ]
    if heading := _resembling(headings, [text for text in bare if text]):
        written = (text for text in bare if text.casefold() == heading.casefold())
        return next(written, heading) if heading.isupper() else heading  # capitals are often only a matter of style
    if preferred := next((text for text in reversed(bare) if text), ""):
        return preferred
    shown = next((text for text in headings if not _is_site(text, names)), "")
    return shown or next(iter(declared), "") or next(iter(headings), "")


def names_site(text: str, host: str) -> bool:
    """Return whether a text is the name of the site at this host, as far as its host name tells."""
    return _is_site(text, _site_names(Titles(host=host)))


def _unescaped(text: str) -> str:
    """Decode the entities that are left in a declared title: it was escaped twice."""
    return html.unescape(text) if "&" in text else text


def _resembling(headings: Sequence[str], titles: Sequence[str]) -> str:
    """Return the heading that is most like one of the titles; empty if none is."""
    if equal := next((heading for heading in headings if heading in titles), ""):
        return equal
    best, found = 0.0, ""
    others = list(map(_words, titles))
    for heading in headings:
        own = _words(heading)
        for other in others:
            common = len(own & other)
            alike = 2 * common / (len(own) + len(other) or 1)
            if alike > best and (alike >= _ALIKE or common >= _ALIKE * max(2, len(own))):
                best, found = alike, heading
    return found


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _compact(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _site_names(titles: Titles) -> set[str]:
    """Return the names of the site, in lower case and without blanks: as declared, and those in its host name."""
    labels = titles.host.casefold().split(".")[:-1]
    parts = (part for name in titles.sites for part in (name, *_SEPARATOR.split(name)))
    names = {_compact(text) for text in (*parts, *labels, titles.host.removeprefix("www."))}
    return (names - _COMMON) | {_compact(name) for name in titles.sites if name}


def _is_site(part: str, names: Iterable[str]) -> bool:
    """Return whether a part of a title is the name of the site."""
    own = _compact(part)
    if not own or own in names:
        return True
    most = len(own) * _OF_PART
    return any(
        len(name) >= _NAME and ((len(name) >= most and name in own) or (len(own) >= _NAME and own in name))
        for name in names
    )


def _without_site(title: str, names: Iterable[str]) -> str:
    """Return a title without the parts at its ends that name the site; empty if nothing else is in it."""
    cuts = [(match.start(), match.end()) for match in _SEPARATOR.finditer(title)]
    start, end = 0, len(title)
    while cuts and _is_site(title[cuts[-1][1] : end], names):
        end = cuts.pop()[0]
    while cuts and _is_site(title[start : cuts[0][0]], names):
        start = cuts.pop(0)[1]
    if start == 0 and not cuts and _is_site(title[:end], names):
        return "" if end < len(title) or _compact(title) in names else title
    if (
        end == len(title)
        and start == 0
        and (firm := next((cut for cut in cuts if _FIRM.search(title[slice(*cut)])), None))
    ):
        end = firm[0] if len(_WORD.findall(title[: firm[0]])) > 1 else end
    return title[start:end].strip()
