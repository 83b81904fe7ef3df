"""One crawl in parts, without a network: each shard owns the domains that fall to it, and passes on links to others.

In: the frames of a shard's log. Out: links that other shards admit, each once. The exchange is a state machine without
I/O; `Transport` carries its messages, over Redis in `windrow.nodes`.
"""
