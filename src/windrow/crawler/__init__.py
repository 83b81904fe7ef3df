"""The online driver: seeds and links in, WARC files, a corpus and a log out.

`page` is the life of a page, from its lease to its line in the log; read it first. `file` is the life of a well-known
file, `lives` has all kinds. `visit` is one lease at one host: it runs these lives one after another. `session` opens a
directory, and has what every run works with: `start` runs a crawl in it, and `loop` is its driver, which starts visits
and decides on the end. The parts of a run speak to their driver by `observer`. `stations` adds to a session what
reaches the network; a `guest` can request the pages in place of the client.

`record` takes what every stage returned, in the order of `seq`: it decides on duplicates, archives, reports to the
frontier and writes the document, as one operation (`serial`). `commit` makes operations durable, one frame per second
(`cadence`). `workers` are the processes that parse.

`recover` brings a directory to its last commit before a run begins. `machine` watches disk, network and clock:
`network` holds failures until `outage` has decided whether our own network is gone, and `inflight` limits what is
requested and not committed. In `orders`, `take` carries out the orders of the operator, which `give` writes; `takedown`
follows the takedown list, and `purge` removes what is on it from the files. `exchanging` connects the crawl of a shard
with its `neighbours`. `display` shows a running crawl; `windrow.inspect` answers questions from the log of any crawl.

The driver owns the order of things. Frontier, archive and corpus own their files; nothing here writes to them except
through their verbs.
"""
