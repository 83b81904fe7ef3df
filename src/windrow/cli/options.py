"""`windrow options` and `reasons`: the reference, on the screen."""

from typing import Annotated

import msgspec
import typer

from windrow import config, rules
from windrow.cli import completion
from windrow.cli.terminal import Json, out, print_json
from windrow.config import ConfigError, Option
from windrow.rules import Rule


def options(
    name: Annotated[
        str,
        typer.Argument(
            help="A section or an option: fetch, fetch.delay.",
            metavar="NAME",
            autocompletion=completion.option_names,
            show_default=False,
        ),
    ] = "",
    long: Annotated[bool, typer.Option("--long", "-l", help="Also print unit, reason and range of each.")] = False,
    as_json: Json = False,
) -> None:
    """Print the options with their defaults. With NAME, also print unit, reason and range."""
    matches = [
        option for option in config.options() if not name or option.name == name or option.name.startswith(f"{name}.")
    ]
    if not matches:
        raise ConfigError(f"there is no option or section {name!r}; {config.nearest(name)}")
    if as_json:
        return print_json([msgspec.to_builtins(option) for option in matches])
    for option in matches:
        out.print(f"{option.name} = {config.default(option)}")
        if name or long:
            out.print(f"    {_meaning(option)}")


def _meaning(option: Option) -> str:
    limits = f" Allowed: {option.allowed}." if option.allowed else ""
    live = " Can change while the crawl runs: windrow set." if option.live else ""
    return f"{option.meaning}{limits}{live}"


def reasons(as_json: Json = False) -> None:
    """Print the reasons with which a URL can end, the rules behind them, and the options that decide."""
    if as_json:
        return print_json({title: {name: _fields(rule) for name, rule in table.items()} for title, table in _tables()})
    for title, table in _tables():
        out.print(f"{_TITLES[title]}\n")
        for name, rule in table.items():
            option = f" [{rule.option}]" if rule.option else ""
            out.print(f"  {name:<20} {rule.meaning}{option}")
        out.print("" if title != "limits" else "\nAn option in brackets decides: windrow options NAME explains it.")


_TITLES = {
    "reasons": "How a URL ends, or why an attempt fails",
    "rules": "Why a link is refused; also in the detail of out-of-scope",
    "limits": "What quality means; in its detail",
}


def _tables() -> list[tuple[str, dict[str, Rule]]]:
    return [("reasons", rules.reasons()), ("rules", rules.LINKS), ("limits", rules.QUALITY)]


def _fields(rule: Rule) -> dict[str, str]:
    return {"meaning": rule.meaning, "option": rule.option, "score": rule.score}
