"""The code blocks of the documentation: which of them a test runs, and which commands they hold.

A fenced block of a page that is run (tests/test_docs_run.py) has a language: `sh`, `python` and `toml` are run or
loaded, `text` is output or a file of another program. An HTML comment on the line above a fence changes that; neither
the site nor a repository's page shows it:

    <!-- not run: needs the web -->     only its commands and options are checked
    <!-- needs: pandas, pyarrow -->     run if these Python modules are installed
    <!-- background -->                 started, and stopped at the end of the page
    <!-- output -->                     of the block that was run last: each line must occur, in this order, where …
                                        stands for any characters
"""

import dataclasses
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\s*$")
_COMMENT = re.compile(r"^<!-- (?:(?P<mode>background|output)|not run: (?P<why>.+)|needs: (?P<needs>.+)) -->$")
_SEPARATORS = {"|", "||", "&&", ";", "&", "(", ")", "<", ">", ">>", "2>&1", ">&"}


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    line: int  # of the fence
    language: str
    code: str
    mode: str = ""  # "background" or "output"
    why_not: str = ""  # why it is not run
    needs: tuple[str, ...] = ()  # modules


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in their order."""
    lines = page.read_text("utf-8").splitlines()
    start, language = 0, ""
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if start and line.startswith("```"):
            above = _COMMENT.match(lines[start - 2]) if start > 1 else None
            yield Block(
                line=start,
                language=language,
                code="\n".join(lines[start : number - 1]) + "\n",
                mode=(above and above["mode"]) or "",
                why_not=(above and above["why"]) or "",
                needs=tuple(((above and above["needs"]) or "").replace(",", " ").split()),
            )
            start = 0
        elif fence:
            start, language = number, fence[1]


def commands(code: str) -> Iterator[list[str]]:
    """Yield the arguments of each `windrow` in a block of shell code, without the word itself."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"<<(\w+)\n.*?\n\1\n", "\n", code, flags=re.DOTALL))
    for line in joined.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in _SEPARATORS:
                words.append(word)
                continue
            if words and Path(words[0]).name == "windrow":
                yield words[1:]
            words = []


def matches(expected: str, printed: str) -> str:
    """Return the first line of the expected output that was not printed in its order; an empty string if all were."""
    rest = iter(printed.splitlines())
    for line in expected.splitlines():
        pattern = ".*".join(map(re.escape, line.strip().split("…")))
        if line.strip() and not any(re.search(pattern, candidate) for candidate in rest):
            return line
    return ""
