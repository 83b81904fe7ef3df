"""The processes that read pages.

A page comes from anybody, so it is read where it can do no harm: in processes with limits on memory and CPU time,
which may die of any page. `pool` gives captures to the processes in batches and returns one answer per capture;
`worker` is one process as the crawl sees it; `process` is the program that runs in it; `wire` is what the two sides
exchange.
"""
