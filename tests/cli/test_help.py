"""Help texts: in groups, in 80 columns, without types of Python."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tests import crashing
from windrow import cli
from windrow.cli import help


def commands(group: Any = None, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group."""
    for name, command in (group or get_command(cli.app)).commands.items():
        yield (*before, name)
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))


def shown(*words: str) -> str:
    result = CliRunner().invoke(cli.app, [*words, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("words", [(), *commands()], ids=" ".join)
def test_every_help_text_fits_and_names_its_values(words: tuple[str, ...]) -> None:
    text = shown(*words)
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"<(?:str|int|float|path|list)\b|list\[|\{[A-Z]", text)
    assert "\x1b" not in text and "─" not in text and "…..." not in text


def test_the_short_option_shows_the_same_text() -> None:
    for words in [(), ("status",), ("lm", "train")]:
        assert (
            CliRunner().invoke(cli.app, [*words, "-h"]).output == CliRunner().invoke(cli.app, [*words, "--help"]).output
        )


def test_commands_stand_under_headings() -> None:
    text = shown()
    places = [text.index(f"\n{heading}:\n") for heading in help.PANELS]
    assert places == sorted(places)
    assert "\nCommands:\n" not in text


def test_a_command_without_a_heading_is_shown_under_the_first() -> None:
    assert help.panel("brand-new") == next(iter(help.PANELS))


def test_options_stand_under_headings() -> None:
    text = shown("list")
    assert text.index("Arguments:") < text.index("Which URLs:") < text.index("--reason") < text.index("Options:")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["crwl", "x"], "Did you mean 'crawl'?"),
        (["crawl", "x", "--max-page", "3"], "--max-pages"),
        (["options", "language.accept"], "did you mean 'language.accepted'?"),
        (["crawl", "x", "--set", "language.accept=1"], "x has no crawl.toml"),
    ],
)
def test_a_wrong_word_is_answered_with_the_nearest_one(arguments: list[str], hint: str) -> None:
    result = crashing.run(arguments)
    assert result.code == 2 and hint in result.err
