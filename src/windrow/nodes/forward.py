"""Passes on to a shard what operators want of its job: pauses, and orders, as files that any crawl takes.

The directory of the shard remembers how far it has come, so a shard that moves carries out each order once. A crash
between the two writes repeats an order: its id is in the log by then, or the crawl has not taken it yet.
"""

import time
from pathlib import Path

import msgspec

from windrow import files, orders, sharding, urls
from windrow.config import ConfigError
from windrow.crawler.orders import give
from windrow.frontier import seeds
from windrow.nodes.directories import ShardRecord
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.state import PAUSE, RUN, JobState
from windrow.records import Order

FILE = "forwarded.json"
_DIGITS = 15  # of a number in the id of an order: milliseconds


class Forwarded(msgspec.Struct):
    """What the directory of a shard has got so far."""

    wanted: str = RUN
    number: int = 0  # of the last order


class Passed(msgspec.Struct):
    """What became of it."""

    done: int  # number of the last order that is carried out, with all before it
    refused: list[str]  # orders that no crawl can carry out, one sentence each


def forward(directory: Path, record: ShardRecord, state: JobState, wanted: list[ClusterOrder]) -> Passed:
    """Give a shard what is new. `wanted`: all orders of the job, in their order."""
    before = read(directory)
    now = Forwarded(state.wanted if state.wanted in (RUN, PAUSE) else before.wanted, before.number)
    if now.wanted != before.wanted:
        give.leave(directory, orders.make("pause" if now.wanted == PAUSE else "resume"))
    refused = []
    for given in wanted:
        if given.number <= before.number:
            continue
        try:
            order = _order(given, record)
            if order is not None:
                give.leave(directory, order)
        except ConfigError as error:
            refused.append(f"order {given.number} ({given.kind}) cannot be carried out: {error}")
        now.number = given.number
    if now != before:
        files.write(directory / FILE, msgspec.json.encode(now) + b"\n")
    return Passed(_done(directory, now.number), refused)


def read(directory: Path) -> Forwarded:
    try:
        return msgspec.json.decode((directory / FILE).read_bytes(), type=Forwarded)
    except (FileNotFoundError, ValueError):  # then everything is given again, and changes nothing
        return Forwarded()


def _done(directory: Path, last: int) -> int:
    """Return the last number before which no order waits any more."""
    names = [path.name[:_DIGITS] for path in (directory / orders.DIRECTORY).glob("*.json")]
    waiting = [int(name) for name in names if name.isdecimal() and len(name) == _DIGITS]
    return min([last, *[number - 1 for number in waiting]])


def _order(order: ClusterOrder, record: ShardRecord) -> Order | None:
    """Return the order of one shard; None if it is about other shards only."""
    values = [line.strip() for line in order.content.splitlines() if line.strip()]
    if order.kind == "add":
        links = [url for url in map(urls.parse, values) if url is not None]
        tasks = sharding.split(seeds.tasks(links), record.job.shards).get(record.shard, [])
        if not tasks:
            return None
        values = [task.url.text for task in tasks]
    elif order.kind not in orders.VERBS:
        raise ConfigError(f"this Windrow does not know orders of this kind; run Windrow {record.job.windrow} or newer")
    return Order(
        id=f"{order.number:0{_DIGITS}}-{record.job.id}",
        time=time.time(),
        verb=order.kind,
        values=orders.VERBS[order.kind](tuple(values)),
        hosts=order.hosts,
    )
