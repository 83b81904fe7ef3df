"""The online driver: seeds and links in, WARC files and a log out.

`page` is the life of a page as a row of small functions; read it first. `loop` runs them: it leases turns from the frontier, asks
hosts, archives, settles, and commits once a second. `workers` are the processes that parse. `log` is what is committed: the one
file that is the truth of a crawl. `recover` brings a directory to its last commit before a crawl goes on. `status` answers
questions from the log, `display` shows a running crawl.

The driver owns the order of things: a page gets its number when it is archived, and from there to the frame nothing waits. The
frontier and the archive own their files; nothing here writes to them but through their verbs.
"""
