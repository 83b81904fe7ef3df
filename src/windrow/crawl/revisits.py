"""Payloads already archived, for `archive.revisits`: which capture a further one with the same payload points to."""

from pathlib import Path

from windrow import log
from windrow.archive import Earlier

MOST = 2_000_000  # payloads remembered, some 300 bytes each; further ones are archived whole


class Revisits:
    def __init__(self) -> None:
        self._origins: dict[str, Earlier] = {}

    @classmethod
    def of(cls, directory: Path) -> "Revisits":
        """What the log of a crawl knows."""
        known = cls()
        for frame, _ in log.frames(directory / "log"):
            for report in [entry.report for entry in frame.entries]:
                if report.place is not None:
                    known.note(report.digest, Earlier(report.task.url.text, report.time - report.seconds, report.place))
        return known

    def get(self, digest: str) -> Earlier | None:
        return self._origins.get(digest)

    def note(self, digest: str, origin: Earlier) -> None:
        if origin.place.file.startswith("warc/") and len(self._origins) < MOST:
            self._origins.setdefault(digest, origin)
