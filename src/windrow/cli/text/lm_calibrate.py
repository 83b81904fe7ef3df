"""`windrow lm calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from windrow import config, files
from windrow.cli.terminal import Directory, Json, load, out, print_json
from windrow.config import ConfigError
from windrow.crawler.orders import give
from windrow.inspect import status
from windrow.jobs.topic import calibrate as job
from windrow.jobs.topic.calibrate import Proposal
from windrow.units import count


def calibrate(
    directory: Directory,
    held_out: Annotated[
        list[str] | None,
        typer.Option(help="Text on the topic that its model was not trained on. Repeatable.", metavar="TEXT"),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write them into crawl.toml; a running crawl gets them as an order.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Propose the boundaries of a topic, from the pages of a short test crawl, from held-out text, or from both."""
    proposal = job.propose(directory, load(directory), held_out or [])
    if write:
        done = _write(directory, proposal)
    if as_json:
        return print_json(proposal)
    _show(directory, proposal)
    out.print(done if write else "Add --write to use them.")


def _show(directory: Path, proposal: Proposal) -> None:
    basis = [count(proposal.pages, "page")] if proposal.pages else []
    basis += [f"{count(proposal.parts, 'part')} of the text"] if proposal.parts else []
    out.print(f"Boundaries by {proposal.by}, from {' and '.join(basis)}:")
    for boundary in proposal.boundaries:
        now = f"now {boundary.now:g}" if boundary.now else "now none"
        if boundary.share is not None:
            now += (
                f"; {boundary.share:.0%} of the pages are up to it, 90 % interval {boundary.low:g} to {boundary.high:g}"
            )
        out.print(f"  focus.{boundary.name} = {boundary.proposed:g} ({now})")
    if proposal.typical is not None:
        out.print(f"  focus.typical_perplexity = {proposal.perplexity}")
        out.print(f"  focus.typical_ratio = {proposal.typical.ratio:g}")
    for text in proposal.notes:
        out.print(text)


def _write(directory: Path, proposal: Proposal) -> str:
    values = proposal.values()
    if not status.is_running(directory):
        path = directory / "crawl.toml"
        files.write(path, config.edited(path.read_text("utf-8-sig"), values).encode())
        load(directory)  # what was written can be read
        return f"{path} has them now."
    now = load(directory).focus
    fixed = [name for name, value in values.items() if not _live(name) and getattr(now, name[6:]) != value]
    if fixed:
        names = ", ".join(fixed)
        raise ConfigError(f"{names} cannot change while the crawl runs; stop it first, or leave --held-out away")
    given = give.change(directory, [f"{name}={value}" for name, value in values.items() if _live(name)])
    return (
        "The crawl has them now."
        if given.state == "taken"
        else "The order is written; the crawl takes it within seconds."
    )


def _live(name: str) -> bool:
    return name in ("focus.high", "focus.medium", "focus.cutoff")
