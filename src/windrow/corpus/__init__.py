"""Documents: the text that a crawl keeps, on disk and in the formats that other programs read.

The text of a page comes in after extraction and judging, and goes out as one line of a shard. `document` makes that
line in two steps, because a worker has the text and the driver knows which paragraphs are new and where the bytes are.
`shards` appends the lines to corpus/LANGUAGE/ and gives the guarantees that commits need; `reader` reads them back.
`purge` makes the bytes that remove documents from a shard without changing its length.

`formats` is the table of formats for everyone else: jsonl, prevertical, vertical, text and Parquet. To export,
`outputs` names the files, which appear when they are whole, and `sink` keeps an encoder per file. `segment` finds the
sentences and tokens of vertical files. For `windrow dedup`, which rewrites files of any origin, `detect` finds the
format of a file and reads one document at a time in bounded memory; unchanged documents are written back byte for byte.
A file that is broken or of another kind is a ConfigError that names the file and line.
"""
