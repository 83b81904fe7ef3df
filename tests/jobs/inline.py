"""An engine whose tasks run in this process: with its environment, its settings and no worker to start."""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from windrow.jobs.engine import worker
from windrow.jobs.engine.duck import DuckDatabase
from windrow.jobs.engine.protocol import silent
from windrow.jobs.engine.stored import StoredEngine, Work
from windrow.jobs.engine.worker import WorkerAnswer


class InlineRunner:
    """See `Runner`."""

    def run(
        self, tasks: Sequence[tuple[str, str]], work: Work, beat: Callable[[int], None]
    ) -> Generator[tuple[str, WorkerAnswer]]:
        for first, second in tasks:
            try:
                yield first, work(first, second)
            except Exception as error:  # as in a worker
                yield first, WorkerAnswer(problem=worker.problem(error))

    def ship(self, module: str) -> str:
        return module

    def close(self) -> None: ...


def engine(work: Path | None = None) -> StoredEngine:
    return StoredEngine(work, InlineRunner(), DuckDatabase(1), silent)
