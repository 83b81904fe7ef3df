"""`windrow seeds`: where the seeds of a crawl come from.

In comes what people have: the index of an earlier crawl or of Common Crawl, the external links of a Wikipedia, a
sitemap, a WARC file, a list of hosts or of URLs. Each kind is recognised by its content. Out comes what a crawl takes:
one canonical URL per line, each once. Everything is read in parts, so that a dump of many gigabytes needs no more
memory than the URLs that are kept.

`collect` recognises the sources and puts the list together; `dump` reads a dump, the sitemap reader of `extraction` a
sitemap, and `table` asks an index which hosts have pages in a language.
"""
