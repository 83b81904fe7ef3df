"""The linked data (JSON-LD) of a page: the things that it may be about, stories first, and the texts in them.

Objects are plain dictionaries of any shape: nothing here raises, and the time is linear whatever they hold.
"""

import collections
import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

Thing = dict[str, Any]

_STORIES = (  # parts of the names of types, best first
    *("article", "posting", "report", "recipe", "review", "book", "videoobject", "webpage", "question"),
    *("dataset", "howto"),
)
_NARRATIVES = len(("article", "posting", "report"))  # the first types have the text of the page as their body
_BODIES = ("articleBody", "text")
_INNER = ("@graph", "mainEntity", "mainEntityOfPage")  # members that hold further things of the page
_COMMA = re.compile(r",\s*([}\]])")  # before a closing bracket, which JSON does not allow
_WRAPPING = re.compile(r"<!\[CDATA\[|\]\]>|<!--|-->")
_BREAK = re.compile(r"<(?:/?(?:p|div|h[1-6]|ul|ol|li|blockquote|tr|table|figure|section)|br)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--[^<>]*>")

_SCRIPTS = 1 << 21  # characters of all scripts
_NODES = 2000  # things that are examined in all scripts
_NAMES = 64  # entries of a list of names
_BODY = 1 << 20  # characters


class LinkedData(msgspec.Struct, frozen=True):
    things: list[Thing] = []  # stories first
    nodes: dict[str, Thing] = {}  # those that have a name, by their identifier
    body: str = ""  # text of a story, as declared: plain, or with tags


def read(scripts: Sequence[str]) -> LinkedData:
    """Read the scripts of a page; one that is not JSON is ignored, as is what exceeds the limit."""
    roots, room = [], _SCRIPTS
    for script in scripts:
        room -= len(script)
        if room < 0:
            break
        if (root := _parsed(script)) is not None:
            roots.append(root)
    if not roots:
        return LinkedData()
    ranked = sorted(((_rank(thing), thing) for thing in _things(roots)), key=lambda pair: pair[0])
    things = [thing for _, thing in ranked]
    return LinkedData(
        things=things,
        nodes={key: thing for thing in things if isinstance(key := thing.get("@id"), str)},
        body=next((body for rank, thing in ranked if rank < _NARRATIVES and (body := _body(thing))), ""),
    )


def lines(body: str) -> list[str]:
    """Return the paragraphs of a body, without tags and entities."""
    if "<" in body:
        body = _TAG.sub("", _BREAK.sub("\n", body))
    parts = (" ".join(part.split()) for part in html.unescape(body).splitlines())
    return [part for part in parts if part]


def text(value: Any) -> str:
    """Return a value as a text on one line: a string, the first of a list, or a value with a language."""
    if isinstance(value, list):
        value = next((item for item in value if item), "")
    if isinstance(value, dict):
        value = value.get("@value")
    return " ".join(_unescaped(value).split()) if isinstance(value, str) else ""


def names(value: Any, data: LinkedData) -> list[str]:
    """Return the names in an author or a publisher: of persons, or of organisations if it names no person.

    An entry that is only a reference, {"@id": …}, has the name of the thing with this identifier.
    """
    persons: list[str] = []
    others: list[str] = []
    for item in value[:_NAMES] if isinstance(value, list) else [value]:
        entry = resolved(item, data)
        if isinstance(entry, dict):
            name = text(entry.get("name")) or f"{text(entry.get('givenName'))} {text(entry.get('familyName'))}".strip()
            (others if "organization" in _kinds(entry) else persons).append(name)
        else:
            persons.append(text(entry))
    return [name for name in persons if name] or [name for name in others if name]


def resolved(value: Any, data: LinkedData) -> Any:
    """Return the thing that a reference points to, or the value itself. A reference is followed once: no cycles."""
    if isinstance(value, dict) and isinstance(key := value.get("@id"), str) and "name" not in value:
        return data.nodes.get(key, value)
    return value


def named(data: LinkedData, kind: str) -> str:
    """Return the name of the first thing of this type, written in lower case."""
    return next((text(thing.get("name")) for thing in data.things if kind in _kinds(thing).split()), "")


def _unescaped(value: str) -> str:
    """Decode entities: those who write JSON into HTML often escape it twice."""
    return html.unescape(html.unescape(value)) if "&" in value else value


def _parsed(script: str) -> Any:
    try:
        return msgspec.json.decode(script)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    # Control characters in strings, comments and CDATA around the object, a comma too many.
    script = _WRAPPING.sub("", script)
    start = min((start for mark in "{[" if (start := script.find(mark)) >= 0), default=0)
    end = max(script.rfind("}"), script.rfind("]")) + 1
    try:
        return json.loads(_COMMA.sub(r"\1", script[start:end]), strict=False)
    except (ValueError, RecursionError):
        return None


def _things(roots: Sequence[Any]) -> Iterator[Thing]:
    """Yield the objects at the top of the scripts, those of their graphs, and the main entities of all of them."""
    queue, number = collections.deque(roots), 0
    while queue and number < _NODES:
        value = queue.popleft()
        if isinstance(value, list):
            queue.extend(value[: _NODES - min(len(queue), _NODES)])
        elif isinstance(value, dict):
            number += 1
            yield value
            queue.extend(inner for key in _INNER if isinstance(inner := value.get(key), list | dict))


def _kinds(thing: Thing) -> str:
    """Return the types of a thing in lower case, separated by blanks."""
    kinds = thing.get("@type")
    if isinstance(kinds, list):
        kinds = " ".join(kind for kind in kinds[:_NAMES] if isinstance(kind, str))
    return kinds.lower() if isinstance(kinds, str) else ""


def _rank(thing: Thing) -> int:
    kinds = _kinds(thing)
    return next((rank for rank, story in enumerate(_STORIES) if story in kinds), len(_STORIES))


def _body(thing: Thing) -> str:
    return next((body for key in _BODIES if isinstance(body := thing.get(key), str) and body.strip()), "")[:_BODY]
