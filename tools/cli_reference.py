"""Write docs/cli.md from the program itself: `python tools/cli_reference.py`, or `make reference`.

tests/test_docs.py checks that the page is up to date.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from windrow import cli

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTE = "`make reference` writes this page from the program; edit `src/windrow/cli/`, not this page."
EXITS = """\
Exit codes: 0, the work is done; 2, an error that you can fix, with one sentence on standard error. `--json` prints one
JSON value on standard output; notes and progress go to standard error. `--help` after any command prints the same as
this page."""


def pages() -> dict[str, str]:
    """Return the text of each page, by its name."""
    return {"cli.md": commands_page()}


def commands_page() -> str:
    root = get_command(cli.app)
    parts = ["# Commands", NOTE, EXITS]
    parts += [f"- [`{name}`](#{anchor(name)}): {first(one)}" for name, one in walk(root, "windrow") if one is not root]
    # The list above is one block; everything else is separated by blank lines.
    head = "\n\n".join(parts[:3]) + "\n\n" + "\n".join(parts[3:])
    return "\n\n".join([head, *(section(name, one) for name, one in walk(root, "windrow"))]) + "\n"


def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a command and those below it, with their whole names, in the order of the help."""
    if not command.hidden:
        yield name, command
    for word, below in getattr(command, "commands", {}).items():
        yield from walk(below, f"{name} {word}")


def section(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"## {name}", plain(command.help or ""), f"```text\n{usage}\n```"]
    shown = command.commands[command.default] if hasattr(command, "default") else command  # runs without its name
    rows = [cells for one in shown.params if (cells := row(one, context)) is not None]
    if rows:
        table = [("argument or option", "meaning"), ("---", "---"), *rows]
        parts.append("\n".join(f"| {written} | {meaning} |" for written, meaning in table))
    return "\n\n".join(part for part in parts if part)


def row(parameter: Any, context: typer.Context) -> tuple[str, str] | None:
    """Return how to write a parameter, and its meaning with its default; None if the help does not show it."""
    record = parameter.get_help_record(context)
    if record is None or parameter.name == "help":
        return None
    written, meaning = record
    if parameter.param_type_name == "argument":
        written = written.partition(" <")[0]  # the name says what it is
    written = re.sub(r"<list\[(\w+)\]>", r"<\1>", written)
    return f"`{written}`", re.sub(r"  (?=\[[^\]]*\]$)", " ", plain(meaning))


def first(command: Any) -> str:
    """Return the first sentence of the help."""
    return plain(command.help or "").partition(". ")[0].rstrip(".")


def plain(text: str) -> str:
    """Return a text on one line, safe in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def anchor(name: str) -> str:
    return name.replace(" ", "-")


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, "utf-8")
        sys.stdout.write(f"{DOCS / name} written\n")
