"""The online driver: seeds and links in, WARC files, a corpus and a log out.

`page` is the life of a page as one coroutine; read it first. `file` is the life of a well-known file. `visit` is one
lease at one host and runs these lives one after another. `loop` leases hosts from the frontier, starts visits,
commits and ends. `record` takes what every stage returned, in the order of `seq`: it decides on duplicates, archives,
reports to the frontier and writes the document, as one operation (`serial`). `commit` makes operations durable, one
frame per second. `inflight` is the limit on what is requested and not committed, `disk` the one on space, `workers`
are the processes that parse.

`recover` brings a directory to its last commit before a crawl continues. `takedown` follows the takedown list while
the crawl runs, and `purge` removes what is on it from the files. In `orders`, `take` carries out the orders of the
operator, which `give` writes. `machine` watches disk, network and clock: `network` holds failures until `outage` has
decided whether our own network is gone. `display` shows a running crawl; `windrow.inspect` answers questions from the
log of any crawl.

The driver owns the order of things. Frontier, archive and corpus own their files; nothing here writes to them except
through their verbs.
"""
