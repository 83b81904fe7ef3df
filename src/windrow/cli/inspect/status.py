"""`windrow status`: the counts of a crawl, as a labelled table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from windrow import files, log, metrics, orders, sharding
from windrow.cli.terminal import (
    Directory,
    Json,
    Row,
    Section,
    command,
    out,
    print_json,
    print_sections,
    progress,
    undivided,
)
from windrow.config import ConfigError
from windrow.crawler.machine import network
from windrow.crawler.orders.take import standing
from windrow.inspect import metrics as measured
from windrow.inspect import status as states
from windrow.inspect.status import Status
from windrow.units import count, moment, share, size

_FORMATS = ("prometheus", "openmetrics")


def status(
    directory: Directory,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            help="Print metrics in place of the table: prometheus (for the textfile collector) or openmetrics.",
            metavar="FORMAT",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="With --format: replace this file.", metavar="FILE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the state of a crawl. Every admitted URL is waiting, in flight, or finished with exactly one reason."""
    if form and (form not in _FORMATS or as_json):
        raise ConfigError(f"--format {form!r} cannot be used; give prometheus or openmetrics, and --json without it")
    if output is not None and not form:
        raise ConfigError("-o is for metrics; say --format prometheus too")
    places = undivided([directory])
    if form:
        return _write_metrics(places, form, output)
    with progress("status", sum(map(log.length, places))) as watch:
        found = states.total([states.status(place, watch) for place in places])
    if as_json:
        return print_json(found)
    out.print(f"{directory}: {_state(found)}{f', {len(places)} shards' if sharding.is_divided(directory) else ''}")
    if found.offline:
        out.print(network.describe(found.offline))
    for line in standing(found.controls, directory):
        out.print(line)
    if found.orders_waiting:
        out.print(f"orders that were not taken yet: {found.orders_waiting:,}, in {directory / orders.DIRECTORY}/")
    print_sections(sections(found))
    out.print("")
    if found.finished:
        out.print(f"URLs of a reason: {command('list', directory, '--reason', next(iter(found.finished)))}")
    out.print(f"Meaning of the reasons and rules: {command('reasons')}")


def _write_metrics(places: list[Path], form: str, output: Path | None) -> None:
    with progress("status", sum(map(log.length, places))) as watch:
        families = metrics.joined([measured.recorded(place, watch) for place in places])
    text = metrics.text(families, form == "openmetrics")
    if output is None:
        sys.stdout.write(text.decode())
    else:
        files.write(output, text)  # whole or not at all: the collector may read it at any moment


def _state(found: Status) -> str:
    if not found.frames:
        return "running, nothing committed yet" if found.running else "not started"
    state = "running" if found.running else "not running"
    return f"{state}, last commit {moment(found.last)} (frame {found.frames:,})"


def sections(found: Status) -> list[Section]:
    """Return the table: one section per kind of count. Empty sections are left out."""
    finished = sum(found.finished.values())
    refused = sum(found.refused.values())
    text: list[Row] = []
    if found.clean:
        text = [
            ("text found", size(found.clean), "main text in any language, duplicates included"),
            ("text kept", size(found.kept), f"in the corpus: a yield of {share(found.kept, found.downloaded)}"),
        ]
    removals: list[Row] = []
    if found.listed or found.purged:
        removals = [
            ("listed", f"{found.listed:,}", "documents that are on the list and still in the files"),
            ("purged", f"{found.purged:,}", "pages that are removed from the files"),
        ]
    directories: list[Row] = [(f"{name}/", size(length), "") for name, length in found.bytes.items()]
    all_sections: list[Section] = [
        (
            "URLs",
            [
                ("admitted", f"{found.seen:,}", f"on {count(found.hosts, 'host')}"),
                ("waiting", f"{found.waiting:,}", ""),
                ("in flight", f"{found.in_flight:,}", "requested and not yet committed" if found.in_flight else ""),
                ("finished", f"{finished:,}", f"{found.due:,} are to be visited again" if found.due else ""),
            ],
        ),
        finished_by_reason(found.finished),
        ("Earlier visits, by reason", _rows(found.earlier, sum(found.earlier.values()))),
        ("Failed attempts, by reason", _rows(found.retried, sum(found.retried.values()))),
        ("Links refused, by rule", _rows(found.refused, refused)),
        (
            "Requests",
            [
                ("requests", f"{found.requests:,}", "for pages, well-known files and soft-404 probes"),
                ("captures", f"{found.captures:,}", "requests with an answer, which is archived"),
                ("pages", f"{found.pages:,}", "URLs answered with a 2xx status"),
                ("documents", f"{found.documents:,}", "pages with text in the corpus"),
                ("tokens", f"{found.tokens:,}", "words of the text in the corpus"),
            ],
        ),
        ("Bytes", [("downloaded", size(found.downloaded), ""), *text]),
        ("Truncated captures, by cause", _rows(found.truncated, found.captures)),
        ("Takedown list", removals),
        ("Committed files", directories),
    ]
    return [section for section in all_sections if section[1]]


def finished_by_reason(finished: dict[str, int]) -> Section:
    """Return the part of the table that says why URLs have ended, of one crawl or of all shards of a job."""
    return "Finished URLs, by reason", _rows(finished, sum(finished.values()))


def _rows(counts: dict[str, int], total: int) -> list[Row]:
    return [(name, f"{number:,}", share(number, total)) for name, number in counts.items()]
