"""Check that the documents are true: each link, command and option exists, each Reason is described."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests import blocks
from windrow import cli, config
from windrow.records import Reason

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REASONS = "docs/formats.md"
OPTIONS = {option.name for option in config.options()}


def identity(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=identity)
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
    assert [name for name in listed if name not in known] == [], f"{REASONS} lists what is no Reason of windrow.records"
    assert len(listed) == len(set(listed)), f"{REASONS} lists a reason twice"


def test_the_list_of_reasons_may_end_with_any_reason() -> None:
    text = "Before: `one`.\n\nReasons: `ok`,\n`near-duplicate`, `brand-new`. Those from `ok` on are `final`.\n"
    assert listed_reasons(text) == ["ok", "near-duplicate", "brand-new"]
    with pytest.raises(AssertionError, match="no list"):
        listed_reasons("no such list: `ok`")


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    commands = get_command(cli.app).commands  # type: ignore[attr-defined]
    text = re.sub(r"^```text\n.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"(?:^|`)windrow ([^`\n#]+)", text.replace("\\\n", " "), re.MULTILINE):
        name, *arguments = shlex.split(line)
        if name.startswith("-"):
            continue
        if arguments and f"{name} {arguments[0]}" in commands:
            name = f"{name} {arguments[0]}"
        assert name in commands, line
        shown = [commands[name], *getattr(commands[name], "commands", {}).values()]
        known = {
            option
            for command in shown
            for parameter in command.params
            for option in (*parameter.opts, *getattr(parameter, "secondary_opts", ()))
        }
        unknown = [word for word in arguments if word.startswith("--") and word.partition("=")[0] not in known]
        assert unknown == [], line


def shown_commands(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of every command in the shell blocks of a page."""
    for block in blocks.blocks(page):
        if block.language == "sh":
            yield from blocks.commands(block.code)


def problem(arguments: list[str]) -> str:
    """Return what the command line says against these arguments; an empty string if it takes them."""
    command: Any = get_command(cli.app)
    if arguments[0].startswith("-"):
        return ""
    if arguments[0] not in command.commands:
        return f"there is no command {arguments[0]}"
    settings = [arguments[i + 1].partition("=")[0] for i, word in enumerate(arguments[:-1]) if word == "--set"]
    if unknown := [name for name in settings if name not in OPTIONS]:
        return f"there is no option {unknown}"
    try:
        while getattr(command, "commands", {}) and arguments and arguments[0] in command.commands:
            command, arguments = command.commands[arguments[0]], arguments[1:]
        command.make_context("windrow", list(arguments))
    except Exception as error:  # a usage error of typer's own copy of click
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_the_command_line_takes_every_command_of_a_shell_block(page: Path) -> None:
    found = {shlex.join(arguments): problem(arguments) for arguments in shown_commands(page)}
    assert {command: text for command, text in found.items() if text} == {}


@pytest.mark.parametrize(
    "arguments", ["crawl", "crawl d --max-page 3", "crawl d --set fetch.dely=3", "crawl d --max-pages many", "crwl d"]
)
def test_a_wrong_command_is_found(arguments: str) -> None:
    assert problem(arguments.split())


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_every_option_of_a_toml_block_exists(page: Path, tmp_path: Path) -> None:
    for block in blocks.blocks(page):
        if block.language != "toml":
            continue
        (tmp_path / "crawl.toml").write_text(block.code)
        config.load(tmp_path / "crawl.toml", [])


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_every_option_that_a_page_names_exists(page: Path) -> None:
    if page.parent.name == "decisions":  # a record of its time
        pytest.skip("a decision is never edited")
    sections = "|".join(sorted({name.partition(".")[0] for name in OPTIONS}))
    named = re.findall(rf"`(?:--set )?((?:{sections})\.[a-z_0-9]+)(?:`| ?=)", page.read_text())
    assert [name for name in named if name not in OPTIONS and not is_code(name)] == []


def is_code(name: str) -> bool:
    """Return whether a name with a dot is a file, or a module or function of ours: `dedup.text_key`."""
    section, _, rest = name.partition(".")
    if rest in ("toml", "log") or importlib.util.find_spec(f"windrow.{section}") is None:
        return rest in ("toml", "log")
    package = importlib.import_module(f"windrow.{section}")
    return hasattr(package, rest) or (Path(package.__path__[0]) / f"{rest}.py").exists()


def test_every_block_that_is_not_run_says_why() -> None:
    for page in PAGES:
        marked = re.findall(r"^<!--.*$", page.read_text(), re.MULTILINE)
        assert [
            line
            for line in marked
            if not re.fullmatch(r"<!-- (background|output|needs: [\w., ]+|not run: .{8,}) -->", line)
        ] == []


def tool(name: str) -> Any:
    """Import a module of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def messages() -> str:
    """Return the strings of the source; the parts of a message around its values are joined by …"""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append("".join(one.value if isinstance(one, ast.Constant) else "…" for one in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def test_every_message_that_the_questions_explain_is_one_of_ours() -> None:
    ours = messages()
    quoted = re.findall(r'^### "(.+)"$', (ROOT / "docs" / "faq.md").read_text("utf-8"), re.MULTILINE)
    others = {"externally managed environment", "Too many open files"}  # of pip and of the operating system
    parts = [part.strip() for text in quoted if text not in others for part in text.split("…")]
    assert len(parts) >= 10
    assert [part for part in parts if part not in ours] == []


@pytest.mark.parametrize("name", ["cli.md"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text("utf-8") == tool("cli_reference").pages()[name], "run `make reference`"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site in strict mode: a link, an anchor or a page that leads nowhere fails."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("needs the extra docs: pip install 'windrow-corpus[docs]'")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place


def test_the_site_has_every_page(site: Path) -> None:
    expected = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {path.relative_to(site) for path in site.rglob("*.html")} == expected | {Path("404.html")}


def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    loaded = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^>]*>|<link\b[^>]*href=[\"']?https?:[^>]*>"
    )
    found = {path.name: loaded.findall(path.read_text("utf-8")) for path in site.rglob("*.html")}
    assert {name: tags for name, tags in found.items() if tags} == {}
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)\"']*", styles) == []


def test_the_search_of_the_site_needs_no_server(site: Path) -> None:
    assert "yield" in (site / "search" / "search_index.js").read_text("utf-8")
    for page in (site / "index.html", *(site / "decisions").glob("*.html")):
        (script,) = re.findall(r'src="([^"]*file-worker\.js)"', page.read_text("utf-8"))
        assert (page.parent / script).is_file()


def test_a_misspelt_option_is_no_code() -> None:
    assert is_code("crawl.toml") and is_code("dedup.text_key") and not is_code("fetch.dely")
