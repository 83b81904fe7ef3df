"""Payloads already archived, for `archive.revisits`: the earlier capture that a revisit record points to."""

from pathlib import Path

from windrow import log
from windrow.archive import Earlier

MOST = 2_000_000  # payloads remembered, some 300 bytes each; further ones are archived whole


class Revisits:
    """The first capture of each payload, by digest."""

    def __init__(self) -> None:
        self._captures: dict[str, Earlier] = {}

    @classmethod
    def of(cls, directory: Path) -> "Revisits":
        """Return the payloads that the log of a crawl reports."""
        revisits, gone = cls(), log.purged(directory / "log")
        for frame, _ in log.frames(directory / "log"):
            for report in [entry.report for entry in frame.entries]:
                note = gone.get(report.task.url.text) if gone else None
                if report.place is not None and (note is None or note.frame < frame.number):
                    revisits.note(
                        report.digest, Earlier(report.task.url.text, report.time - report.seconds, report.place)
                    )
        return revisits

    def get(self, digest: str) -> Earlier | None:
        return self._captures.get(digest)

    def note(self, digest: str, capture: Earlier) -> None:
        if capture.place.file.startswith("warc/") and len(self._captures) < MOST:
            self._captures.setdefault(digest, capture)
