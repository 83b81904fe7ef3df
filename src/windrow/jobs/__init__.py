"""The offline driver: jobs over the files that a crawl, or any other program, has written. One package per command.

A job reads files and writes new ones, never over its input; its output has a temporary name until it is whole. The
stages are the same functions that the crawl runs, composed here for files instead of pages. Jobs read only what a crawl
has committed (`inputs.committed`), and nothing of its takedown list.

- `inputs`: what jobs read: archives and pages that a user names, documents of corpora that pass filters
- `engine`: where a job runs: on the cores of this machine, or on Spark; a job that depends on the order of documents
  reads the rows of others in one process
- `export`, `publish`, `store`: documents and archives for other programs
- `rebuild`, `dedup`, `merge`, `shuffle`: a corpus or an archive made again, without duplicates, from several, mixed
- `index`, `derive`, `batch`: indexes and queries, Common Crawl's WAT and WET, jobs that users write
- `seeds`, `topic`, `lm`, `extract`: what a crawl begins with; models; the text of files
"""
