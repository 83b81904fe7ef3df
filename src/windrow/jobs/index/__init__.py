"""`windrow index`: where each capture of an archive is.

In come archive files: those of a crawl (only what its log has committed), of a folder, or any others. Out come, below
one directory, the files in which Common Crawl publishes its index:

    cdx/SUBSET/NAME.cdx.gz                    CDXJ of one archive file, sorted
    index.cdxj                                CDXJ of all, sorted, not compressed: as pywb reads it
    cdx-00000.gz …  cluster.idx               the same lines as ZipNum shards
    table/crawl=ID/subset=NAME/part-*.parquet the same captures as a table, sorted
    index.json                                what was indexed: by it a later run reads new files only

Two steps. Reading archive files is nearly all of the work and is a job of the engine (cdx.py): one file in, its CDXJ
out, and one row with the count. Then the lines of all files are sorted on disk and written in one pass (merge.py), with
memory that does not depend on their number. The table is made from the lines, as Common Crawl does it: what a line does
not say, no column has.

`lookup` reads the shards by URL, and `table` knows the columns.
"""
