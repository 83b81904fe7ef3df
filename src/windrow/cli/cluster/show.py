"""How `windrow cluster` prints jobs, nodes, shards and orders."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from windrow.cli.crawl.shards import load_nodes
from windrow.cli.inspect.status import finished_by_reason
from windrow.cli.terminal import Row, note, out, print_sections
from windrow.records import LimitCounts
from windrow.units import count, moment, ranges, span

STATES = {
    "waiting": "waits for a node",
    "crawl": "run by windrow crawl, without nodes",
    "limit": "limit reached",
    "forgotten": "being removed",
}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns: numbers on the right, words on the left."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    right = [all(_is_number(row[column]) for row in rows) for column in range(len(head))]
    for row in (head, *rows):
        cells = [
            f"{cell:>{width}}" if is_right else f"{cell:<{width}}"
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        out.print("  ".join(cells).rstrip())


def _is_number(text: str) -> bool:
    return text == "-" or text.replace(",", "").replace(".", "").isdigit()


def without_shards(job: Any) -> dict[str, Any]:
    """Return a job for a list of many."""
    fields: dict[str, Any] = msgspec.to_builtins(job)
    del fields["each"]
    return fields


def jobs(listed: Sequence[Any]) -> None:
    if not listed:
        out.print("no jobs; make one with: windrow cluster create JOB --config crawl.toml --seeds FILE")
        return
    head = ("job", "state", "running", "shards", "finished", "waiting", "per second", "created")
    rows = [
        (
            *(job.name, STATES.get(job.state, job.state), str(job.running), str(job.shards)),
            *(f"{job.finished:,}", f"{job.waiting:,}", f"{job.rate:,.1f}", moment(job.created)),
        )
        for job in listed
    ]
    table(head, rows)


def nodes(records: Sequence[Any], alive: set[str], now: float) -> None:
    if not records:
        out.print("no nodes; start one with: windrow node --redis URL --dir DIR")
        return
    head = ("node", "host", "slots", "shards", "version", "age", "state")
    rows = []
    for node in records:
        silent = f"silent for {span(max(0.0, now - node.seen))}"
        state = silent if node.name not in alive else "draining" if node.draining else "alive"
        held = str(sum(map(len, node.running.values()))) if node.name in alive else "-"  # others may have them now
        age = span(max(0.0, now + node.drift - node.started)) if node.started else "?"
        rows.append((node.name, node.host, str(node.slots), held, node.version, age, state))
    table(head, rows)


def status(job: Any, each: bool) -> None:
    """Print the state of a job: all shards together, those that run nowhere, and with `each` every shard."""
    names = f" on {', '.join(job.nodes)}" if job.nodes else ""
    goals = load_nodes("limits")
    made = LimitCounts(job.pages, documents=job.documents, tokens=job.tokens)
    out.print(f"{job.name}: {STATES.get(job.state, job.state)}; {job.running} of {job.shards} shards run{names}")
    idle = sum(shard.running and shard.idle for shard in job.each)
    shards: list[Row] = [
        (_at_work(job), f"{job.running - idle:,}", ""),
        ("idle", f"{idle:,}", "without work; others may send links" if idle and job.state != "done" else ""),
        ("not running", f"{job.shards - job.running:,}", ""),
    ]
    urls: list[Row] = [
        ("finished", f"{job.finished:,}", ""),
        ("waiting", f"{job.waiting:,}", ""),
        ("rate", f"{job.rate:,.1f}", "pages per second"),
    ]
    corpus: list[Row] = [
        ("documents", f"{job.documents:,}", "in the corpora of all shards, before they are merged"),
        ("tokens", f"{job.tokens:,}", ""),
    ]
    limits: list[Row] = [
        (name, goals.progress(name, made, job.seconds), f"of {goals.describe(name, goal)}{_reached(name, job)}")
        for name, goal in job.limits.items()
    ]
    sections = [
        ("URLs, as announced by the shards", urls),
        finished_by_reason(job.reasons),
        ("Corpus", corpus if job.documents else []),
        ("Limits of all shards together", limits),
        ("Shards", shards),
    ]
    print_sections([section for section in sections if section[1]])
    if each:
        out.print("")
        _each(job)
    if each or job.state not in ("done", "stopped", "limit", "crawl"):
        _absent(job.each)
    if job.limit:
        raised = f"windrow cluster set {job.name} crawl.max_{job.limit}=N"
        out.print(f"\nContinue with a higher limit, or without one (N is 0): {raised}")
    if job.state != "crawl":
        out.print(f"\nEvents: windrow cluster logs {job.name}")
        out.print(f"All counts of the shards that a node has, there: windrow status DIR/{job.name}")


def _reached(name: str, job: Any) -> str:
    return "; the job was stopped" if name == job.limit else ""


def until(limits: dict[str, int | float]) -> str:
    """Return the limits of a new job in words."""
    describe = load_nodes("limits").describe
    return f", until {' or '.join(describe(*limit) for limit in limits.items())}" if limits else ""


def _at_work(job: Any) -> str:
    return "paused" if job.state == "paused" else "at work"


def _each(job: Any) -> None:
    head = ("shard", "node", "seen", "finished", "waiting", "per second", "state")
    rows = []
    for shard in job.each:
        seen = f"{span(shard.seen)} ago" if shard.seen is not None else "-"
        state = "not running" if not shard.running else "idle" if shard.idle else _at_work(job)
        numbers = (f"{shard.finished:,}", f"{shard.waiting:,}", f"{shard.rate:,.1f}")
        rows.append((str(shard.shard), shard.node or "-", seen, *numbers, state))
    table(head, rows)


def _absent(shards: Sequence[Any]) -> None:
    """Print why shards run nowhere, those with one reason together."""
    reasons: dict[str, list[int]] = {}
    for shard in shards:
        if not shard.running:
            reasons.setdefault(shard.why, []).append(shard.shard)
    if reasons:
        out.print("\nShards that run nowhere")
    for why, those in reasons.items():
        out.print(f"  {ranges(those)}: {why}")


def order(name: str, given: Any, done: str) -> None:
    """Print an order, and which shards have not taken it yet."""
    out.print(f"{name}: {done}; {count(given.taken, 'shard')} of {given.taken + _late(given)} took the order.")
    if given.running:
        note(f"not taken yet by shards that run: {ranges(given.running)}; they take it at one of their next commits")
    if given.absent:
        note(f"not taken yet by shards that do not run: {ranges(given.absent)}; they take it when they run again")


def no_events(name: str, node: str, others: int) -> str:
    """Return why `windrow cluster logs` shows nothing."""
    if others:
        return f"node {node} has no part in the last {count(others, 'event')} of {name}; look further back with --lines"
    return f"there are no events of {name} yet; nodes write them when they run it"


def changes(name: str, made: Any) -> None:
    """Print options that were changed."""
    if made.state is not None:
        goals = [load_nodes("limits").describe(*limit) for limit in made.state.limits.items()]
        state = "stopped" if made.state.wanted == "stop" else "running" if made.state.wanted == "run" else "paused"
        out.print(f"{name}: {state}; limits of all shards together: {', '.join(goals) or 'none'}")
    if made.order is not None:
        order(name, made, ", ".join(made.order.content.split()))


def _late(given: Any) -> int:
    return len(given.running) + len(given.absent)


def shard_directory(directory: Path | None, job: str, shard: int) -> Path | None:
    """Return the directory of a shard below a data directory of a node, or of a job; None if it is not there."""
    if directory is None:
        return None
    places = [base / "shards" / f"{shard:03}" for base in (directory / job, directory)]
    return next((path for path in places if os.access(path / "log", os.R_OK)), None)
