"""The terms of a link's rank: each alone, their sum, and the user's own."""

import sys
from pathlib import Path

import msgspec
import pytest

from tests.frontier.conftest import Opener
from tests.frontier.simulation import START, task
from windrow.config import ConfigError
from windrow.frontier.policy import rank
from windrow.frontier.policy.rank import KEPT, NAMED, OTHER, RANK, TermContext
from windrow.records import Reason, Report, Task

PAGE = Report(1, task("http://a.org/1"), Reason.OK, "", START, status=200, downloaded=10, kept=5)
POOR = msgspec.structs.replace(PAGE, reason=Reason.LANGUAGE, kept=0)
MOVED = msgspec.structs.replace(PAGE, reason=Reason.REDIRECT, kept=0)

OWN, AWAY = task("http://a.org/2"), task("http://b.org/2")
NAMED_OWN, NAMED_AWAY = task("http://a.org/cs/"), task("http://cs.b.org/")

CZECH = TermContext(languages=("ces", "cs"))


def ranks(report: Report, names: tuple[str, ...] = ("yield", "language"), context: TermContext = CZECH) -> list[int]:
    """Return the ranks of four links: to the own host and to another, without a language code and with one."""
    of = rank.ranker(rank.terms(names, context), report)
    assert of is not None
    return [of(link).priority for link in (OWN, AWAY, NAMED_OWN, NAMED_AWAY)]


def test_links_of_a_kept_page_come_first() -> None:
    assert ranks(PAGE, ("yield",)) == [RANK + KEPT[0], RANK + KEPT[1]] * 2
    assert ranks(POOR, ("yield",)) == [RANK + OTHER[0], RANK + OTHER[1]] * 2
    assert max(KEPT) < 0 < min(OTHER)


def test_yield_and_language_together_give_these_ranks() -> None:
    assert ranks(PAGE) == [80, 96, 48, 64]
    assert ranks(POOR) == [160, 168, 128, 136]


def test_each_term_is_a_switch() -> None:
    assert ranks(PAGE, ()) == [RANK] * 4
    assert ranks(PAGE, ("language",)) == [RANK, RANK, RANK + NAMED, RANK + NAMED]


def test_without_wanted_languages_no_language_is_preferred() -> None:
    assert ranks(PAGE, ("language",), TermContext()) == [RANK] * 4


def test_the_target_of_a_redirect_keeps_the_rank_of_its_page() -> None:
    assert rank.ranker(rank.terms(("yield",), CZECH), MOVED) is None


@pytest.mark.parametrize(("added", "result"), [(1000, 255), (-1000, 0), (127, 255), (-128, 0)])
def test_a_rank_stays_between_0_and_255(added: int, result: int) -> None:
    of = rank.ranker([lambda report, link: added], PAGE)
    assert of is not None
    assert of(OWN).priority == result


def deeper(report: Report, link: Task) -> int:
    return 3 * link.depth + (5 if report.kept else 0)


def test_a_term_of_the_user_is_named_by_module_and_function() -> None:
    assert ranks(PAGE, (f"{__name__}:deeper", "yield"))[0] == RANK + KEPT[0] + 5


def test_an_unknown_term_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"frontier\.terms' names 'yeild'.*; did you mean 'yield'\?"):
        rank.terms(("yeild",), CZECH)
    with pytest.raises(
        ConfigError, match=r'write "package\.module:name" for your own code; the known names are yield, language'
    ):
        rank.terms(("centrality",), CZECH)


def test_a_term_that_cannot_be_loaded_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"frontier\.terms"):
        rank.terms(("no_such_module:term",), CZECH)


def test_a_frontier_ranks_links_by_the_terms_of_its_options(
    hand: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_terms.py").write_text("def even(report, task):\n    return int(task.url.text[-1]) % 2 * 10\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    crawl = hand(delay=0.0, order="yield", terms=("own_terms:even",))
    crawl.add("http://a.org/0")
    links = [task(f"http://a.org/{page}") for page in (1, 2, 3)]
    entry = crawl.ack(crawl.page().tasks[0], links=links)
    assert [link.priority for link in entry.admitted] == [RANK + 10, RANK, RANK + 10]
    sys.modules.pop("own_terms")
