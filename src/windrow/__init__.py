"""Windrow builds text corpora from the web.

In Python (docs/python.md):

    windrow.extract(html)               the main text of a page, with its title, date and language
    windrow.documents("mycrawl")        the documents of a crawl or of files of a corpus
    windrow.export("mycrawl", "out")    the same as files for pandas, datasets, Sketch Engine and others
    windrow.captures("a.warc.gz")       the exchanges in WARC files
    windrow.init("mycrawl", seeds)      a crawl directory
    windrow.crawl("mycrawl")            run a crawl, also in a notebook
    windrow.status("mycrawl")           its counts
    windrow.Error                       what is wrong and how to fix it, in one sentence

Importing windrow imports nothing else: each name is imported when it is used first.
"""

import importlib

TYPE_CHECKING = False  # as type checkers see it, it is true; importing typing would take most of the time
if TYPE_CHECKING:
    from typing import Any

    from windrow.api.corpora import ExportSummary, captures, documents, export
    from windrow.api.crawls import CrawlProgress, Ending, Status, crawl, init, status
    from windrow.api.pages import ExtractedPage, extract
    from windrow.api.records import Capture, Document, Error, Paragraph, Signal

__version__ = "0.1.0"
__all__ = [
    "Capture",
    "CrawlProgress",
    "Document",
    "Ending",
    "Error",
    "ExportSummary",
    "ExtractedPage",
    "Paragraph",
    "Signal",
    "Status",
    "captures",
    "crawl",
    "documents",
    "export",
    "extract",
    "init",
    "status",
]

# Name -> the module of `windrow.api` that has it. Each function imports only its own part of Windrow.
_HOMES = {
    **dict.fromkeys(("ExportSummary", "captures", "documents", "export"), "corpora"),
    **dict.fromkeys(("CrawlProgress", "Ending", "Status", "crawl", "init", "status"), "crawls"),
    **dict.fromkeys(("ExtractedPage", "extract"), "pages"),
}


def __getattr__(name: str) -> "Any":
    """Import a name of the API when it is used first."""
    if name not in __all__:
        raise AttributeError(f"module 'windrow' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"windrow.api.{_HOMES.get(name, 'records')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
