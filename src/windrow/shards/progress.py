"""What all shards of a job have made together, as one of them knows it: the limits of a crawl count the sum."""

from collections.abc import Mapping

import msgspec

from windrow.records import LimitCounts
from windrow.shards.messages import Standing

NOBODY = -1  # in place of a shard, for an observer: all shards are others


class JobProgress:
    """Remembers the last word of every other shard, also when the transport has forgotten it.

    Documents and tokens count over all runs, so any earlier word is a part of the truth. Pages count in one run, which
    has a name. A process that takes over from one that died in the same run continues its count. A node uses it to see
    all shards of a job, whose pages count over all processes.
    """

    def __init__(self, shard: int, run: str) -> None:
        self.run = run
        self._shard = shard
        self._others: dict[int, LimitCounts] = {}
        self._before: int | None = None  # pages of this shard in this run, by earlier processes; None: not heard yet

    def heard(self, board: Mapping[int, Standing], incarnation: int) -> None:
        """Take note of what the shards say of themselves. `incarnation`: of this process."""
        for shard, standing in board.items():
            if shard != self._shard:
                self._others[shard] = self._of_this_run(standing)
        if self._before is None:
            own = board.get(self._shard)
            earlier = own is not None and own.incarnation != incarnation
            self._before = self._of_this_run(own).pages if own is not None and earlier else 0

    def _of_this_run(self, standing: Standing) -> LimitCounts:
        made = standing.made
        return made if standing.run == self.run else msgspec.structs.replace(made, pages=0)

    def own(self, made: LimitCounts) -> LimitCounts:
        """Return what this shard has made, with the pages of earlier processes in this run."""
        return msgspec.structs.replace(made, pages=made.pages + (self._before or 0))

    @property
    def elsewhere(self) -> LimitCounts:
        """Return what was not made by this process: by other shards, and by earlier processes in this run."""
        others = self._others.values()
        return LimitCounts(
            pages=sum(made.pages for made in others) + (self._before or 0),
            documents=sum(made.documents for made in others),
            tokens=sum(made.tokens for made in others),
        )
