"""The transport over Redis or Valkey, and what shards and nodes share there. Of a shard nothing there is the truth.

All keys of a job begin with `windrow:{NAME}:`. The braces are Redis's hash tag: in a cluster of Redis servers all keys
of a job are on one of them, so that scripts may use several.

| key | type | content |
|---|---|---|
| `job` | string | the record of the job, see `job` |
| `epoch` | string | run id of the server and a random token: another value means that everything may have been lost |
| `in:R` | stream | the inbox of shard R: batches; trimmed by R after its commit |
| `hellos:R` | string | a slot per sender: its hello to R, see `registers` |
| `marks:S` | string | a slot per receiver: its ack to S |
| `errands:R`, `tells:S` | hash | by sender and by receiver: hellos with errands, acks with answers |
| `lives` | hash | by shard: its incarnations, which belong to all its hellos |
| `board` | hash | by shard: its standing |
| `resting` | set | shards that are idle, and `ended` if one has seen the end: when reading the board is worth it |
| `owners` | hash | by shard: `incarnation:call` of its last announcement; lower ones are refused |
| `lease:K` | string | fencing number and holder of shard K; expires |
| `fences` | hash | by shard: the last fencing number |
| `lease-era`, `lease-hush` | string | as `epoch`, for leases; while there is a hush, only holders get their leases |
| `run` | string | the process of `windrow crawl` that runs the job, without nodes; expires |
| `slots` | hash | by address: holder, wait, queue; see `scripts/slots.lua` |
| `calls` | hash | by process: number of its last call about slots; lower ones are refused; proves that it is alive |
| `era` | string | as `epoch`, for slots |
| `news:PROCESS` | list | addresses of which a process has to hear: it was handed them, lost them, or others wait |
| `spec` | string | options and seeds of a job that nodes run, see `registry` |
| `state` | hash | `wanted` by the operator, its `version`, and the limits of the job, see `state` |
| `orders` | hash | by number: an order to all shards |
| `order-hush` | string | exists after the job was put back: no new order meanwhile; expires |
| `orders-done` | hash | by shard: number of the last order that it has carried out |
| `homes` | hash | by shard: fencing number of the last lease, and id of the data directory that has it |
| `homes-changes`, `orders-done-changes` | sorted set | their fields by number of the last change, see `changes` |
| `events` | stream | events of nodes, capped |
| `questions` | list | questions about URLs, see `answers`; expires |
| `answers:ID` | string | the answer of a node; expires |

| key of all jobs | type | content |
|---|---|---|
| `windrow:jobs` | set | the names of all jobs |
| `windrow:forgotten` | set | ids of jobs that an operator has removed: nodes do not put them back |
| `windrow:nodes` | hash | by name: the last record of a node that has not left |
| `windrow:nodes-changes` | sorted set | its fields, by the number of their last change |
| `windrow:beats` | sorted set | names of these nodes, by the time of their last sign of life in milliseconds |
| `windrow:drains` | set | names of nodes that shall give their shards back and take no others |

A queue of requests that spiders share (`fifo`) is a job of another kind, and the only one of which Redis is the truth:

| key | type | content |
|---|---|---|
| `urls` | list | URLs that are no requests yet |
| `requests` | list | numbers of the requests that wait |
| `bodies` | hash | by number: the request |
| `seen` | set | fingerprints of all requests |
| `request-leases`, `holders` | sorted set, hash | by number: until when it is held, and by which process |
| `counts` | hash | what became of requests |
| `last` | string | the last number |

Scripts are in `scripts/`, one file each.
"""
