"""Documents: the form in which text leaves a crawl, and the forms in which people want it or bring their own.

What comes in is a page's text as extraction and judges left it; what goes out is a line of a shard. `document` makes that line in two
steps, because two know it: a worker has the text, the driver knows which paragraphs are new and where the bytes lie. `shards` writes the
lines to corpus/LANGUAGE/, with the promises that commits need; `reader` gives them back.

For others: `jsonl`, `prevertical` and `parquet` turn a document into what somebody else's program reads, and `outputs` puts that into files
that are there when they are whole. A vertical file has `sentences` (with `abbreviations`) and `tokens`; where a script has no blanks, what
stands for words is found by `clusters` or `icu`. `formats` is for files of any origin, which `windrow dedup` rewrites: it
tells a format from the content, then from the name, hands on one document at a time in bounded memory, and writes back byte for byte what
did not change. A file that is broken or of another kind is a ConfigError that names the file and the line.
"""
