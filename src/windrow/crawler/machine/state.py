"""The state of the parts that a crawl works with: its workers, its disk, its log, and what it waits for."""

import msgspec

from windrow.crawler.commit import CommittedFrames
from windrow.crawler.visit import Stations


class Machine(msgspec.Struct, frozen=True):
    workers: dict[str, int]  # by state, see Pool.states
    waits: dict[str, bool]  # what a crawl may have to wait for -> whether it does
    written: CommittedFrames


def look(stations: Stations) -> Machine:
    """Return the state of a running crawl. It costs some microseconds: nothing here reads a file."""
    waits = {
        "order": stations.in_flight.paused,
        "disk": stations.disk.paused,
        "network": bool(stations.network.offline),
    }
    return Machine(stations.pool.states(), waits, stations.recorder.commits.written)
