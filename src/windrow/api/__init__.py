"""The functions of `import windrow`: what a program or a notebook needs, without knowing the tree.

Each function takes paths as text or Path and plain values, and gives the records of `data` or of the stage that made
them. Whatever the caller can fix is raised as `Error`, one sentence, before any work is done if possible. `pages` has
the text of one page, `corpora` reads what crawls have written, `crawls` makes and runs them. The names here are bound
in `windrow` when they are used first.
"""

from windrow.api.corpora import captures, documents, export
from windrow.api.crawls import CrawlProgress, crawl, init, status
from windrow.api.pages import ExtractedPage, extract
from windrow.batch.export import ExportSummary
from windrow.config import ConfigError as Error
from windrow.crawl.loop import Ending
from windrow.crawl.status import Status
from windrow.data import Capture, Document, Paragraph, Signal

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
