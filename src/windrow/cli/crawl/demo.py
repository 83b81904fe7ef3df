"""`windrow demo`: a whole crawl of a small web on loopback."""

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.crawl.start import show_ending
from windrow.cli.inspect import serving
from windrow.cli.run import run
from windrow.cli.terminal import Json, command, load, out, print_json
from windrow.demo import directory as demos
from windrow.demo import web
from windrow.inspect import report as reports


def demo(
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help=f"Directory for the crawl (windrow-demo), or with --serve ({serving.DIRECTORY}).",
            metavar="DIR",
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Crawl nothing; serve the web until Ctrl-C, for crawls of your own.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Crawl a small web that Windrow serves on loopback. It needs no network and ends with a report."""
    if serve:
        return serving.serve(directory or serving.DIRECTORY, as_json)
    directory = directory or Path("windrow-demo")
    demos.clear(directory)
    with web.serve() as site:
        demos.write(directory, site)
        if not as_json:
            served = f"a web of {len(site.hosts)} hosts is served on 127.0.0.1:{site.port}"
            out.print(f"{served}; crawling it into {directory}/")
        ending = run(directory, load(directory))
    if as_json:
        return print_json(ending)
    show_ending(directory, ending)
    made = reports.write(reports.read([directory], "host"), reports.place([directory]))
    for name, content in demos.CONTENTS.items():
        out.print(f"  {directory / name}/  {content}")
    out.print(f"  {made.page}  the report: open it in a browser")
    out.print("next:")
    for line in (
        command("status", directory),
        command("why", directory, site.seeds[0]),
        command("list", directory, "--reason", "duplicate"),
        command("export", directory, "--format", "text", "-o", f"{directory}.txt"),
    ):
        out.print(f"  {line}")
