"""Shuffled archives: the same members in another order."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.jobs import warcs
from windrow import archive, cli
from windrow.config import ConfigError
from windrow.jobs import engine, shuffle
from windrow.jobs.shuffle import ShuffleOptions, ShuffleSummary


def record(kind: str, name: str, url: str = "", to: str = "", block: str = "") -> bytes:
    """Return a small record with a known id."""
    lines = [f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:uuid:{name}>", "WARC-Date: 2026-11-16T09:00:00Z"]
    lines += [f"WARC-Target-URI: {url}"] if url else []
    lines += [f"WARC-Concurrent-To: <urn:uuid:{to}>"] if to else []
    head = "\r\n".join(["WARC/1.1", *lines, f"Content-Length: {len(block)}", "Content-Type: text/plain"])
    return f"{head}\r\n\r\n{block}\r\n\r\n".encode()


def written(directory: Path, files: int = 3, captures: int = 20) -> list[Path]:
    """Write files; metadata of each capture follow at the end of the file, far from their responses."""
    found = []
    for number in range(files):
        records = [record("warcinfo", f"info{number}", block="software: other\r\n")]
        late = []
        for place in range(captures):
            name = f"{number}-{place}"
            records.append(record("request", f"q{name}", f"http://a.test/{name}", f"r{name}"))
            records.append(record("response", f"r{name}", f"http://a.test/{name}", block=name * 50))
            late.append(record("metadata", f"m{name}", f"http://a.test/{name}", f"r{name}"))
        found.append(warcs.write(directory / f"{number}.warc.gz", records + late))
    return found


def ran(inputs: list[Path], output: Path, **options: Any) -> ShuffleSummary:
    chosen = ShuffleOptions(inputs=inputs, output=output, **options)
    shuffle.check(chosen)
    with engine.open("local", workers=2) as run:
        return shuffle.run(chosen, run)


def members(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return [data[found.offset : found.offset + found.length] for found in archive.records(path)]


def ids(path: Path, kind: str = "response") -> list[str]:
    return [found.id.decode() for found in archive.records(path) if found.type == kind]


def test_every_member_is_there_once_and_unchanged(tmp_path: Path) -> None:
    sources = written(tmp_path)
    summary = ran(sources, tmp_path / "out", files=4)
    assert (summary.sources, summary.captures, summary.records, summary.revisits) == (3, 60, 180, 0)
    assert summary.bytes == sum(Path(path).stat().st_size for path in summary.files)
    before = Counter(member for path in sources for member in members(path) if b"info" not in gzip.decompress(member))
    after = Counter(
        member for path in summary.files for member in members(Path(path)) if b"info" not in gzip.decompress(member)
    )
    assert after == before


def test_each_file_is_a_sample_of_all_and_begins_with_their_warcinfo_records(tmp_path: Path) -> None:
    summary = ran(written(tmp_path), tmp_path / "out", files=2)
    for path in map(Path, summary.files):
        assert {name[1] for name in ids(path)} == {"0", "1", "2"}
        assert [found.type for found in archive.records(path)][:4] == ["warcinfo"] * 3 + ["request"]
        assert ids(path, "warcinfo") == ["info0", "info1", "info2"]
    assert [Path(path).name for path in summary.files] == [
        "SHUFFLED-20261116090000-00000.warc.gz",
        "SHUFFLED-20261116090000-00001.warc.gz",
    ]


def test_the_records_of_a_capture_stay_together(tmp_path: Path) -> None:
    for path in ran(written(tmp_path), tmp_path / "out", files=2).files:
        found = [record.id.decode() for record in archive.records(Path(path)) if record.type != "warcinfo"]
        for start in range(0, len(found), 3):
            name = found[start][1:]
            assert found[start : start + 3] == [f"q{name}", f"r{name}", f"m{name}"]


def test_the_order_depends_on_the_seed_and_not_on_the_inputs(tmp_path: Path) -> None:
    sources = written(tmp_path)
    one = [ids(Path(path)) for path in ran(sources, tmp_path / "one", seed=1).files]
    same = [ids(Path(path)) for path in ran(sources[::-1], tmp_path / "same", seed=1).files]
    other = [ids(Path(path)) for path in ran(sources, tmp_path / "other", seed=2).files]
    assert one == same
    assert one != other
    assert one[0] != sorted(one[0])


def test_a_capture_of_our_own_crawl_reads_the_same_after_it(tmp_path: Path) -> None:
    run = CliRunner().invoke(cli.app, ["demo", "--dir", str(tmp_path / "demo")])
    assert run.exit_code == 0, run.output
    (crawl,) = [path.parent for path in tmp_path.rglob("crawl.toml")]
    before = {
        found.capture.task.url.text: (found.capture, found.seq, found.digest)
        for path in (crawl / "warc").glob("*.warc.gz")
        for found in archive.read(path)
    }
    summary = ran([crawl], tmp_path / "out" / "warc", files=2)
    after = {
        found.capture.task.url.text: (found.capture, found.seq, found.digest)
        for path in map(Path, summary.files)
        for found in archive.read(path)
    }
    assert after == before
    assert len(after) == summary.captures


def test_captures_of_other_programs_among_our_own_stay_readable(tmp_path: Path) -> None:
    """Ours must be complete, theirs need not be; the last warcinfo of a file says which."""
    ours = record("warcinfo", "ours", block="layout: request response metadata\r\n")
    theirs = warcs.record("http://a.test/", b"<p>text")
    for number, records in enumerate(([ours], [record("warcinfo", "other"), theirs])):
        warcs.write(tmp_path / f"{number}.warc.gz", [*records, theirs.replace(b"a.test", b"b.test")])
    (path,) = ran([tmp_path], tmp_path / "out", files=1).files
    assert sorted(found.capture.task.url.host for found in archive.read(Path(path))) == ["a.test", "b.test", "b.test"]
    warcs.write(tmp_path / "1.warc.gz", [theirs])
    (path,) = ran([tmp_path / "0.warc.gz", tmp_path / "1.warc.gz"], tmp_path / "bare", files=1).files
    assert len(list(archive.read(Path(path)))) == 2


@pytest.mark.parametrize("packing", ["", "zstd"])
def test_a_file_without_gzip_members_is_named_and_left_out(tmp_path: Path, packing: str) -> None:
    sources = written(tmp_path, 1)
    bad = warcs.write(tmp_path / "bad.warc", [record("response", "x", "http://a.test/")], packing)
    one = tmp_path / "one.warc.gz"
    one.write_bytes(gzip.compress(record("response", "x") + record("response", "y")))
    summary = ran([*sources, bad, one], tmp_path / "out")
    assert [found.source for found in summary.bad] == [str(bad), str(one)]
    assert all("is not a gzip member of its own" in found.problem for found in summary.bad)
    assert summary.captures == 20


def test_the_command_prints_a_summary(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    sources = written(tmp_path / "in")
    command = ["shuffle", *map(str, sources), "-o", str(tmp_path / "out"), "--files", "1"]
    run = CliRunner().invoke(cli.app, command)
    assert run.exit_code == 0, run.output
    assert "60 captures with 180 records in 1 files" in run.output
    assert isinstance(CliRunner().invoke(cli.app, command).exception, ConfigError)
    again = CliRunner().invoke(cli.app, [*command[:-3], str(tmp_path / "other"), "--json"])
    assert json.loads(again.output)["captures"] == 60
