"""What the documentation names exists, and what exists is documented."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from windrow import cli
from windrow.data import Reason

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    assert [link for link in links if not link.startswith("http") and not (page.parent / link).exists()] == []


def test_every_reason_is_in_the_list_of_reasons() -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    listed = re.findall(r"`([a-z0-9-]+)`", text[text.index("\nReasons:") :])
    assert sorted(listed[: listed.index("near-duplicate") + 1]) == sorted(reason.value for reason in Reason)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    commands = get_command(cli.app).commands  # type: ignore[attr-defined]
    for line in re.findall(r"(?:^|`)windrow ([^`\n#]+)", page.read_text(), re.MULTILINE):
        name, *arguments = shlex.split(line)
        if name.startswith("-"):
            continue
        if arguments and f"{name} {arguments[0]}" in commands:
            name = f"{name} {arguments[0]}"
        assert name in commands, line
        shown = [commands[name], *getattr(commands[name], "commands", {}).values()]
        options = {option for command in shown for parameter in command.params for option in parameter.opts}
        assert [word for word in arguments if word.startswith("--") and word.partition("=")[0] not in options] == [], (
            line
        )
