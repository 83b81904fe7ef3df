"""Check that no word of the private vocabulary comes back: docs/glossary.md and plain English, enforced.

The check reads the documents, and of src the messages and help texts; in docstrings and comments it only warns. Names
of code in backticks are left out, except for old names of options and commands. The failure shows the replacement of
each banned word.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/*.md", "docs/benchmarks/*.md", "benchmarks/*.md")  # a decision is never edited
# A rate: "22 µs a page", "one document a line"; but not "bytes of a page".
COUNTED = "(?:one|two|once|twice|times|some|each|µs|ms|bytes|megabytes|kB|MB|GB|URLs|pages|requests)"
WORD = r"(?!to |of |in |for |from |on |at |by |that |with |than |as |and |or |is |are )[\w-]+"
UNIT = r"(?:second|minute|hour|day|page|line|document|link|host|URL|commit|paragraph|word|file|row|member|byte|kill)"
# Verbs that make a "What" at the start of a sentence its subject: "What was committed is safe."
VERB = (
    "(?:is|was|are|were|has|had|have|cannot|can|must|may|might|will|would|did|does|comes|came|goes|stands|lies|follows"
    "|takes|needs|depends|concerns|holds|ended|matters)"
)

# pattern -> what to write instead
BANNED = {
    # the glossary
    r"(?<![-\w])grams?\b": "n-grams",
    r"\btwins?\b": "reference (implementation)",
    r"\b(?:shelf|shelves)\b": "store",
    r"\bseats?\b": "open host, or address slot",
    r"\btickets?\b": "entry of the backlog",
    r"\b(?:a|the|its|their|his|each|every|next|last|per|first|long|short) turns?\b|\bth(?:is|at) turn\b": "lease",
    r"\b(?:end|head|front) of the line\b|\b(?:stand|wait|queue)(?:s|ing)? in (?:the )?line\b": "backlog",
    r"\bleaf\b": "candidate",
    r"\bweigh(?:s|ed|ing)?\b": "decide, decision",
    r"\bkeepers?\b": "recorder",
    r"\bin hand\b": "in flight",
    r"(?<!in[ -])\bflights?\b": "in flight",
    r"\bdetours?\b": "session redirect",
    r"(?<!soft-404 )\bprobes?\b": "soft-404 probe",
    r"\bclaim(?:s|ed|ing)?\b": "fingerprint, first seen; a header says or declares",
    r"\bsettl(?:e|es|ed|ing)\b": "ack, commit, decide or store: name the step",
    r"\bshut(?:s|ting)?\b(?! ?down)": "retire, or close",
    r"\bmet before\b|\bmet (?:once|already|earlier|again)\b": "first seen, duplicate",
    # plain English
    r"\banew\b|\bafresh\b": "again",
    r"\breckon(?:s|ed|ing)?\b": "compute, count",
    r"\btold\b": "detected, said, passed: name who does what",
    r"\bdear(?:er|est|ly)?\b": "expensive, costly",
    r"\bparted\b": "separated, split",
    r"\bwhoever\b": "name the subject",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\basked for\b": "requested",
    r"\b(?:be|is|are|was|were) had\b": "is available",
    r"\bof then\b": "at that time",
    r"\bbeside (?:it|them|this|that|us|him|each other)\b": "next to, together with, at the same time",
    r"\bby (?:itself|themselves)\b": "alone, or automatically",
    r"\b(?:go|goes|went|gone|going) on\b(?! (?:the|a|an|its|top)\b)": "continue",
    r"\bin one go\b": "at once, in one batch",
    r"\bcomes? home\b|\bbrings? home\b|\bcame home\b": "end, return, archive: name the step",
    r"\bfares? (?:alike|as|like|so)\b": "gives the same result",
    rf"\b\d[\d,.]*\s?[\wµ%]*(?: {WORD})? an? {UNIT}\b": "per: “22 µs per page”",
    rf"\b{COUNTED}(?: {WORD})? an? {UNIT}\b": "per: “one document per line”",
    r"(?:^|(?<=[.;:(] ))Who\b(?=[^.?]*(?:\.|$))|^who\b(?=[^?]*$)": "name the subject",
    rf"(?:^|(?<=\. ))What {VERB}\b(?=[^?]*$|[^?]*\.)": "name the subject: “Return what …”, “A page that …”",
}
# Old names of options and commands, in code too.
RENAMED = {
    r"\bwindrow replay\b": "windrow what-if",
    r"\[crawler\]|\bcrawler\.\w+ ?=": "[identity]",
    r"\bextract\.(?:workers|seconds|megabytes)\b": "workers.count, workers.seconds, workers.megabytes",
    r"\bfetch\.hosts\b(?!_)": "fetch.hosts_file",
    r"\bjudge\.(?:near_duplicates|exact_duplicates|duplicates)\b": "[dedup]",
}
# (start of the path, banned word as found; "" for all) -> reason why it is allowed there
ALLOWED = {
    ("CHANGELOG.md", ""): "a changelog names what was",
    ("docs/glossary.md", ""): "the glossary shows the words that it replaces",
    ("src/windrow/extraction/", "leaf"): "a leaf of the document tree or of a decision tree",
    ("src/windrow/dedup/", "probe"): "a hash table is probed",
    ("src/windrow/dedup/", "probes"): "a hash table is probed",
    ("docs/extraction-blocks.md", "leaf"): "a leaf of a decision tree",
}


class Text(NamedTuple):
    path: str  # below the root of the repository
    line: int
    text: str
    internal: bool = False  # a comment or a docstring: only those who read the code see it


def pages() -> Iterator[Text]:
    """Yield the paragraphs of the documents, without code blocks."""
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield from paragraphs(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def paragraphs(path: str, source: str) -> Iterator[Text]:
    """Yield each run of lines of prose, joined; table cells are separate texts."""
    joined: list[str] = []
    fenced, start = False, 1
    for number, line in enumerate([*source.splitlines(), ""], 1):
        fence = line.startswith("```")
        fenced ^= fence
        prose = line.strip() and not fenced and not fence and not line.startswith("    ")
        if prose and not line.startswith(("|", "#", "- ", "* ")):
            start = start if joined else number
            joined.append(line.strip())
            continue
        if joined:
            yield Text(path, start, " ".join(joined))
        joined = []
        if prose and line.startswith(("- ", "* ")):
            start, joined = number, [line[2:].strip()]
        elif prose:
            yield from (Text(path, number, cell.strip(" #")) for cell in line.split("|") if cell.strip(" -#"))


def sources() -> Iterator[Text]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield from prose(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def prose(path: str, source: str) -> Iterator[Text]:
    """Yield docstrings, comments, and strings of more than one word: messages and help texts."""
    tables = set[int]()  # the strings of "a table of words".split()
    docstrings = set[int]()
    for node in ast.walk(ast.parse(source, path)):
        if isinstance(node, ast.Expr):
            docstrings.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            tables.add(id(node.func.value))
        elif isinstance(node, ast.Constant) and is_text(node.value) and id(node) not in tables:
            yield Text(path, node.lineno, str(node.value), id(node) in docstrings)
    yield from comments(path, source)


def is_text(value: object) -> bool:
    return isinstance(value, str) and " " in value.strip()


def comments(path: str, source: str) -> Iterator[Text]:
    """Yield each comment; lines of comment that follow each other are one text."""
    joined: list[str] = []
    start = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if joined and token.start[0] != last + 1:
            yield Text(path, start, " ".join(joined), internal=True)
            joined = []
        start = start if joined else token.start[0]
        last = token.start[0]
        joined.append(token.string.lstrip("# "))
    if joined:
        yield Text(path, start, " ".join(joined), internal=True)


def offences(text: Text) -> Iterator[str]:
    """Yield what is wrong with a text: the place, the word, the replacement."""
    whole = " ".join(text.text.split())
    plain = re.sub(r"`[^`]*`", "`…`", whole)
    for patterns, searched in ((BANNED, plain), (RENAMED, whole)):
        for pattern, replacement in patterns.items():
            for found in re.finditer(pattern, searched):
                if not allowed(text.path, found[0]):
                    around = searched[max(0, found.start() - 30) : found.end() + 30]
                    yield f"{text.path}:{text.line}: “{found[0]}”, write: {replacement} (…{around}…)"


def allowed(path: str, word: str) -> bool:
    return any(path.startswith(start) and only in ("", word) for start, only in ALLOWED)


@pytest.mark.parametrize("part", ["pages", "sources"])
def test_no_word_of_the_private_vocabulary_is_used(part: str) -> None:
    """A word that users can see fails; one in a comment or docstring is a warning in the summary of the run."""
    failures = []
    for text in pages() if part == "pages" else sources():
        for offence in offences(text):
            if text.internal:
                warnings.warn(offence, stacklevel=1)
            else:
                failures.append(offence)
    assert not failures, "\n" + "\n".join(failures)


def test_a_word_in_a_comment_is_internal_and_one_in_a_message_is_not() -> None:
    source = '"""The file is made anew."""\n# The file is made anew.\nraise ValueError("the file is made anew")\n'
    texts = [text for text in prose("a.py", source) if list(offences(text))]
    assert sorted(text.internal for text in texts) == [False, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "`grams` are kept; grams cost much",
        "the C kernel and its twin",
        "its bytes were met before",
        "its lease ends with the turn",
        "Who holds the lease may talk to the host.",
        "A host. What was settled becomes visible.",
        "the seats of an address",
        "pages in hand",
        "the file is made anew",
        "told from each file",
        "22 µs a page",
        "one document a line",
        "2,000 pages a second",
        "once a second",
        "the page is asked for again",
        "where it cannot be had",
        "it ends by itself",
        "a later run goes on",
        "mend that and run it again",
        "the dear half",
        "run `windrow replay` again",
        "set `fetch.hosts` to a file",
    ],
)
def test_a_banned_word_is_found(text: str) -> None:
    assert list(offences(Text("docs/a.md", 1, text)))


@pytest.mark.parametrize(
    "text",
    [
        "n-grams, 7-grams and trigrams",
        "a page that turns into another, in turn",
        "requests in flight, in-flight pages",
        "a soft-404 probe",
        "22 µs per page",
        "What is a lease?",
        "Return what is known of a host.",
        "the person who holds the lease",
        "`twin` and `settle` are names of code",
        "shut down the server",
        "one line of a file",
        "set `fetch.hosts_file` to a file",
        "weights and weighted sums",
        "a page of 20 kB",
    ],
)
def test_a_good_text_is_left_alone(text: str) -> None:
    assert list(offences(Text("docs/a.md", 1, text))) == []


def test_texts_of_a_module_are_its_docstrings_comments_and_messages() -> None:
    source = (
        '"""A module."""\nNAME = "key"  # why\n# and\nWORDS = "a b c".split()\nraise Error(f"no file {NAME} here")\n'
    )
    assert [text.text.strip() for text in prose("a.py", source)] == ["A module.", "no file", "why and"]


def test_texts_of_a_page_are_its_paragraphs_and_cells_without_code() -> None:
    source = "# Title\n\nOne\ntwo.\n\n    code\n\n```\nmore code\n```\n| a | b |\n|---|---|\n- item\n  goes here\n"
    assert [text.text for text in paragraphs("a.md", source)] == ["Title", "One two.", "a", "b", "item goes here"]


def test_an_allowed_word_is_allowed_only_in_its_place() -> None:
    assert list(offences(Text("src/windrow/extraction/a.py", 1, "a leaf of the tree"))) == []
    assert list(offences(Text("src/windrow/extraction/a.py", 1, "a leaf of the tree is made anew")))
    assert list(offences(Text("src/windrow/crawl/a.py", 1, "a leaf of the tree")))
