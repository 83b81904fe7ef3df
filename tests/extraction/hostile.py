"""Hostile pages, and a process that reads them: `python -m tests.extraction.hostile PART MEGABYTES SECONDS`.

It gets the names of pages on standard input, one per line. It reads each page in a process of its own, made by a fork
after imports and models are loaded, which the kernel of the system ends at the limits that this process takes upon
itself. It prints what each extractor made of the page, JSON, a line each; then the exit code of that process.
"""

import hashlib
import json
import os
import random
import re
import resource
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from windrow import config, extraction
from windrow.extraction import walk
from windrow.extraction.main import blocks
from windrow.extraction.page import anchors
from windrow.extraction.walk import structure
from windrow.records import Capture, Page, Task, Url

SENTENCE = b"The text at the bottom of it all is as long as a text has to be. "
PAGES: dict[str, Callable[[], bytes]] = {
    "binary called HTML": lambda: random.Random(1).randbytes(2_000_000),
    "binary behind a tag": lambda: b"<html><body>" + bytes(range(1, 256)) * 8000,
    "a line of 100 MB": lambda: SENTENCE * 1_600_000,
    "a word of 100 MB": lambda: b"x" * 100_000_000,
    "100 MB of paragraphs": lambda: b"<p>The words of it." * 5_500_000,
    "100 MB of blanks": lambda: b"<p>x" + b" " * 100_000_000 + b"y",
    "100 MB of brackets": lambda: b"<" * 100_000_000,
    "200,000 nested divs": lambda: b"<div>" * 200_000 + SENTENCE * 10,
    "200,000 nested bold": lambda: b"<b>" * 200_000 + SENTENCE * 10,
    "200,000 nested tables": lambda: b"<table><tr><td>x" * 200_000 + SENTENCE * 10,
    "200,000 misnested": lambda: b"<p><b><i><font>x" * 200_000 + SENTENCE * 10,
    "20,000 noscripts": lambda: b"<body><div>" + (b"<noscript><div>" + SENTENCE * 10 + b"</div></noscript>") * 20_000,
    "200,000 nested noscripts": lambda: b"<body><div>" + b"<noscript><div>" * 200_000 + SENTENCE * 10,
    "nested authors and times": lambda: b"<a rel=author href=x><time><table><td>" * 50_000 + SENTENCE * 10,
    "nested marks of authors": lambda: (
        b"<h1>x</h1>" + b"<div itemprop=author class=byline><h1> <span itemprop=datePublished>" * 50_000 + SENTENCE * 10
    ),
    "linked data of 60,000 things": lambda: (
        b"<script type=application/ld+json>["
        + b'{"@id":"#","author":{"@id":"#"}},' * 60_000
        + b"{}]</script>"
        + SENTENCE
    ),
    "a million links": lambda: b"".join(b"<li><a href=%d>the link</a></li>\n" % number for number in range(1_000_000)),
    "20,000 links": lambda: b"".join(b"<li><a href=%d>the link</a></li>\n" % number for number in range(20_000)),
    "100,000 links": lambda: b"".join(b"<li><a href=%d>the link</a></li>\n" % number for number in range(100_000)),
    "a million links on a line": lambda: b"".join(b"<a href=%d>the link</a> " % number for number in range(1_000_000)),
    "10,000 links in a block of 10 MB": lambda: (
        b"<p>" + b"".join(b"<a href=%d>the link</a> " % number + SENTENCE * 15 for number in range(10_000))
    ),
    "100,000 nested links": lambda: b"".join(
        b"<ul lang=x%d><li><a href=%d>the link</a>" % (number, number) for number in range(100_000)
    ),
    "lone surrogates in links": lambda: (
        b"<p lang='&#xD800;'>"
        + b"a\x01 \xed\xa0\x80&#xD800; b <a href=x title='&#xD800;\x01'></a> &#xD800; \x1b c" * 500
    ),
    "lone surrogates": lambda: (
        b"<title>&#xD800;</title><p>" + b"\xed\xa0\x80&#xD800; the text \xed\xbf\xbf and more of the text " * 500
    ),
    "200,000 nested lists": lambda: b"<ul><li>x" * 200_000 + SENTENCE * 10,
    "200,000 lists in lists": lambda: b"<ol>" * 200_000 + b"<li>" + SENTENCE * 10,
    "200,000 nested quotations": lambda: b"<blockquote>x" * 200_000 + SENTENCE * 10,
    "200,000 cells": lambda: (
        b"<table><caption>x" + (b"<tr>" + b"<td colspan=99999999>" + SENTENCE[:20] + b"<td>x") * 100_000
    ),
    "code of controls": lambda: (
        b"<p>" + SENTENCE * 10 + b"<pre>" + b"if \x00\x01\x0b\x1b\x7f\xc2\x9b &#xD800; x:\r\n \xed\xa0\x80\t y \n" * 500
    ),
    "a million breaks": lambda: b"<p>" + SENTENCE[:20] * 5 + b"<br>x" * 1_000_000,
    "a million links with emphasis": lambda: b"<p>" + b"<a href='#x'><b>the</b></a> <i>text <code>x" * 200_000,
    "no body": lambda: b"<frameset><frame src=x></frameset>" + SENTENCE * 10,
    "no tags": lambda: SENTENCE * 10,
    "nothing": lambda: b"",
    "controls": lambda: b"<title>a\x01b\x9b</title><p>" + b"the \x00\x01\x0b\x1b\x7f\xc2\x9b text of a page " * 100,
    "odd characters": lambda: (
        "<title>\u202ea</title><p>" + "the \u2028\u2029\u202e\ufeff\ufffe text of a page " * 100
    ).encode(),
}
SLOW = (
    "a word",
    "100 MB",
    "200,000 misnested",
    "200,000 nested noscripts",
    "nested authors",
    "a million links",
    "a line of",
    "100,000 nested links",
    "200,000 nested tables",
    "200,000 nested lists",
    "200,000 nested quotations",
    "200,000 cells",
)
QUICK = [name for name in PAGES if not name.startswith(SLOW)]
UNCLEAN = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")


