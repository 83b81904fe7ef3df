"""`windrow why`: the story of one URL."""

from typing import Annotated

import typer

from windrow.cli.terminal import Directory, Json, load_or_default, out, print_json
from windrow.crawl import story as stories
from windrow.crawl.story import Story
from windrow.units import moment, printable


def why(
    directory: Directory,
    url: Annotated[str, typer.Argument(help="The URL, as it stands in a page or in the log.", metavar="URL")],
    as_json: Json = False,
) -> None:
    """Show what happened to a URL, when, and which rule decided."""
    story = stories.why(directory, url, load_or_default(directory))
    if as_json:
        return print_json(story)
    show(story)


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
