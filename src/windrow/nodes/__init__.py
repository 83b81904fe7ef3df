"""Machines that share jobs: which node runs which shard of a crawl, what operators want of it, and Redis.

In: jobs in Redis, and a data directory per node. Out: processes of shards, started and ended; the state of each job.
Redis holds leases, orders and announcements; what it loses, nodes put back from their copies.

- `node`: takes shards by lease (`quota`, `held`), knows the jobs (`roster`, `copies`, `directories`), passes orders to
  its shards (`forward`), ends a job at its `limits`, says what it did (`events`), and begins shards again whose data
  directory has been silent for long (`silence`, `sharing`)
- `process`: the process of a shard; `supervisor` runs those of one machine (`windrow crawl --shards`)
- `controller`: the side of the operator (`windrow cluster`); `answers`: questions about a URL, which the node of its
  shard answers
- `redis`: the transport over Redis or Valkey, leases of shards, address slots, the record of a job, and the registry of
  jobs, orders and nodes
"""
