"""Find the errors in prevertical and vertical files. Written from the description of the formats alone."""

import html
import re
from collections.abc import Iterator

import msgspec

DOC = "id title length crawl_date modified_date lang lang_diff ip url file_type enc_meta enc_chared".split()
DOC += ["domain", "tld", "author", "licence"]  # after those of SpiderLing
OPTIONAL = ("modified_date", "domain", "tld", "author", "licence")
PLACES = "crawl warc_filename warc_offset warc_length digest record_id".split()
VALUES = {
    "id": r"\d+",
    "length": "0-100|100-500|500-1k|1k-5k|5k-10k|10k-100k|100k-1M|1M\\+",
    "crawl_date": r"\d{4}-\d\d-\d\d \d\d:\d\d",
    "modified_date": r"\d{4}(-\d\d(-\d\d)?)?",
    "lang": r"[^\s].*",
    "lang_diff": r"0\.\d\d|1\.00",
    "ip": r"[0-9a-f.:]*",
    "url": r"https?://\S+",
    "file_type": "html",
    "title": r".{0,300}",
    "author": r".{1,300}",
    "domain": r"\S+",
    "tld": r"\S+",
    "heading": "yes",
    "class": "good|bad",
    "cfclass": "good|neargood|short|bad",
    "langdiff": r"0\.\d\d|1\.00",
}
CLASSES = {
    "0-100": (0, 100),
    "100-500": (100, 500),
    "500-1k": (500, 1000),
    "1k-5k": (1000, 5000),
    "5k-10k": (5000, 10**4),
} | {
    "10k-100k": (10**4, 10**5),
    "100k-1M": (10**5, 10**6),
    "1M+": (10**6, 10**12),
}
TAG = re.compile(r'<(doc|p|s)((?: [a-z_]+="[^"]*")*)>')
BARE = re.compile(r"&(?!(?:amp|lt|gt|quot);)|<")


class State(msgspec.Struct):
    open: list[str] = []  # open structures, the outermost first
    filled: bool = False  # whether the innermost has content
    length: str = ""  # length class of the open document
    characters: int = 0  # of the open document so far
    glued: bool = False  # whether the last line was <g/>
    tokens: int = 0  # of the open paragraph so far


def problems(text: str, vertical: bool = False) -> list[str]:
    """Return the errors. `vertical`: one token per line in <s>; otherwise one paragraph per line."""
    state = State()
    found = [
        f"{number}: {problem}"
        for number, line in enumerate(text.split("\n")[:-1], 1)
        for problem in _line(line, state, vertical)
    ]
    if text and not text.endswith("\n"):
        found.append("the last line has no end")
    return [*found, *(f"<{name}> is never closed" for name in state.open)]


def texts(text: str) -> Iterator[list[str]]:
    """Yield the sentences of each paragraph of a vertical file, with the space before a sentence if there was one."""
    sentences: list[str] = []
    space = ""
    for line in text.split("\n"):
        if line.startswith("<p"):
            sentences, space = [], ""
        elif line == "</p>":
            yield sentences
        elif line == "<s>":
            sentences.append("")
        elif line == "<g/>":
            space = ""
        elif line and not line.startswith("<"):
            sentences[-1] += space + html.unescape(line)
            space = " "


def _line(line: str, state: State, vertical: bool) -> Iterator[str]:
    if line in ("</doc>", "</p>", "</s>"):
        yield from _closed(line[2:-1], state)
    elif line == "<g/>" and vertical:
        if state.glued or not state.tokens or state.open[1:2] != ["p"]:
            yield "glue without a token before it"
        state.glued = True
    elif line.startswith("<"):
        yield from _opened(line, state, vertical)
    else:
        yield from _content(line, state, vertical)


def _opened(line: str, state: State, vertical: bool) -> Iterator[str]:
    found = TAG.fullmatch(line)
    if not found:
        yield f"not a tag: {line}"
        return
    name, attributes = found[1], re.findall(r' ([a-z_]+)="([^"]*)"', found[2])
    expected = {"doc": [], "p": ["doc"], "s": ["doc", "p"]}[name]
    if state.open != expected or (name == "s" and not vertical):
        yield f"<{name}> inside {state.open}"
    yield from _attributes(name, attributes)
    state.open, state.filled = [*expected, name], False
    if name == "doc":
        state.length, state.characters = dict(attributes).get("length", ""), 0
    if name == "p":
        state.tokens, state.glued = 0, False


def _attributes(tag: str, attributes: list[tuple[str, str]]) -> Iterator[str]:
    names = [name for name, _ in attributes]
    if tag == "doc" and names not in (_present(DOC, names), _present(DOC + PLACES, names)):
        yield f"attributes of <doc>: {names}"
    if tag == "p" and names not in (["class", "cfclass", "langdiff"], ["heading", "class", "cfclass", "langdiff"]):
        yield f"attributes of <p>: {names}"
    if tag == "s" and names:
        yield f"attributes of <s>: {names}"
    for name, value in attributes:
        plain = html.unescape(value)
        if BARE.search(value) or value != " ".join(value.split()) or not re.fullmatch(VALUES.get(name, ".*"), plain):
            yield f"{name}={value!r}"


def _present(expected: list[str], names: list[str]) -> list[str]:
    """Return the expected names, in their order, without optional ones that are not there."""
    return [name for name in expected if name in names or name not in OPTIONAL]


def _content(line: str, state: State, vertical: bool) -> Iterator[str]:
    if state.open != (["doc", "p", "s"] if vertical else ["doc", "p"]):
        yield f"text inside {state.open}"
    if state.filled and not vertical:
        yield "a second line in a paragraph"
    if not line or line != " ".join(line.split()) or BARE.search(line) or (vertical and re.search(r"\s", line)):
        yield f"not a line of text: {line!r}"
    if state.tokens and not state.glued:
        state.characters += 1
    state.characters += len(html.unescape(line))
    state.filled, state.glued = True, False
    state.tokens += 1


def _closed(name: str, state: State) -> Iterator[str]:
    if state.open[-1:] != [name]:
        yield f"</{name}> inside {state.open}"
        return
    if not state.filled:
        yield f"an empty <{name}>"
    if state.glued:
        yield f"glue before </{name}>"
    state.open = state.open[:-1]
    if name == "doc":
        least, below = CLASSES.get(state.length, (0, 0))
        if not least <= state.characters < below:
            yield f"length {state.length} of {state.characters} characters"
