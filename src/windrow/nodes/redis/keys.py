"""The names of the keys of a job; the package says what each of them holds."""

JOBS = "windrow:jobs"
FORGOTTEN = "windrow:forgotten"
NODES = "windrow:nodes"
BEATS = "windrow:beats"
DRAINS = "windrow:drains"


class Keys:
    """The keys of one job."""

    def __init__(self, job: str) -> None:
        self._start = f"windrow:{{{job}}}:"

    def __getitem__(self, name: str) -> str:
        return self._start + name

    def of(self, name: str, who: object) -> str:
        """Return the key of one shard or one address."""
        return f"{self._start}{name}:{who}"

    @property
    def pattern(self) -> str:
        """Return a pattern for SCAN that matches all of them."""
        escaped = "".join(f"\\{char}" if char in "*?[]^\\" else char for char in self._start)
        return escaped + "*"
