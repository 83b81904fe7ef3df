"""`windrow purge`: listed pages are gone, everything else stays where it is, whenever it dies."""

import fcntl
import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.crashing import DEAD, Plan, Result
from tests.world import World

Content = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(seed=5, pages=14, hosts=2, kinds=("absent", "mirror"), prose=True) as made:
        yield made


@pytest.fixture(scope="module")
def crawled(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl with text, whose first host is on the takedown list; a copy of it has revisits."""
    directory = tmp_path_factory.mktemp("purge") / "crawl"
    truth.prepare(directory, world, *truth.TEXT, "archive.revisits=true", "corpus.shard_bytes=1000000")
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0, result.err
    (directory / "takedown.txt").write_text(f"# by mail\n{listed(world)}\n")
    return directory


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


def listed(world: World) -> str:
    return world.graph.plain[0]


def purge(directory: Path, *options: str, plan: Plan | None = None) -> Result:
    return crashing.run(["purge", str(directory), *options], plan)


def members(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each gzip member of a file with its offset."""
    at = 0
    while at < len(data):
        inflate = zlib.decompressobj(31)
        text = inflate.decompress(data[at:])
        assert inflate.eof, "the last member is whole"
        yield at, text
        at = len(data) - len(inflate.unused_data)


def content(directory: Path) -> Content:
    """Return every record of the archive with its offset, tombstones without id and date, and every document."""
    found: Content = {}
    for subset in truth.SUBSETS:
        for path in sorted((directory / subset).iterdir()):
            rows: list[tuple[object, ...]] = []
            for offset, text in members(path.read_bytes()):
                record = truth.record(text)
                gone = record.block.startswith(b"purged: ")
                rows.append((offset, record.type, record.url, "" if gone else hashlib.sha1(text).hexdigest()))
            found[f"{subset}/{path.name}"] = rows
    for path in sorted((directory / "corpus").rglob("*.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        found[path.relative_to(directory).as_posix()] = [(path.stat().st_size, *lines)]
    return found


def urls(directory: Path) -> set[str]:
    """Return the target URIs of the archive."""
    return {record.url for subset in truth.SUBSETS for record in truth.archive(directory, subset) if record.url}


def test_listed_pages_are_gone_and_everything_else_is_where_it_was(crawl: Path, world: World) -> None:
    host, before = listed(world), content(crawl)
    done = purge(crawl, "--json").json
    after = content(crawl)
    assert before.keys() == after.keys()
    changed = 0
    for name, rows in after.items():
        if name.startswith("corpus/"):
            (old, *lines), (new, *left) = before[name][0], rows[0]
            assert new == old, "the length of a shard stays"
            assert left == [line for line in lines if json.loads(line)["url"].split("/")[2] != host]  # type: ignore[arg-type]
            continue
        assert [row[0] for row in rows] == [row[0] for row in before[name]], "no record has moved"
        for old_row, row in zip(before[name], rows, strict=True):
            if row[3]:
                assert row == old_row and host != str(row[2]).split("/")[2:3]
            else:
                changed += 1
    assert done["captures"] * 3 == changed and done["documents"] > 3 and done["bytes"] == sum(done["files"].values())
    assert not any(url.split("/")[2] == host for url in urls(crawl)), "robots.txt and diagnostics too"
    assert truth.documents(crawl), "the shards are as long as the log says"
    assert not (crawl / "purge.redo").exists()


def test_nothing_of_the_text_is_left_in_any_file(crawl: Path, world: World) -> None:
    host = listed(world)
    theirs = [record for record in truth.archive(crawl) if record.url.split("/")[2:3] != [host]]
    others = b"".join(record.block for record in theirs)
    mine = [document for document in truth.documents(crawl) if document["url"].split("/")[2] == host]
    texts = {paragraph["text"].encode() for document in mine for paragraph in document["paragraphs"]}
    texts = {text for text in texts if text not in others}
    assert texts
    crashing.run(["report", str(crawl)])
    (crawl / "torn").mkdir()
    (crawl / "torn" / "warc-x.warc.gz.7").write_bytes(b"".join(texts))
    done = purge(crawl, "--json").json
    assert list(done["torn"]) == ["torn/warc-x.warc.gz.7"]
    left = set()
    for path in (path for path in crawl.rglob("*") if path.is_file()):
        data = path.read_bytes()
        text = b"".join(truth.members(data)[0]) if path.suffix == ".gz" else data
        left |= {(path.name, one) for one in texts if one in text or one in data}
    assert left == set()


def test_a_payload_that_other_pages_refer_to_takes_their_revisits_with_it(crawl: Path, world: World) -> None:
    copies = {
        record.url
        for record in truth.archive(crawl)
        if record.type == "revisit" and record.fields["warc-refers-to-target-uri"].split("/")[2] == listed(world)
    }
    copies = {url for url in copies if url.split("/")[2] != listed(world)}
    assert copies, "the mirror has the same pages"
    done = purge(crawl, "--json").json
    assert done["revisits"] == len(copies)
    assert not copies & urls(crawl)
    story = crashing.run(["why", str(crawl), sorted(copies)[0], "--json"]).json
    assert "its payload is that of http://" in story["events"][-1]["what"] and story["place"] == ""


def test_status_why_and_rebuild_know_what_was_purged(crawl: Path, world: World, tmp_path: Path) -> None:
    page = next(
        document["url"] for document in truth.documents(crawl) if document["url"].split("/")[2] == listed(world)
    )
    status = crashing.run(["status", str(crawl), "--json"]).json
    assert status["listed"] > 3 and status["purged"] == 0
    done = purge(crawl, "--json").json
    after = crashing.run(["status", str(crawl), "--json"]).json
    assert (after["listed"], after["purged"]) == (0, done["pages"])
    assert after["finished"] == status["finished"] and after["frames"] == status["frames"] + 1
    story = crashing.run(["why", str(crawl), page, "--json"]).json
    line = f"takedown.txt, line 2: {listed(world)}"
    assert story["takedown"] == line and story["events"][-1]["what"].startswith(f"purged by {line}: ")
    assert f"on the takedown list: {line}" in crashing.run(["why", str(crawl), page]).out
    left = truth.documents(crawl)
    (crawl / "takedown.txt").unlink()  # the log is enough
    made = crashing.run(["rebuild", str(crawl), "--corpus", str(tmp_path / "again"), "--json"])
    assert made.code == 0, made.err
    assert made.json["purged"] > 3
    again = [
        json.loads(text)
        for path in sorted((tmp_path / "again").rglob("*.gz"))
        for text in gzip.decompress(path.read_bytes()).splitlines()
    ]
    assert {one["url"] for one in left} <= {one["url"] for one in again}
    assert not any(one["url"].split("/")[2] == listed(world) for one in again)


def test_a_dry_run_counts_the_same_and_changes_nothing(crawl: Path) -> None:
    before = {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    counted = purge(crawl, "--dry-run", "--json").json
    assert {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()} == before
    done = purge(crawl, "--json").json
    assert {**counted, "dry_run": False} == done
    shown = purge(crawl, "--dry-run").out
    assert "0 captures and 0 documents" in shown and "Exports made earlier" in shown


def test_pages_with_the_same_content_that_are_not_listed_are_named(world: World, tmp_path: Path) -> None:
    directory = truth.prepare(tmp_path / "crawl", world, *truth.TEXT)
    assert crashing.run(["crawl", str(directory)]).code == 0
    (directory / "takedown.txt").write_text(f"{listed(world)}\n")
    copies = purge(directory, "--json").json["copies"]
    payloads = {record.payload: record.url for record in truth.archive(directory) if record.type == "response"}
    assert copies and set(copies) <= set(payloads.values())


def test_a_second_purge_has_nothing_to_do_and_a_crawl_continues_after_it(crawl: Path, world: World) -> None:
    purge(crawl)
    before = content(crawl)
    again = purge(crawl, "--json").json
    assert (again["captures"], again["documents"], again["files"]) == (0, 0, {})
    world.reset()
    result = crashing.run(["crawl", str(crawl)])
    assert result.code == 0, result.err
    assert content(crawl) == before
    assert not any(request.host == listed(world) for request in world.requests())


def test_a_crawl_that_runs_is_not_purged(crawl: Path) -> None:
    with (crawl / "lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate()  # it holds the number of the process that crawled before
        file.write("4711")
        file.flush()
        result = purge(crawl)
        assert result.code == 2 and "is being crawled by process 4711; stop it first" in result.err
        assert purge(crawl, "--dry-run").code == 0, "that only reads"


def test_damage_is_found_before_anything_is_overwritten(crawl: Path, world: World) -> None:
    page = next(document for document in truth.documents(crawl) if document["url"].split("/")[2] == listed(world))
    path = crawl / page["place"]["file"]
    data = bytearray(path.read_bytes())
    at = page["place"]["offset"] + page["place"]["length"] // 2
    data[at : at + 8] = bytes(8)
    path.write_bytes(data)
    before = {path: path.read_bytes() for path in crawl.glob("[wdrc][aio]*/**/*.gz")}
    result = purge(crawl)
    assert result.code == 2 and "restore the file from a copy" in result.err
    assert {path: path.read_bytes() for path in crawl.glob("[wdrc][aio]*/**/*.gz")} == before
    assert not (crawl / "purge.redo").exists()


def test_a_damaged_log_is_refused_even_if_the_state_is_newer_than_the_damage(crawl: Path) -> None:
    path = crawl / "log" / "00000.jsonl.gz"
    data = bytearray(path.read_bytes())
    start = [at for at, _ in members(bytes(data))][-2]
    data[start + 20 : start + 40] = bytes(20)
    path.write_bytes(data)
    before = {path: path.read_bytes() for path in crawl.rglob("*.gz")}
    result = purge(crawl)
    assert result.code == 2 and "can be read; restore it from a copy" in result.err, result.err
    assert {path: path.read_bytes() for path in crawl.rglob("*.gz")} == before


def test_a_bad_line_of_the_list_stops_a_purge(crawl: Path) -> None:
    (crawl / "takedown.txt").write_text("not a place\n")
    result = purge(crawl)
    assert (result.code, result.out) == (2, "") and "takedown.txt, line 1: " in result.err


@pytest.fixture(scope="module")
def whole(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Content, list[str]]:
    """What a purge that does not die leaves, and its operations."""
    directory = Path(shutil.copytree(crawled, tmp_path_factory.mktemp("whole") / "crawl"))
    done = purge(directory)
    assert done.code == 0, done.err
    return content(directory), done.trace


def dies(directory: Path, plan: Plan, expected: Content) -> None:
    """Let a purge die, look at what is left, and finish it."""
    died = purge(directory, plan=plan)
    assert died.code == DEAD, died.err
    begun = (directory / "purge.redo").exists()
    if begun:
        for command in (["crawl", str(directory)], ["export", str(directory), "--format", "text", "-o", "-"]):
            refused = crashing.run(command)
            assert refused.code == 2 and "finish it with: windrow purge" in refused.err, command
    else:
        content(directory)  # every member and every record is whole
    assert crashing.run(["status", str(directory)]).code == 0
    after = purge(directory)
    assert after.code == 0, after.err
    assert content(directory) == expected
    assert not list(directory.glob("purge.redo*"))


@pytest.mark.parametrize(
    ("file", "how"), [("purge.redo", "half"), ("log/", "after"), ("warc/", "half"), ("corpus/", "half")]
)
def test_a_purge_that_dies_is_finished_by_the_next_one(
    file: str, how: str, crawl: Path, whole: tuple[Content, list[str]]
) -> None:
    expected, trace = whole
    writes = [number for number, entry in enumerate(trace, 1) if file in entry and "write" in entry.split()[0]]
    dies(crawl, Plan(at=writes[len(writes) // 2], how=how), expected)


def borders(trace: list[str]) -> list[int]:
    """Return the numbers of the operations; of many equal ones in a row, the first, the last and every tenth."""
    rows = [["", *trace, ""][number : number + 3] for number in range(len(trace))]
    return [number for number, (one, two, three) in enumerate(rows, 1) if not one == two == three or number % 10 == 0]


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("how", ["before", "half"])
def test_a_purge_may_die_at_every_operation(
    how: str, part: int, crawled: Path, whole: tuple[Content, list[str]], tmp_path: Path
) -> None:
    expected, trace = whole
    for number in borders(trace)[part::4]:
        if how == "before" or "write" in trace[number - 1].split()[0]:
            directory = Path(shutil.copytree(crawled, tmp_path / str(number)))
            dies(directory, Plan(at=number, how=how), expected)
            shutil.rmtree(directory)
