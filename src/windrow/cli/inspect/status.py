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
    crawls = undivided([directory])
    if form:
        return _write_metrics(crawls, form, output)
    with progress("status", sum(map(log.length, crawls))) as watch:
        counts = states.total([states.status(crawl, watch) for crawl in crawls])
    if as_json:
        return print_json(counts)
    out.print(f"{directory}: {_state(counts)}{f', {len(crawls)} shards' if sharding.is_divided(directory) else ''}")
    if counts.offline:
        out.print(network.describe(counts.offline))
    for line in standing(counts.controls, directory):
        out.print(line)
    if counts.orders_waiting:
        out.print(f"orders that were not taken yet: {counts.orders_waiting:,}, in {directory / orders.DIRECTORY}/")
    print_sections(sections(counts))
    out.print("")
    if counts.finished:
        out.print(f"URLs of a reason: {command('list', directory, '--reason', next(iter(counts.finished)))}")
    out.print(f"Meaning of the reasons and rules: {command('reasons')}")


def _write_metrics(crawls: list[Path], form: str, output: Path | None) -> None:
    with progress("status", sum(map(log.length, crawls))) as watch:
        families = metrics.joined([measured.recorded(crawl, watch) for crawl in crawls])
    text = metrics.text(families, form == "openmetrics")
    if output is None:
        sys.stdout.write(text.decode())
    else:
        files.write(output, text)  # whole or not at all: the collector may read it at any moment


def _state(counts: Status) -> str:
    if not counts.frames:
        return "running, nothing committed yet" if counts.running else "not started"
    state = "running" if counts.running else "not running"
    return f"{state}, last commit {moment(counts.last)} (frame {counts.frames:,})"


def sections(counts: Status) -> list[Section]:
    """Return the table: one section per kind of count. Empty sections are left out."""
    finished = sum(counts.finished.values())
    refused = sum(counts.refused.values())
    text: list[Row] = []
    if counts.clean:
        text = [
            ("text found", size(counts.clean), "main text in any language, duplicates included"),
            ("text kept", size(counts.kept), f"in the corpus: a yield of {share(counts.kept, counts.downloaded)}"),
        ]
    removals: list[Row] = []
    if counts.listed or counts.purged:
        removals = [
            ("listed", f"{counts.listed:,}", "documents that are on the list and still in the files"),
            ("purged", f"{counts.purged:,}", "pages that are removed from the files"),
        ]
    directories: list[Row] = [(f"{name}/", size(length), "") for name, length in counts.bytes.items()]
    all_sections: list[Section] = [
        (
            "URLs",
            [
                ("admitted", f"{counts.seen:,}", f"on {count(counts.hosts, 'host')}"),
                ("waiting", f"{counts.waiting:,}", ""),
                ("in flight", f"{counts.in_flight:,}", "requested and not yet committed" if counts.in_flight else ""),
                ("finished", f"{finished:,}", f"{counts.due:,} are to be visited again" if counts.due else ""),
            ],
        ),
        finished_by_reason(counts.finished),
        ("Earlier visits, by reason", _rows(counts.earlier, sum(counts.earlier.values()))),
        ("Failed attempts, by reason", _rows(counts.retried, sum(counts.retried.values()))),
        ("Links refused, by rule", _rows(counts.refused, refused)),
        (
            "Requests",
            [
                ("requests", f"{counts.requests:,}", "for pages, well-known files and soft-404 probes"),
                ("captures", f"{counts.captures:,}", "requests with an answer, which is archived"),
                ("pages", f"{counts.pages:,}", "URLs answered with a 2xx status"),
                ("documents", f"{counts.documents:,}", "pages with text in the corpus"),
                ("tokens", f"{counts.tokens:,}", "words of the text in the corpus"),
            ],
        ),
        ("Bytes", [("downloaded", size(counts.downloaded), ""), *text]),
        ("Truncated captures, by cause", _rows(counts.truncated, counts.captures)),
        ("Takedown list", removals),
        ("Committed files", directories),
    ]
    return [section for section in all_sections if section[1]]


def finished_by_reason(finished: dict[str, int]) -> Section:
    """Return the part of the table that says why URLs have ended, of one crawl or of all shards of a job."""
    return "Finished URLs, by reason", _rows(finished, sum(finished.values()))


def _rows(numbers: dict[str, int], total: int) -> list[Row]:
    return [(name, f"{number:,}", share(number, total)) for name, number in numbers.items()]
