"""`windrow options` and `reasons`: the reference, on the screen."""

from typing import Annotated

import msgspec
import typer

from windrow import comments, config
from windrow.cli.terminal import Json, out, print_json
from windrow.config import ConfigError, Option
from windrow.data import Reason


def options(
    name: Annotated[str, typer.Argument(help="A section or an option: fetch, fetch.delay.", metavar="[NAME]")] = "",
    as_json: Json = False,
) -> None:
    """Print the options with their defaults. With NAME, also print unit, reason and range."""
    found = [one for one in config.options() if not name or one.name == name or one.name.startswith(f"{name}.")]
    if not found:
        raise ConfigError(f"there is no option or section {name!r}; {config.nearest(name)}")
    if as_json:
        return print_json([msgspec.to_builtins(one) for one in found])
    for option in found:
        out.print(f"{option.name} = {config.default(option)}")
        if name:
            out.print(f"    {_meaning(option)}")


def _meaning(option: Option) -> str:
    limits = f" Allowed: {option.allowed}." if option.allowed else ""
    live = " Can change while the crawl runs: windrow set." if option.live else ""
    return f"{option.meaning}{limits}{live}"


def reasons(as_json: Json = False) -> None:
    """Print the reasons with which a URL can end, and their meaning."""
    meanings = comments.read(Reason)
    if as_json:
        return print_json({reason.value: meanings[reason.name] for reason in Reason})
    for reason in Reason:
        out.print(f"{reason.value:<20} {meanings[reason.name]}".rstrip())