# The settings that read a page in one process, with one limit for all of them.
PARTS = {
    "plain": [
        *([f"extract.extractor={name}"] for name in extraction.EXTRACTORS),
        ["extract.extractor=paragraphs", "paragraphs.preset=stock"],
    ],
    "marks": [["extract.marks=true"]],
}


def extractors(part: str) -> Iterator[tuple[str, extraction.Extractor]]:
    for setting in PARTS[part]:
        yield " ".join(setting), extraction.extractor(config.make(setting, Path()), known=())


def captured(body: bytes) -> Capture:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    return Capture(Task(Url("http://a.test/", "a.test", "a.test", 1)), 200, b"", head, body, 0.0, 0.0, "", "h2")


def unclean(page: Page) -> list[str]:
    """Return the fields of a page that hold characters which no text may hold."""
    lines = [
        page.title,
        page.author,
        page.date,
        page.licence,
        page.language,
        page.charset,
        page.canonical,
        *page.licences,
    ]
    lines += [part for pair in page.metas for part in pair]
    lines += [part for link in page.links for part in (link.url.text, link.anchor, link.rel)]
    lines += [part for link in page.links for part in (link.context, link.language)]
    lines += [part for one in page.paragraphs for part in (one.text, one.kind, one.path, one.own, one.structure)]
    lines += [part for one in page.paragraphs for part in re.split("[\n\t]", one.lines)]
    lines += [mark.target for one in page.paragraphs for mark in one.marks]
    return [line for line in lines if UNCLEAN.search(line)]


def main(part: str, limits: tuple[int, int], alone: bool) -> None:
    """`alone`: read each page in a process for each extractor, and not in one for all of them."""
    readers = list(extractors(part))
    groups = [[reader] for reader in readers] if alone else [readers]
    for line in sys.stdin:
        codes = [in_child(line.rstrip("\n"), group, limits) for group in groups]
        sys.stdout.write(json.dumps({"exit": next(filter(None, codes), 0)}) + "\n")
        sys.stdout.flush()


def in_child(name: str, readers: list[tuple[str, extraction.Extractor]], limits: tuple[int, int]) -> int:
    """Read a page within the limits; return the exit code."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            limit(*limits)
            show(name, readers)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def limit(megabytes: int, seconds: int) -> None:
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # AddressSanitizer reserves terabytes of address space
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def show(name: str, readers: list[tuple[str, extraction.Extractor]]) -> None:
    capture = captured(PAGES[name]())
    for title, read in readers:
        page = read(capture)
        facts = {
            "extractor": title,
            "paragraphs": len(page.paragraphs),
            "links": len(page.links),
            "unclean": unclean(page)[:3],
        }
        facts["good"] = sum(len(one.text) for one in page.paragraphs if one.kind == "good")
        forms = [(one.structure, one.lines, one.marks) for one in page.paragraphs]
        facts["forms"] = hashlib.sha256(msgspec.json.encode(forms)).hexdigest()
        facts["descriptions"] = hashlib.sha256(msgspec.json.encode(page.links)).hexdigest()
        sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    if is_reference := sys.argv[4:] == ["reference"]:
        walk._walk = structure._structure = blocks._blocks = anchors._anchors = None  # type: ignore[assignment]
    main(sys.argv[1], (int(sys.argv[2]), int(sys.argv[3])), alone=is_reference)
