"""For how long data directories have had no node, as one node has seen it. Time is passed in."""

from collections.abc import Collection

STEP = 10.0  # seconds from one look to the next that count at most: in a longer pause, nothing was seen


class SilentHomes:
    """Counts only the time in which the node has looked.

    While Redis does not answer, no node can give a sign of life. When it answers again, the others need a moment to do
    so, and must not be taken for lost before.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}  # by data directory
        self._looked = float("-inf")

    def look(self, silent: Collection[str], now: float) -> None:
        """Take note of the data directories that have no node now."""
        step = min(now - self._looked, STEP)
        self._seconds = {home: self._seconds[home] + step if home in self._seconds else 0.0 for home in silent}
        self._looked = now

    def are_over(self, home: str, seconds: float) -> bool:
        """Return whether a data directory has had no node for so long."""
        return home in self._seconds and self._seconds[home] >= seconds
