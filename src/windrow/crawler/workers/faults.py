"""Answers that are held back: the user's own code failed on these pages, and it is not known yet whether on all.

Equal errors are counted, and each is taken off again after some pages that were read. So code that fails on every page,
or on one in a few, reaches the limit: it is broken, the crawl stops, and the pages wait again. Code that fails on one
page in a hundred does not: the page ends with its reason as soon as others were read.
"""

import collections
from collections.abc import Callable, Hashable

from windrow.config import Config, ConfigError
from windrow.crawler.workers.wire import Lost
from windrow.crawler.workers.worker import Job
from windrow.units import count

FEW = 8  # equal errors that stop the crawl
PASSES = 16  # pages read that take an error off: code that fails on fewer than one in 17 pages is not broken


class EqualErrors:
    """Errors of one kind, and the pages whose answers are held back."""

    def __init__(self, passes: int) -> None:
        self.passes = passes  # pages read that take one off
        self.read = 0  # of these
        self.count = 0
        self.held: collections.deque[tuple[Job, Lost]] = collections.deque()

    def passed(self) -> None:
        """Count a page that was read."""
        self.read += 1
        if self.read == self.passes:
            self.read, self.count = 0, self.count - 1
            self.release(self.count)

    def release(self, left: int = 0) -> None:
        """Give answers, the oldest first, until so many are held."""
        while len(self.held) > left:
            job, lost = self.held.popleft()
            job.finish(lost)


class Faults:
    """Counts the errors of all workers. `broken` is called with the error that ends the crawl."""

    def __init__(self, config: Config, broken: Callable[[ConfigError], None]) -> None:
        names = (*config.judge.judges, config.extract.extractor, *config.extract.readers)
        self._own = [name for name in names if ":" in name or "use" in config.plugins.get(name, {})]
        self._broken = broken
        self._errors: dict[Hashable, EqualErrors] = {}
        self._read = 0  # pages
        self._elsewhere = 0  # pages that other shards have read
        self._ending = False

    @property
    def held(self) -> int:
        """How many answers are held back."""
        return sum([len(errors.held) for errors in self._errors.values()])

    def passed(self) -> None:
        """Count a page that was read."""
        self._read += 1
        if self._errors:
            for errors in self._errors.values():
                errors.passed()
            self._errors = {key: errors for key, errors in self._errors.items() if errors.count}

    def failed(self, job: Job, lost: Lost) -> None:
        """Take the answer of a page that could not be read; hold it back if the user's code failed."""
        if lost.fault is None or job.request.probe:
            return job.finish(lost)
        self._hold(job, lost, lost.fault.key, PASSES)

    def died(self, job: Job, lost: Lost) -> None:
        """Take the answer of a page that its worker did not survive; hold it back if the user's code ran on it."""
        if not self._own or job.request.probe:
            return job.finish(lost)
        self._hold(job, lost, (lost.reason, lost.detail), 1)

    def _hold(self, job: Job, lost: Lost, key: Hashable, passes: int) -> None:
        errors = self._errors.setdefault(key, EqualErrors(passes))
        errors.count += 1
        errors.held.append((job, lost))
        if errors.count >= FEW:
            self._break(errors)
        elif self._ending:
            self.give_back()

    def settle(self, elsewhere: int) -> None:
        """Decide, because no other page will be read: if most failed, the code is broken.

        `elsewhere`: pages that other shards have read with the same code.
        """
        self._elsewhere = elsewhere
        self._break_if_most_failed()
        for errors in self._errors.values():
            errors.release()

    def give_back(self) -> None:
        """Cancel what is held back, and what will be: the crawl ends, and these pages wait again."""
        self._ending = True
        self._break_if_most_failed()
        for errors in self._errors.values():
            for job, _ in errors.held:
                job.answer.cancel()
            errors.held.clear()

    def _break_if_most_failed(self) -> None:
        worst = max(self._errors.values(), key=lambda errors: errors.count, default=None)
        if worst is not None and worst.held and worst.count > self._read + self._elsewhere:
            self._break(worst)

    def _break(self, errors: EqualErrors) -> None:
        """End the crawl: nobody gets an answer, so no page is recorded."""
        job, lost = errors.held[-1]
        pages = f"{count(errors.count, 'page')}, the last one {job.request.capture.task.url.text}"
        if lost.fault is not None:
            message = f"your own code failed on {pages}; they wait again. {lost.fault.report}"
        else:
            fix = "look there for what hangs or needs so much memory; if the pages are at fault: windrow block DIR HOST"
            code = " and ".join(self._own)
            message = (
                f"no worker survived {pages} ({lost.detail}); they wait again. Your own code ran on them: {code}; {fix}"
            )
        error = ConfigError(message)
        for others in self._errors.values():
            for held, _ in others.held:
                held.fail(error)
            others.held.clear()
        self._broken(error)
