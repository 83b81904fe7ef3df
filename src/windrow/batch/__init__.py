"""The offline driver: jobs over the files that a crawl, or anyone, left.

A job reads files and writes new ones beside or elsewhere, never over its input: what it writes has a temporary name until it is whole. The
stages are the same functions that the crawl runs; here they are composed again for files instead of pages. `dedup` is near-duplicate
removal over document files, by the rule that the crawl applies to each page; `export` writes the documents that are wanted (`filters`) in
the forms that other programs read. Of a crawl they see what is `committed`, no more. `whatif`
shows from a crawl's log what other yield thresholds would have changed.
"""
