"""`windrow dedup`: remove near-duplicates from document files.

The output depends on the input and the options alone. No input file is changed. There are two rules. `onion`
(rewrite.py) reads one document after another: text that was removed is not remembered, so each document depends on all
before it. `all-earlier` (earlier.py) asks whether an n-gram occurs in any earlier document, kept or not: that can be
answered for all files at once, on the engine.

If the files of several crawls are read, a page of a later crawl is removed if an earlier one has its URL, whatever its
text is now; and each document names its crawl, because its place is relative to the directory of that crawl.
"""

from windrow.jobs.dedup.outputs import FilePlan, plan, size
from windrow.jobs.dedup.rewrite import (
    LEVELS,
    PARALLEL,
    PURE,
    RULES,
    DedupJob,
    DedupSummary,
    check_rule,
    describe,
    listed,
    options,
    run,
)

__all__ = [
    "LEVELS",
    "PARALLEL",
    "PURE",
    "RULES",
    "DedupJob",
    "DedupSummary",
    "FilePlan",
    "check_rule",
    "describe",
    "listed",
    "options",
    "plan",
    "run",
    "size",
]
