"""The processes of shards on one machine.

`shard` is one shard in its own process: its directory, Redis, its lease, and the crawl. `child` starts such a process,
listens to it and ends it; `forked` keeps one ready before it is needed. `supervisor` runs all shards of `windrow crawl
--shards`, with a Redis server if there is none. `storing` is the process that stores documents elsewhere meanwhile.
"""
