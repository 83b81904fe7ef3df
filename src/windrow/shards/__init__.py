"""One crawl in parts: each shard owns the domains that fall to it, and passes links to others. Without a network.

A shard is an ordinary crawl directory; registered domains are divided among the shards (`windrow.sharding`). A link to
a domain of another shard is written into the sender's frame with the report of its page. After the commit it is
published in a batch. The receiver admits it, and its next frame says how far it has come in the sender's log. So the
sender's log is the outbox, the receiver's log holds the watermarks, and what carries the batches is the truth of
nothing: it may lose, repeat, delay and reorder them, and may be emptied at any time.

- `messages`: what shards say to each other, and its bytes
- `inbound`, `outbound`: the protocol from the side of the receiver and of the sender, for one other shard each
- `exchange`: both for all other shards, as a state machine without I/O; time is passed in
- `transport`: what a carrier of messages must do (`windrow.nodes.redis` is one); `courier` moves messages between an
  exchange and a transport
- `end`: whether the whole crawl is at its end, exactly; `progress`: what all shards have made
- `errands`: well-known files that one shard requests for another; `gate`: addresses that several shards share
- `neighbours`: all of this as the crawl of one shard needs it
- `tenure`, `fence`: the lease of a shard in its own process, and the number in its directory that keeps others out

docs/cluster-protocol.md has the protocol with its invariants; decision 34 says why it is so.
"""
