"""What the log says of a URL is the same with postings and without, whatever became of the postings."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.logs import entry, frame, page, task, url, write
from windrow import log
from windrow.log import search, views, writer
from windrow.log.writer import Log
from windrow.records import Access, Frame, Kind, Order, Origin, Reason, Report

ORIGIN = "http://a.example.org"
HUB = "hub"  # admits the pages, once and for all
PATHS = [HUB, "a", "a/b", "c?d", "odd?%22quoted%22\\back", "seed", "waits", "lost", "none"]


def origin(number: int) -> Origin:
    return Origin(ORIGIN, stamp=float(number), fetched=0.0, expires=0.0, access=Access.OPEN, rules=f"rule {number}")


def crawl(number: int) -> Frame:
    """Return frame n of a crawl. Pages are admitted in frame 2 and requested, some of them often, from then on."""
    path = PATHS[number % 6]
    via = "" if path == "seed" else url(HUB if path != "a" else "x").text  # one report names another page
    line = {"digest": f"D{number % 5}", "text": 1 + number % 7, "status": 200, "seconds": 0.1}
    lines = [entry(task(path, via=via), **line)] * (number > 2)
    lines += [entry(task("lost", via=url("nowhere").text), **line)] * (number == 9)
    lines += [page(HUB, links=[*PATHS[1:5], "waits", "lost"])] * (number == 2)
    lines += [page(f"{number}", reason=Reason.DUPLICATE, links=[f"{number}/new"], **line)]
    robots = entry(task("robots.txt", kind=Kind.FILE, file="robots"), origin=origin(number), status=200)
    look_up = entry(task("", kind=Kind.RESOLVE), address="192.0.2.1")
    lines += [robots] * (number % 4 == 0) + [look_up] * (number % 3 == 0)
    orders = (Order(str(number), 1.0, "block", (f"h{number}.example",)),) * (number % 5 == 0)
    seeds = (task("seed"), task(HUB)) * (number == 1)
    return frame(number, *lines, seeds=seeds, orders=orders)


def answers(home: Path) -> list[object]:
    """Return all that the log says."""
    copies = [Report(9, task("copy"), reason=Reason.DUPLICATE, detail="", time=0.0, digest=f"D{n}") for n in range(7)]
    texts = [Report(9, task("copy"), reason=Reason.DUPLICATE, detail="", time=0.0, text=n) for n in range(9)]
    found: list[object] = [log.mentions(home, url(path).text) for path in (*PATHS, "robots.txt", "")]
    found += [log.rules(home, name) for name in (ORIGIN, "http://b.example.org")]
    return found + [log.first_seen(home, copy) for copy in copies + texts]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of several files. It has no postings before the test asks."""
    monkeypatch.setattr(views, "KEEP", 1)
    monkeypatch.setattr(writer, "LONGEST", 2000)
    write(tmp_path / "log", *[crawl(number) for number in range(1, 31)])
    assert len(log.names(tmp_path / "log")) >= 3
    return tmp_path / "log"


def admitted(mentions: object) -> bool:
    return any(mention.via is not None for mention in mentions)  # type: ignore[attr-defined]


