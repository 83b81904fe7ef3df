"""The limits of a crawl, as options of commands: pages, seconds, tokens, documents."""

from collections.abc import Iterable
from typing import Annotated

import typer

from windrow.cli.terminal import number

MaxPages = Annotated[int, typer.Option(help="Stop after this many pages.", metavar="N", show_default=False)]
MaxSeconds = Annotated[float, typer.Option(help="Stop after this many seconds.", metavar="SECONDS", show_default=False)]
MaxTokens = Annotated[
    str, typer.Option(help="End when the corpus has this many tokens, over all runs: 300K, 10M.", metavar="N")
]
MaxDocuments = Annotated[
    str, typer.Option(help="End when the corpus has this many documents, over all runs.", metavar="N")
]
_COUNTS = ("crawl.max_pages", "crawl.max_tokens", "crawl.max_documents")


def settings(pages: int, seconds: float, tokens: str, documents: str) -> list[str]:
    """Return the limits that were given, as "section.option=value"."""
    texts = [f"crawl.max_pages={pages}"] if pages else []
    texts += [f"crawl.max_seconds={seconds}"] if seconds else []
    texts += [f"crawl.max_tokens={number(tokens, '--max-tokens')}"] if tokens else []
    return texts + ([f"crawl.max_documents={number(documents, '--max-documents')}"] if documents else [])


def plain(given: Iterable[str]) -> list[str]:
    """Return settings with limits as plain numbers: crawl.max_tokens=10M is crawl.max_tokens=10000000."""
    return [_plain(setting) for setting in given]


def _plain(setting: str) -> str:
    name, _, value = (part.strip() for part in setting.partition("="))
    return f"{name}={number(value, name)}" if name in _COUNTS and value[-1:].isalpha() else setting
