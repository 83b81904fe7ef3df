"""The state of the parts that a crawl works with: its workers, its disk, its log, and what it waits for."""

import msgspec

from windrow.crawler.recording.commit import CommittedFrames
from windrow.crawler.stations import Stations


class Machine(msgspec.Struct, frozen=True):
    workers: dict[str, int]  # by state, see Pool.states
    waits: dict[str, bool]  # what a crawl may have to wait for -> whether it does
    written: CommittedFrames


def look(stations: Stations) -> Machine:
    """Return the state of a running crawl. It costs some microseconds: nothing here reads a file."""
    session = stations.session
    waits = {
        "order": session.in_flight.paused,
        "disk": session.disk.paused,
        "network": bool(stations.network.offline),
    }
    return Machine(session.pool.states(), waits, session.recorder.commits.written)
