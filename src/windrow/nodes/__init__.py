"""One crawl on many machines: the exchange of links between its shards, and what shards must agree on.

A shard is an ordinary crawl directory; registered domains are divided among the shards (`windrow.sharding`). A link to
a domain of another shard is written into the sender's frame with the report of its page. After the commit it is
published in a batch. The receiver admits it, and its next frame says how far it has come in the sender's log. So the
sender's log is the outbox, the receiver's log holds the watermarks, and what carries the batches is the truth of
nothing: it may lose, repeat, delay and reorder them, and may be emptied at any time.

- `messages`: what shards say to each other, and its bytes
- `inbound`, `outbound`: the protocol from the side of the receiver and of the sender, for one other shard each
- `exchange`: both for all other shards, as a state machine without I/O; time is passed in
- `transport`: what a carrier of messages must do; `courier` moves messages between an exchange and a transport
- `end`: whether the whole crawl is at its end, exactly
- `neighbours`: the other shards, as the crawl of one shard needs them
- `tenure`, `fence`: the lease of a shard in its own process, and the number in its directory that keeps others out
- `process`: the process of a shard; `forked`: one that is ready before it is needed; `supervisor` runs those of one
  machine
- `node`: takes shards by lease (`quota`, `held`), knows the jobs (`roster`, `copies`), passes orders on (`forward`),
  and begins shards again whose data directory has been silent for long (`silence`)
- `redis`: the transport over Redis or Valkey, leases of shards, address slots, the record of a job, and the registry of
  jobs, orders and nodes
- `creation`, `overview`, `steering`, `answers`, `events`, `hosts`: the side of the operator (`windrow cluster`)

docs/cluster-protocol.md has the protocol with its invariants; decision 34 says why it is so.
"""
