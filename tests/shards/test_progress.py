"""What all shards have made together is known as far as they have said it, and never forgotten."""

from windrow.records import LimitCounts
from windrow.shards.messages import Standing
from windrow.shards.progress import JobProgress


def said(incarnation: int, pages: int, run: str = "r", **more: int) -> Standing:
    return Standing(incarnation, made=LimitCounts(pages, **more), run=run)


def test_the_last_word_of_every_other_shard_counts_also_when_the_transport_has_lost_it() -> None:
    progress = JobProgress(0, "r")
    progress.heard({1: said(10, 3, documents=2, tokens=9), 2: said(11, 4)}, 9)
    assert progress.elsewhere == LimitCounts(7, documents=2, tokens=9)
    progress.heard({2: said(11, 6, tokens=1)}, 9)
    assert progress.elsewhere == LimitCounts(9, documents=2, tokens=10)
    progress.heard({1: said(12, 0)}, 9)
    assert progress.elsewhere == LimitCounts(6, tokens=1), "a shard that has lost its directory has made nothing"


def test_pages_of_another_run_do_not_count_but_its_corpus_does() -> None:
    progress = JobProgress(0, "r")
    progress.heard({0: said(8, 50, "earlier"), 1: said(10, 30, "earlier", documents=2, tokens=9)}, 9)
    assert progress.elsewhere == LimitCounts(documents=2, tokens=9) and progress.own(LimitCounts(1)) == LimitCounts(1)


def test_a_process_that_takes_over_continues_the_count_of_the_one_that_died() -> None:
    progress = JobProgress(0, "r")
    assert progress.own(LimitCounts(0, documents=5)) == LimitCounts(0, documents=5)
    progress.heard({0: said(8, 20, documents=5), 1: said(10, 3)}, 9)
    assert progress.own(LimitCounts(2, documents=6)) == LimitCounts(22, documents=6) and progress.elsewhere.pages == 23
    progress.heard({0: said(9, 22), 1: said(10, 3)}, 9)
    assert progress.own(LimitCounts(4)) == LimitCounts(24), "its own words are not counted again"


def test_its_own_word_of_a_call_whose_answer_was_lost_is_not_taken_for_that_of_a_predecessor() -> None:
    progress = JobProgress(0, "r")
    progress.heard({0: said(9, 7)}, 9)
    assert progress.own(LimitCounts(8)) == LimitCounts(8)
