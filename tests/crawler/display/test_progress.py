"""Progress in lines: one per interval, and one per outcome."""

import asyncio
from typing import Any

from tests.logs import entry, page, task
from windrow.config import CrawlOptions
from windrow.crawler import ending
from windrow.crawler.display import progress
from windrow.crawler.ending import RunState
from windrow.log import Tally
from windrow.records import Counts, Reason


def tally() -> Tally:
    made = Tally()
    for each in (
        page("a", kept=500, tokens=80, clean=700),
        page("b", reason=Reason.QUALITY),
        entry(task("c"), Reason.TIMEOUT, seconds=1.0, final=False),
        entry(task("c"), Reason.TIMEOUT, seconds=1.0),
        entry(task("d"), Reason.ROBOTS),
    ):
        made.add(each)
    return made


def test_a_line_has_the_counts_under_their_names() -> None:
    text = progress.line(tally(), RunState(Counts(waiting=1)), (75.0, 2.25))
    assert text == (
        "1 min 15 s: 4 requests (2.2 per second), 2 pages, 1 document (500 bytes of text kept, 80 tokens), "
        "1 URL waiting, 2 failed attempts"
    )


def test_the_cause_of_a_pause_is_in_the_line() -> None:
    paused = RunState(Counts(), paused="the disk is full")
    assert progress.line(Tally(), paused, (1.0, 0.0)).endswith("; the disk is full")


def test_a_line_says_how_much_of_its_target_the_corpus_has() -> None:
    counts = Counts(tokens=1387, documents=24)
    goal = ending.goal(CrawlOptions(max_tokens=5000, max_documents=1), counts)
    assert goal == "1,387 of 5,000 tokens, 24 of 1 document"
    assert progress.line(Tally(), RunState(counts, goal=goal), (1.0, 0.0)).endswith(f"; the corpus has {goal}")
    assert ending.goal(CrawlOptions(), counts) == ""


def test_failed_attempts_are_those_repeated_and_those_given_up() -> None:
    assert progress.failures(tally()) == 2


def test_an_outcome_is_one_line_without_control_characters() -> None:
    report = entry(task("x"), Reason.BAD_REDIRECT, status=302, seconds=0.25, downloaded=1500, detail="\x1b]0;x").report
    text = progress.outcome(report)
    assert text[21:] == "bad-redirect         302    1.50 kB   0.250 s  http://a.example.org/x  ?]0;x"
    again = progress.outcome(entry(task("x"), Reason.TIMEOUT, final=False).report)
    assert "timeout (again)" in again


class Running:
    """A crawl as far as the lines need it."""

    def __init__(self) -> None:
        self.tally = tally()

    async def progress(self) -> RunState:
        return RunState(Counts(waiting=3))


def lines(every: float, wanted: int) -> list[str]:
    said: list[str] = []

    async def main() -> None:
        enough = asyncio.Event()

        def say(text: str, figures: progress.Figures) -> None:
            assert figures["urls_waiting"] == 3
            said.append(text)
            if len(said) == wanted:
                enough.set()

        running: Any = Running()
        task = asyncio.create_task(progress.report(running, every, say))
        if wanted:
            await enough.wait()
            task.cancel()
        else:
            await task

    asyncio.run(main())
    return said


def test_lines_come_again_and_again_until_the_end() -> None:
    found = lines(0.001, 3)
    assert len(found) == 3 and all("3 URLs waiting" in text for text in found)


def test_no_interval_means_no_lines() -> None:
    assert lines(0.0, 0) == []
