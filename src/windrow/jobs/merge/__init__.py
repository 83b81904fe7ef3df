"""`windrow merge`: the corpora of several crawls, the shards of one job or any others, become one corpus.

In come crawl directories, in order; out comes a directory with `corpus/` and `merge.json`. The archives stay where they
are: each document names its crawl in `place.crawl`, and `merge.json` says where that crawl is.

The rule is that of a crawl, in the order (shard, seq). The first shard stays as it is, because its own crawl has
decided. A document of a later shard is removed if an earlier shard has its URL, its payload or its text; of the others
onion's rule removes the paragraphs whose text the shards before, or its own shard, have kept.

Onion's rule reads one document after another. So the work is cut as in a crawl, into three steps:

1. `collect`, a map over corpus files: the keys and n-grams of each document. This is the expensive half.
2. `decide`, one owner, in order: which documents and paragraphs are removed. Only keys and n-grams are read.
3. `rewrite`, a map over corpus files: each file again, without what is removed.

The result depends on the shards, their order and the options alone, on every engine. A stopped merge continues: the
files of steps 1 and 3 that are done stay done.
"""

from windrow.jobs.merge.decide import ShardCounts
from windrow.jobs.merge.inputs import FILE, MergeFile, MergeShard, dedup_options, find
from windrow.jobs.merge.run import MergeOptions, MergeSummary, describe, run

__all__ = [
    "FILE",
    "MergeFile",
    "MergeOptions",
    "MergeShard",
    "MergeSummary",
    "ShardCounts",
    "dedup_options",
    "describe",
    "find",
    "run",
]
