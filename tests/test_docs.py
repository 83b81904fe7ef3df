"""Check that the documents are true: each link, command and option exists, each Reason is described."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from windrow import cli
from windrow.data import Reason

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REASONS = "docs/formats.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
    assert [link for link in links if not link.startswith("http") and not (page.parent / link).exists()] == []


def listed_reasons(text: str) -> list[str]:
    """Return the names in the list after "Reasons:"; the prose behind its full stop may name reasons again."""
    found = re.search(r"^Reasons:((?:\s+`[a-z0-9-]+`,?)+)", text, re.MULTILINE)
    assert found, f"{REASONS} has no list that begins with: Reasons: `ok`, …"
    return re.findall(r"`([^`]+)`", found[1])


def test_every_reason_is_in_the_list_of_reasons() -> None:
    listed, known = listed_reasons((ROOT / REASONS).read_text()), [reason.value for reason in Reason]
    assert [name for name in known if name not in listed] == [], f"add these to the list after “Reasons:” in {REASONS}"
    assert [name for name in listed if name not in known] == [], f"{REASONS} lists what is no Reason of windrow.data"
    assert len(listed) == len(set(listed)), f"{REASONS} lists a reason twice"


def test_the_list_of_reasons_may_end_with_any_reason() -> None:
    text = "Before: `one`.\n\nReasons: `ok`,\n`near-duplicate`, `brand-new`. Those from `ok` on are `final`.\n"
    assert listed_reasons(text) == ["ok", "near-duplicate", "brand-new"]
    with pytest.raises(AssertionError, match="no list"):
        listed_reasons("no such list: `ok`")


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
        known = {option for command in shown for parameter in command.params for option in parameter.opts}
        unknown = [word for word in arguments if word.startswith("--") and word.partition("=")[0] not in known]
        assert unknown == [], line
