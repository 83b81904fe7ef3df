"""The offline driver: jobs over the files that a crawl, or any other program, has written.

A job reads files and writes new ones, never over its input; its output has a temporary name until it is whole. The
stages are the same functions that the crawl runs, composed here for files instead of pages. `dedup` removes
near-duplicates from document files by the rule that the crawl applies to each page. `export` writes the documents that
pass the `filters` in a format that other programs read. Both read only what a crawl has `committed`, and nothing of
the crawl's takedown list. `rebuild` makes the corpus again from the archive. `whatif` computes from a crawl's log what
other yield thresholds would have changed.

Jobs that have enough to do run on an `engine`. `archives` finds their sources, here or at addresses. `rendering` is the
parallel part of an export, `refining` that of a corpus from archive files, `recrawled` that of a rebuild, and `results`
calls a function per source. All that depends on the order of documents stays in one process, which reads their rows.
"""
