"""`windrow derive`: from archive files to what Common Crawl publishes besides them, and to two tables.

    WAT            one JSON record for each record of the archive: headers, lengths, digests, links (wat.py)
    WET            the text of each page: all of it, or the text that a crawl would keep (wet.py)
    links.parquet  one row per link: from where, to where, anchor, attributes (links.py)
    pages.parquet  one row per response: headers, title, metas, languages (pages.py)

A source is one archive file. It is read once for all outputs (exchange.py): `job.derive` is the function of the
engine. Each output is one file per source, named after it, which appears when it is complete; what the function yields
is one row, the account of the source. So a job that was stopped continues with the sources that are not done, sources
are independent of each other, and equal sources give equal bytes on every engine.

`links.rows` and `pages.rows` are functions of the engine too, from one archive file to the rows of these tables, for
jobs that need them without files.

Reading is linear in the bytes of a page (extraction/tags). Only the text that a crawl would keep needs the extractor
and the judges; the time that these may spend on a page is limited as in the crawl's workers (limit.py).
"""
