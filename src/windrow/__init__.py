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

Importing windrow imports nothing else: each name is imported when it is used first. `windrow.extract` and
`windrow.crawl` are packages too; the import system binds them here under these names, so both packages are made
callable when they are bound.
"""

import importlib
import sys
import types

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
_PACKAGES = ("crawl", "extract")  # functions of the API whose names are packages too


def _find(name: str) -> "Any":
    return getattr(importlib.import_module(f"windrow.api.{_HOMES.get(name, 'records')}"), name)


class _Package(types.ModuleType):
    """A package that can be called: the function of its name in the API."""

    def __call__(self, *arguments: "Any", **options: "Any") -> "Any":
        return _find(self.__name__.rpartition(".")[2])(*arguments, **options)


class _Root(types.ModuleType):
    def __getattr__(self, name: str) -> "Any":
        """Import a name of the API when it is used first."""
        if name in _PACKAGES:
            return importlib.import_module(f"windrow.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'windrow' has no attribute {name!r}")
        value = _find(name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: "Any") -> None:
        if name in _PACKAGES and isinstance(value, types.ModuleType):
            value.__class__ = _Package
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Root
