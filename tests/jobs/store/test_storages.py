"""One contract for every kind of storage: each document exactly once, however often and wherever it is interrupted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.jobs.store import crawls
from tests.jobs.store.conftest import FILES, Kind
from tests.jobs.store.crawls import growing, sample
from windrow.config import ConfigError
from windrow.jobs import store as storages
from windrow.jobs.store import transfer as job
from windrow.jobs.store.feed import Feed
from windrow.jobs.store.protocol import Storage, StorageBatch, StorageLost


class Killed(BaseException):
    """The process ended here."""


def store(directory: Path, target: str, **others: Any) -> job.StoreSummary:
    options = job.StoreOptions(directory=directory, target=target, **others)
    context = job.StoreContext(
        running=lambda: False, watch=lambda count: None, note=lambda text: None, sleep=lambda _: None
    )
    return job.run(options, context)


def expected(count: int, *without: int) -> dict[str, str]:
    return {
        f"<urn:uuid:00000000-0000-4000-8000-{number:012}>": "\n".join(sample(number).texts)
        for number in range(count)
        if number not in without
    }


def texts(kind: Kind) -> dict[str, str]:
    rows = kind.rows("documents")
    found = {row["id"]: row["text"] for row in rows}
    assert len(found) == len(rows), "each document once"
    return found


def test_every_document_is_stored_with_its_text_and_all_its_members(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=4):
        summary = store(tmp_path / "mycrawl", kind.url)
    assert (summary.documents, summary.captures, summary.removed, summary.frame) == (12, 0, 0, 4)
    assert (summary.crawl, "p%40ss" in summary.target) == ("mycrawl", False)
    assert texts(kind) == expected(12)
    row = next(row for row in kind.rows("documents") if row["url"] == "http://h5.example.org/5")
    assert (row["language"], row["title"]) == ("eng", "title 5")
    whole = row.get("document", row)
    whole = json.loads(whole) if isinstance(whole, str) else whole
    assert [paragraph["text"] for paragraph in whole["paragraphs"]] == list(sample(5).texts)
    assert whole["place"]["offset"] == 5000


def test_a_real_server_has_each_document_once_through_kills_a_purge_and_a_takedown(
    real: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan: list[tuple[str, type[BaseException]]] = [("before", Killed), ("after", Killed), ("after", StorageLost)]
    inner = storages.open
    monkeypatch.setattr(storages, "open", lambda *given: Dying(inner(*given), plan))
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        for _ in range(2):
            with pytest.raises(Killed):
                store(crawl.directory, real.url, captures=True)
        crawl.purge(sample(4).url)
        crawl.commit([sample(6)], failed=1)
        (crawl.directory / "takedown.txt").write_text(f"{sample(1).url}\n")
        assert store(crawl.directory, real.url, captures=True).removed == 2
    assert texts(real) == expected(7, 1, 4)
    assert sorted(int(row["seq"]) - 1 for row in real.rows("captures")) == [0, 2, 3, 5, 6, 7]


def test_a_second_run_stores_what_is_new_and_a_third_nothing(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=3) as crawl:
        assert store(crawl.directory, kind.url).documents == 9
        crawl.commit([sample(9), sample(10)])
        assert store(crawl.directory, kind.url).documents == 2
        assert store(crawl.directory, kind.url).documents == 0
    assert texts(kind) == expected(11)


def test_captures_have_their_place_in_the_archive(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl") as crawl:
        crawl.commit([sample(0)], failed=2)
        assert store(crawl.directory, kind.url, captures=True).captures == 3
    rows = sorted(kind.rows("captures"), key=lambda row: int(row["seq"]))
    assert [(row["reason"], row["status"], row["kept"], row["warc_record_offset"]) for row in rows] == [
        ("ok", 200, 40, 0),
        ("server-error", 500, 0, 1000),
        ("server-error", 500, 0, 2000),
    ]


def test_two_crawls_share_a_storage(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "one", frames=1), growing(tmp_path / "two") as two:
        two.pages = 3
        two.commit([sample(3)])
        store(tmp_path / "one", kind.url)
        store(tmp_path / "two", kind.url, name="other")
        assert texts(kind) == expected(4)
        (tmp_path / "two" / "takedown.txt").write_text("example.org\n")
        assert store(tmp_path / "two", kind.url, name="other").removed == 1
    assert texts(kind) == expected(3)


def test_purged_pages_are_removed_and_later_ones_stay(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=3) as crawl:
        store(crawl.directory, kind.url, captures=True)
        crawl.purge(sample(4).url, sample(7).url)
        crawl.commit([sample(9)])
        assert store(crawl.directory, kind.url, captures=True).removed == 2
    assert texts(kind) == expected(10, 4, 7)
    assert sorted(int(row["seq"]) - 1 for row in kind.rows("captures")) == [0, 1, 2, 3, 5, 6, 8, 9]


def test_a_purge_before_the_first_run_leaves_the_same(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=3) as crawl:
        crawl.purge(sample(4).url, sample(7).url)
        crawl.commit([sample(9)])
        store(crawl.directory, kind.url)
    assert texts(kind) == expected(10, 4, 7)


def test_listed_pages_are_not_stored_and_are_removed_when_they_are_listed_later(kind: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        (crawl.directory / "takedown.txt").write_text(f"{sample(1).url}\n")
        store(crawl.directory, kind.url)
        assert texts(kind) == expected(6, 1)
        (crawl.directory / "takedown.txt").write_text(f"{sample(1).url}\nh3.example.org\n")
        assert store(crawl.directory, kind.url).removed == 1
        assert store(crawl.directory, kind.url).removed == 0
    assert texts(kind) == expected(6, 1, 3)


class Dying:
    """A storage whose process ends, or whose server is lost, before or after a write."""

    def __init__(self, inner: Storage, plan: list[tuple[str, type[BaseException]]]) -> None:
        self._inner, self._plan = inner, plan
        self.seconds = inner.seconds

    def write(self, batch: StorageBatch) -> None:
        when, error = self._plan.pop(0) if self._plan else ("never", Killed)
        if when == "before":
            raise error("before")
        self._inner.write(batch)
        if when == "after":
            raise error("after")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.mark.parametrize("error", [Killed, StorageLost])
def test_a_kill_around_a_write_loses_and_repeats_nothing(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    plan = [(when, error) for when in ("before", "after", "before", "never", "before", "after", "after")]
    real = storages.open
    monkeypatch.setattr(storages, "open", lambda *given: Dying(real(*given), plan))
    monkeypatch.setattr("windrow.jobs.store.feed.ROWS", 3)  # a batch per frame
    with growing(tmp_path / "mycrawl", frames=6) as crawl:
        while plan:
            try:
                store(crawl.directory, kind.url)
            except Killed:
                crawl.commit([sample(crawl.pages)])  # the next run finds more frames than this one did
        store(crawl.directory, kind.url)
        assert texts(kind) == expected(crawl.pages)


def test_a_file_that_was_written_without_its_position_does_not_stay(kind: Kind, tmp_path: Path) -> None:
    """The rows of a batch are there and the position is not; then the pages of that batch are purged."""
    with growing(tmp_path / "mycrawl", frames=1) as crawl:
        storage = storages.open(kind.url, False)
        feed = Feed(crawl.directory)
        start = feed.start()
        assert start is not None
        (batch,) = feed.batches(start, lambda url: False)
        if kind.name in FILES:
            storage._put("mycrawl", "documents", batch.first, [row.document.encode() for row in batch.documents])  # type: ignore[attr-defined]
        elif kind.name in ("mongodb", "mongo-wire"):
            from windrow.jobs.store import mongodb

            storage._put(mongodb.DOCUMENTS, [mongodb._document(row) for row in batch.documents])  # type: ignore[attr-defined]
        storage.close()
        crawl.purge(*[sample(number).url for number in range(3)])
        crawl.commit([sample(3)])
        store(crawl.directory, kind.url)
    assert texts(kind) == expected(4, 0, 1, 2)


def test_a_table_with_other_columns_is_refused(kind: Kind, tmp_path: Path) -> None:
    if kind.name not in ("sqlite", "postgresql", "mysql"):
        pytest.skip("it has no tables")
    storage: Any = storages.open(kind.url, False)
    cursor = storage._connection.cursor()
    cursor.execute("DROP TABLE windrow_documents")
    cursor.execute("CREATE TABLE windrow_documents (id integer, title text)")
    storage._connection.commit()
    storage.close()
    with (
        growing(tmp_path / "mycrawl", frames=1) as crawl,
        pytest.raises(
            ConfigError, match="the table windrow_documents has no column crawl, so it is not one of Windrow"
        ),
    ):
        store(crawl.directory, kind.url)


def test_a_server_that_is_killed_between_two_batches_is_waited_for(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = kind.server
    if server is None:
        pytest.skip("it has no server that a test can kill")
    monkeypatch.setattr("windrow.jobs.store.feed.ROWS", 3)
    notes: list[str] = []
    seen: list[int] = []

    def watch(count: int) -> None:
        seen.append(count)
        if count in (3, 9):
            server.kill()

    def sleep(seconds: float) -> None:
        server.start()

    with growing(tmp_path / "mycrawl", frames=5) as crawl:
        options = job.StoreOptions(directory=crawl.directory, target=kind.url)
        context = job.StoreContext(running=lambda: False, watch=watch, note=notes.append, sleep=sleep)
        job.run(options, context)
    assert texts(kind) == expected(15)
    assert len(notes) == 2 and all("trying again in 1 s" in note for note in notes)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("windrow:p%40ss%2Fword@", "windrow:secret@"), "cannot be opened: .*; check that the server runs"),
        (("127.0.0.1:", "127.0.0.1:1"), "cannot be opened|port"),
    ],
)
@pytest.mark.parametrize("name", ["postgresql", "mysql"])
def test_a_wrong_password_or_address_gets_one_sentence_without_the_password(
    request: pytest.FixtureRequest, tmp_path: Path, name: str, change: tuple[str, str], problem: str
) -> None:
    url = request.getfixturevalue(name).url
    wrong = url.replace(*change) if "secret" in change[1] else url.rpartition(":")[0] + ":9/corpus"
    with growing(tmp_path / "mycrawl", frames=1) as crawl, pytest.raises(ConfigError, match=problem) as raised:
        store(crawl.directory, wrong)
    said = str(raised.value)
    assert "\n" not in said and "secret" not in said and "p%40ss" not in said


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=50", "must look like mongodb://HOST/DATABASE"),
        ("mysql://127.0.0.1:9", "must end in the name of a database"),
        ("nosuch://place/x", "nosuch; known are .*postgresql://"),
        ("sqlite:////nowhere/at/all.db", "cannot be opened: .*; check the path"),
    ],
)
def test_an_address_that_cannot_be_opened_gets_one_sentence(tmp_path: Path, target: str, problem: str) -> None:
    with growing(tmp_path / "mycrawl", frames=1) as crawl, pytest.raises(ConfigError, match=problem) as raised:
        store(crawl.directory, target)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "mongodb"])
@pytest.mark.parametrize("password", ["S3/CRET", "S3?CRET", "S3#CRET", "[S3CRET", "S3CRET]", "S3@CRET"])
def test_no_message_about_an_address_has_a_part_of_its_password(scheme: str, password: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        job.check(job.StoreOptions(directory=tmp_path, target=f"{scheme}://me:{password}@127.0.0.1:1/db"))
    said = str(refused.value)
    assert "\n" not in said and "S3" not in said and "CRET" not in said


def test_a_bucket_that_does_not_exist_gets_one_sentence(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    from tests.jobs.store.conftest import KINDS

    KINDS["s3"](request, tmp_path)
    with growing(tmp_path / "mycrawl", frames=1) as crawl, pytest.raises(ConfigError, match="check the address"):
        store(crawl.directory, "s3://no-such-bucket-here/folder")


def test_a_position_of_another_crawl_is_refused(sqlite: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "one" / "mycrawl", frames=1) as crawl:
        store(crawl.directory, sqlite.url)
    other = crawls.GrowingCrawl(tmp_path / "two" / "mycrawl")
    other.frames = 5  # so its first frame has another time
    other.commit([sample(0)])
    other.close()
    with pytest.raises(ConfigError, match="another crawl with the name mycrawl; store this crawl under another name"):
        store(other.directory, sqlite.url)


def test_a_log_that_is_shorter_than_the_position_is_refused(sqlite: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        store(crawl.directory, sqlite.url)
        path = crawl.directory / "log" / "00000.jsonl.gz"
        path = path if path.exists() else next((crawl.directory / "log").iterdir())
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(ConfigError, match=r"up to frame 2, which is not in .*restored from an older copy"):
            store(crawl.directory, sqlite.url)


def test_a_name_that_is_no_folder_is_refused(sqlite: Kind, tmp_path: Path) -> None:
    with (
        growing(tmp_path / "mycrawl", frames=1) as crawl,
        pytest.raises(ConfigError, match=r"--name '\.\./x' cannot be"),
    ):
        store(crawl.directory, sqlite.url, name="../x")


def test_a_title_of_any_length_and_odd_characters_are_stored(kind: Kind, tmp_path: Path) -> None:
    odd = msgspec.structs.replace(sample(0), title="long " * 20000, author="a\0b\ud800", scores={"my.judge:x": 1e300})
    with growing(tmp_path / "mycrawl") as crawl:
        crawl.commit([odd])
        store(crawl.directory, kind.url, captures=True)
    (row,) = kind.rows("documents")
    assert len(row["title"]) == 100_000
    assert row["author"] == "ab\ufffd"


def test_captures_are_stored_from_the_beginning_or_not_at_all(sqlite: Kind, tmp_path: Path) -> None:
    with growing(tmp_path / "mycrawl", frames=2) as crawl:
        store(crawl.directory, sqlite.url)
        with pytest.raises(ConfigError, match="without captures; leave out --captures"):
            store(crawl.directory, sqlite.url, captures=True)
        store(crawl.directory, sqlite.url, captures=True, name="again")
    assert len(sqlite.rows("captures")) == 6
