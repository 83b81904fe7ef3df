"""Help texts in groups, as plain text: they read the same on a screen of 80 columns, in a pipe and in a mail.

Typer draws groups only with Rich, as boxes with a border, which wrap badly in 80 columns and fill a pipe with line
drawing. Here a group is a heading. `rich_help_panel` of a command or an option names it.
"""

import re
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

PANELS = {  # headings of the commands, in their order
    "Crawl": (
        "demo",
        "corpus",
        "init",
        "crawl",
        "shard",
        "node",
        "pause",
        "resume",
        "stop",
        "block",
        "unblock",
        "add",
        "set",
        "retry",
        "cluster",
    ),
    "Look at a crawl": ("status", "list", "why", "report", "what-if", "size", "serve"),
    "Use the corpus": ("export", "publish", "store", "dedup", "merge", "rebuild", "purge"),
    "Use archives": ("index", "query", "records", "seeds", "derive", "batch", "shuffle"),
    "Tools": ("extract", "language", "lm"),
    "Reference": ("options", "reasons", "completion"),
}
_TYPE = re.compile(r"<(?:list\[)?(\w+)\]?(?: range)?>")  # as Typer names the type of a value
_Rows = dict[str, list[tuple[str, str]]]  # heading -> name and text of each entry


class Command(TyperCommand):
    """A command whose options are shown in groups."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return _pieces(super().collect_usage_pieces(ctx))

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        _write(formatter, _parameters(self, ctx))


class Group(TyperGroup):
    """A group of commands, with a heading above each part of it."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return _pieces(super().collect_usage_pieces(ctx))

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        self.format_commands(ctx, formatter)
        _write(formatter, _parameters(self, ctx))

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        commands: _Rows = {}
        for name in self.list_commands(ctx):
            command: Any = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                heading = getattr(command, "rich_help_panel", None)
                heading = heading if isinstance(heading, str) else "Commands"
                commands.setdefault(heading, []).append((name, _first_sentence(command.help or "")))
        ranks = {heading: rank for rank, heading in enumerate(PANELS)}
        _write(formatter, dict(sorted(commands.items(), key=lambda entry: ranks.get(entry[0], len(ranks)))))


def dress(app: typer.Typer) -> None:
    """Show the help of every command of an app in this way, if it has no way of its own."""
    for command in app.registered_commands:
        command.cls = Command if command.cls in (None, TyperCommand) else command.cls
    if not isinstance(app.info.cls, type):
        app.info.cls = Group


def panel(command: str) -> str:
    """Return the heading of a command; the first one where none names it."""
    return next((heading for heading, names in PANELS.items() if command in names), next(iter(PANELS)))


def _pieces(pieces: list[str]) -> list[str]:
    """Return the parts of the line of usage: a required argument as DIR, not as {DIR}; all in capitals."""
    return [re.sub(r"\{(.*)\}", r"\1", piece).upper() for piece in pieces]


def _parameters(command: Any, ctx: typer.Context) -> _Rows:
    rows: _Rows = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is None:
            continue
        name, text = record
        heading = getattr(parameter, "rich_help_panel", None)
        if parameter.param_type_name == "argument":
            name, text, heading = (
                parameter.metavar or parameter.name.upper(),
                text.removesuffix("  [required]"),
                heading or "Arguments",
            )
        rows.setdefault(heading if isinstance(heading, str) else "Options", []).append((_named(name, parameter), text))
    if "Options" in rows:  # with --help at its end
        rows["Options"] = rows.pop("Options")
    return rows


def _named(entry: str, parameter: Any) -> str:
    """Return an entry with a placeholder for its value, if it has none: --format <str> is --format FORMAT."""
    long = max(parameter.opts, key=len).lstrip("-").upper()
    return _TYPE.sub(lambda match: {"int": "N", "float": "NUMBER", "path": "PATH"}.get(match[1], long), entry)


def _write(formatter: Any, groups: _Rows) -> None:
    for heading, rows in groups.items():
        with formatter.section(heading):
            formatter.write_dl(rows, col_max=28)


def _first_sentence(text: str) -> str:
    """Return the first sentence of a help text, without its full stop."""
    match = re.match(r"(.+?)\.(?:\s|$)", " ".join(text.split()))
    return match[1] if match else text
