"""`windrow size`: how much disk, memory and time a crawl of so many pages needs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from windrow import config
from windrow.cli.terminal import Json, load_or_default, number, out, print_json, undivided
from windrow.config import Config, ConfigError
from windrow.inspect import sizes
from windrow.inspect.sizes import Needs
from windrow.units import size as in_bytes
from windrow.units import span

_PAGES = (1_000_000, 10_000_000, 100_000_000)
_URLS = 10  # admitted per page; docs/sizing.md says that this is assumed


def size(
    directory: Annotated[
        Path | None, typer.Argument(help="A crawl: use its ratios.", metavar="[DIR]", show_default=False)
    ] = None,
    pages: Annotated[
        str, typer.Option(help="Pages of the crawl: 300K, 10M. Default: 1M, 10M and 100M.", metavar="N")
    ] = "",
    hosts: Annotated[int, typer.Option(help="Hosts that have URLs at the same time.", metavar="N", min=1)] = 1000,
    urls: Annotated[
        str, typer.Option("--urls-per-page", help="URLs admitted per page, without DIR. Default: 10.", metavar="N")
    ] = "",
    text: Annotated[bool, typer.Option("--text/--no-text", help="Extract text, or archive only; without DIR.")] = True,
    as_json: Json = False,
) -> None:
    """Compute the disk, memory and time that a crawl needs, from a crawl that you have or from measured defaults."""
    if directory is not None and (urls or not text):
        raise ConfigError("--urls-per-page and --no-text are for an estimate without DIR, which has its own ratios")
    chosen = (number(pages, "--pages"),) if pages else _PAGES
    options = load_or_default(directory) if directory else config.make((), Path())
    if directory:
        ratios = sizes.measured(undivided([directory]))
    else:
        ratios = sizes.default(text, number(urls, "--urls-per-page") or _URLS)
    needed = [sizes.needs(ratios, count, hosts, options) for count in chosen]
    if as_json:
        return print_json(needed)
    source = f"the {ratios.pages:,} pages of {directory}" if directory else "measured defaults"
    out.print(f"From {source}; {hosts:,} hosts at a time, fetch.delay = {options.fetch.delay:g}.")
    if 0 < ratios.pages < 1000:
        out.print("So few pages say little: crawl some thousand first.")
    _print(list(_rows(needed, options)))


def _rows(needed: Sequence[Needs], options: Config) -> Iterator[tuple[str, list[str]]]:
    """Yield the label and the values of each line; a heading has no values."""
    yield "", [f"{need.pages:,} pages" for need in needed]
    yield "URLs", [f"{need.urls:,}" for need in needed]
    yield "download", [in_bytes(need.downloaded) for need in needed]
    for heading, parts in (("disk", "disk"), ("memory", "memory")):
        yield heading, [in_bytes(getattr(need, f"{parts}_total")) for need in needed]
        for name in getattr(needed[0], parts):
            label = f"  {name}/" if parts == "disk" else f"  {name}"
            yield label, [in_bytes(getattr(need, parts)[name]) for need in needed]
    yield "CPU time", [span(need.cpu_seconds) for need in needed]
    yield "time, at least", [span(need.seconds) for need in needed]
    if any(need.table_bytes > options.dedup.table_bytes for need in needed):
        yield "dedup.table_bytes that forgets nothing", [in_bytes(need.table_bytes) for need in needed]


def _print(rows: Sequence[tuple[str, list[str]]]) -> None:
    label = max(len(name) for name, _ in rows)
    widths = [max(map(len, column)) for column in zip(*(values for _, values in rows), strict=True)]
    for name, values in rows:
        cells = (f"{value:>{width}}" for value, width in zip(values, widths, strict=True))
        out.print(f"{name:<{label}}  {'  '.join(cells)}")