def without_views(home: Path) -> list[object]:
    """Return the answers of a copy that gets no postings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "KEEP", 1 << 40)
        copy = home.parent / "copy" / "log"
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(home, copy)
        return answers(copy)


def read(home: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> int:
    """Return how many frames were decoded for an answer."""
    count = 0
    real = search.format.head

    def head(text: bytes) -> log.Head:
        nonlocal count
        count += 1
        return real(text)

    with monkeypatch.context() as patch:
        patch.setattr(search.format, "head", head)
        ask()
    return count


def test_the_answers_are_those_of_a_log_without_postings(home: Path) -> None:
    expected = without_views(home)
    assert all(admitted(mentions) == (path != "none") for mentions, path in zip(expected, PATHS, strict=False))
    assert expected[len(PATHS) + 2 :][:2] == [origin(28), None], "the latest rules"
    assert answers(home) == expected, "the postings are made"
    assert answers(home) == expected, "the postings are used"
    names = log.names(home)
    assert {path.name for path in (home.parent / "views").iterdir()} == {
        *(f"{name[:5]}.{family}" for name in names for family in search.TOKENS),
        "lock",
    }


def test_only_frames_that_have_the_url_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(home)
    wanted = [log.format.quoted(url("seed").text)]
    assert [head.frame for head, _, _ in search.frames(home, {search.NAMES: wanted})] == [1, 5, 11, 17, 23, 29]
    linked = [log.format.quoted(url("waits").text)]
    assert [head.frame for head, _, _ in search.frames(home, {search.NAMES: linked, search.LINKS: linked})] == [2]
    heads = read(home, monkeypatch, lambda: list(search.frames(home, {search.NAMES: [b'"http://nowhere/"']})))
    assert heads <= len(log.names(home)), "one per file, to see whether it is complete"


def test_the_page_that_admitted_a_url_is_found_by_its_report(home: Path) -> None:
    for path in ("a/b", "seed"):
        assert admitted(log.mentions(home, url(path).text))
    assert not list((home.parent / "views").glob("*.links"))
    assert admitted(log.mentions(home, url("lost").text)), "its report names another page"
    assert list((home.parent / "views").glob("*.links"))


def test_frames_that_are_appended_are_found(home: Path) -> None:
    answers(home)
    journal = Log(home, (log.names(home)[-1], 0))
    for number in range(31, 45):
        journal.append(log.encode(crawl(number)))
        assert answers(home) == without_views(home), number
    journal.close()


def test_frames_behind_the_postings_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(home)
    monkeypatch.setattr(views, "KEEP", 1 << 20)
    write_on(home, 31, 35)
    assert answers(home) == without_views(home)


def test_every_complete_file_of_a_long_log_has_postings_however_short_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "KEEP", 3000)
    assert all((home / name).stat().st_size < 3000 for name in log.names(home))
    expected = without_views(home)
    assert answers(home) == answers(home) == expected
    *complete, last = log.names(home)
    kept = {path.name for path in (home.parent / "views").glob("*.names")}
    assert kept == {f"{name[:5]}.names" for name in complete} and f"{last[:5]}.names" not in kept
    monkeypatch.setattr(views, "KEEP", 1 << 20)
    shutil.rmtree(home.parent / "views")
    assert answers(home) == expected and not (home.parent / "views").exists()


def write_on(home: Path, first: int, last: int) -> None:
    journal = Log(home, (log.names(home)[-1], 0))
    for number in range(first, last):
        journal.append(log.encode(crawl(number)))
    journal.close()


def test_a_log_that_was_cut_loses_what_was_cut(home: Path) -> None:
    for number in range(6):
        answers(home)
        last = home / log.names(home)[-1]
        ends = [end for _, _, (name, end) in log.raw_frames(home) if name == last.name]
        cut = ends[-2] if len(ends) > 1 else 0
        last.write_bytes(last.read_bytes()[:cut])
        if not cut:
            last.unlink()
        if number % 2:
            write_on(home, 100 + number, 101 + number)
        assert answers(home) == without_views(home), number


def test_the_log_of_another_crawl_has_other_postings(home: Path, tmp_path: Path) -> None:
    answers(home)
    other = tmp_path / "other"
    other.mkdir()
    write(other / "log", *[crawl(number) for number in range(4, 40)])
    shutil.copytree(tmp_path / "views", other / "views")
    assert answers(other / "log") == without_views(other / "log")


def test_frames_of_a_process_that_had_lost_the_crawl_do_not_count(home: Path) -> None:
    answers(home)
    *_, before, last = [position for _, position in log.frames(home)]
    assert before[0] == last[0]
    journal = Log(home, before, apart=True)
    journal.append(log.encode(Frame(30, 5.0, (), {}, follows=journal.follows)))
    journal.close()
    assert answers(home) == without_views(home)
    write_late(home / last[0])
    assert answers(home) == without_views(home)


def write_late(path: Path) -> None:
    with path.open("ab") as file:
        file.write(log.encode(crawl(28)))


@pytest.mark.parametrize("family", ["00000.names", "00000.links"])
def test_every_damaged_byte_of_postings_leaves_the_answers_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    monkeypatch.setattr(views, "KEEP", 1)
    home = tmp_path / "log"
    write(home, crawl(1), crawl(2), crawl(3))
    wanted = url("waits").text
    expected = log.mentions(home, wanted)
    assert admitted(expected)
    view = tmp_path / "views" / family
    whole = view.read_bytes()
    for at in range(len(whole)):
        view.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        assert log.mentions(home, wanted) == expected, at
        assert log.mentions(home, wanted) == expected
        assert view.read_bytes() == whole, f"{at}: made again"
    for length in range(len(whole)):
        view.write_bytes(whole[:length])
        assert log.mentions(home, wanted) == expected, length


def test_where_postings_cannot_be_written_the_log_is_read(home: Path) -> None:
    expected = without_views(home)
    (home.parent / "views").write_text("a file")
    assert answers(home) == answers(home) == expected


def test_a_log_that_has_lost_a_complete_file_gives_what_is_left(home: Path) -> None:
    answers(home)
    (home / log.names(home)[1]).unlink()
    assert answers(home) == without_views(home)
    (home / log.names(home)[-1]).unlink()
    write_on(home, 50, 52)
    assert answers(home) == without_views(home)
