"""Errands: well-known files that one shard requests for another.

The robots.txt of an origin may redirect to a domain of another shard. Only that shard may send requests there, so it
gets an errand: it requests the file under its own delays, and gives the answer back as it came. The shard that needs
the file learns from the answer as if it had sent the request, and follows the next redirect, if there is one.

Nothing of this is durable, as errands within one crawl are not: a shard that starts again requests the file of its
origin again. The question is part of a hello, and the answer part of an ack. Both are said as long as they hold, so
neither a loss of the transport nor a restart of the other shard loses an errand.
"""

import secrets
from collections.abc import Iterable, Mapping

from windrow import sharding
from windrow.frontier import Territory
from windrow.records import Capture, Failure, Task
from windrow.shards.messages import Errand, ErrandReply

MOST = 64  # errands that are asked of one shard at a time; the others wait
MOST_BYTES = 4 << 20  # of answers that are said to one shard at a time


class ShardErrands:
    """The errands of one shard, in both directions."""

    def __init__(self, territory: Territory) -> None:
        self._territory = territory
        self._ids: dict[Task, str] = {}  # of what is asked
        self._known: dict[str, tuple[int, Task]] = {}  # asked by others: by whom, and what
        self._new: list[Task] = []  # of these, not begun
        self._told: dict[str, ErrandReply] = {}  # answers to these

    # What this shard needs

    def asks(self) -> dict[int, tuple[Errand, ...]]:
        """Return what is asked now, by the shard that is to do it."""
        asked = self._territory.asked
        self._ids = {task: self._ids.get(task) or secrets.token_hex(8) for task in asked}
        groups = sharding.split(asked, self._territory.count)
        return {
            shard: tuple([Errand(self._ids[task], task) for task in tasks[:MOST]]) for shard, tasks in groups.items()
        }

    def answered(self, told: Iterable[ErrandReply]) -> list[Capture | Failure]:
        """Return those answers that are waited for. An answer is repeated until the errand is no longer asked."""
        waited = {name: task for task, name in self._ids.items() if task in self._territory.asked}
        answers = [(reply, reply.capture or reply.failure) for reply in told]
        return [answer for reply, answer in answers if answer is not None and waited.get(reply.errand) == answer.task]

    # What others need

    def heard(self, asked: Mapping[int, Iterable[Errand]]) -> None:
        """Take note of what other shards ask now; what they do not ask any more is forgotten."""
        for shard, errands in asked.items():
            mine = {errand.id: errand.task for errand in errands if self._territory.owns(errand.task.url.domain)}
            for gone in [name for name, (asker, _) in self._known.items() if asker == shard and name not in mine]:
                del self._known[gone]
                self._told.pop(gone, None)
            for name, task in mine.items():
                if name not in self._known:
                    self._known[name] = shard, task
                    self._new.append(task)

    def begin(self) -> list[Task]:
        """Hand over the errands that are to be run."""
        new, self._new = self._new, []
        return new

    def tell(self, answer: Capture | Failure) -> None:
        """Keep an answer for the shard that needs it."""
        for name, (_, task) in self._known.items():
            if task == answer.task:
                capture = answer if isinstance(answer, Capture) else None
                self._told[name] = ErrandReply(name, capture, None if isinstance(answer, Capture) else answer)

    def tells(self) -> dict[int, tuple[ErrandReply, ...]]:
        """Return the answers that are said now, by the shard that needs them."""
        replies: dict[int, list[ErrandReply]] = {}
        room: dict[int, int] = {}
        for name, told in self._told.items():
            shard = self._known[name][0]
            if room.setdefault(shard, MOST_BYTES) > 0:
                room[shard] -= len(told.capture.body) if told.capture is not None else 0
                replies.setdefault(shard, []).append(told)
        return {shard: tuple(answers) for shard, answers in replies.items()}
