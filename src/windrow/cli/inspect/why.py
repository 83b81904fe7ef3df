"""`windrow why`: the story of one URL."""

from pathlib import Path
from typing import Annotated

import typer

from windrow import sharding
from windrow.cli.terminal import Directory, Json, load_or_default, note, out, print_json
from windrow.config import ConfigError
from windrow.inspect import story as stories
from windrow.inspect.story import Story
from windrow.units import moment, printable


def why(
    directory: Directory,
    url: Annotated[str, typer.Argument(help="The URL, as it stands in a page or in the log.", metavar="URL")],
    as_json: Json = False,
) -> None:
    """Show what happened to a URL, when, and which rule decided."""
    crawl = _crawl(directory, url)
    story = stories.why(crawl, url, load_or_default(crawl))
    if as_json:
        return print_json(story)
    if crawl != directory:
        note(f"the URL belongs to the shard {crawl}; names of files below begin there")
    show(story)


def _crawl(directory: Path, url: str) -> Path:
    """Return the crawl directory that a URL belongs to: the shard of its domain, if the crawl has shards."""
    if not sharding.is_divided(directory):
        return directory
    identity, domain = sharding.identity(directory), stories.parsed(url).domain
    assert identity is not None
    number = sharding.shard_of(domain, identity.job.shards)
    shard = next((shard for shard in sharding.places(directory) if int(shard.name) == number), None)
    if shard is None:
        ask = f"windrow cluster why {identity.job.name} {url}"
        raise ConfigError(f"{domain} belongs to shard {number}, which is not in {directory}; ask for it with: {ask}")
    return shard


def show(story: Story) -> None:
    """Print the story of a URL."""
    out.print(story.url)
    for event in story.events:
        out.print(printable(f"  {moment(event.time)}  {event.what}"))
    if story.explanation:
        out.print(printable(f"  because: {story.explanation}"))
    if story.takedown:
        out.print(printable(f"  on the takedown list: {story.takedown}"))
    out.print(f"{story.state}{f': {story.reason}' if story.reason else ''}")
