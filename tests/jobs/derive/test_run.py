"""The command: outputs and their names, equal bytes, bad input, stopped work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import windrow
from tests.jobs import warcs
from windrow.cli import main
from windrow.config import ConfigError
from windrow.jobs import engine
from windrow.jobs.derive import run
from windrow.jobs.derive.run import DeriveRequest

PAGES = [warcs.record(f"http://a.example/{page}", b"<title>%d</title><a href=x>y</a>" % page) for page in range(3)]
PATH = os.pathsep.join([str(Path(windrow.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "windrow.cli", "derive", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH},
        timeout=120,
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_source_gives_files_that_are_named_after_it_and_equal_in_every_run(tmp_path: Path) -> None:
    for name in ("one.warc.gz", "two.warc.gz"):
        warcs.write(tmp_path / name, PAGES)
    everything = ("--wat", "--wet", "--links", "--pages", "--json")
    done = command(tmp_path / "one.warc.gz", tmp_path / "two.warc.gz", *everything, "-o", tmp_path / "out")
    request = DeriveRequest(inputs=[tmp_path], output=tmp_path / "again", wat=True, wet="all", links=True, pages=True)
    with engine.open("local", tmp_path / "work", workers=1) as opened:
        again = run.run(request, opened)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(contents(tmp_path / "out")) == [
        *("links.parquet/one.parquet", "links.parquet/two.parquet", "pages.parquet/one.parquet"),
        *("pages.parquet/two.parquet", "wat/one.warc.wat.gz", "wat/two.warc.wat.gz"),
        *("wet/one.warc.wet.gz", "wet/two.warc.wet.gz"),
    ]
    assert contents(tmp_path / "out") == contents(tmp_path / "again")
    summary = json.loads(done.stdout)
    assert summary == msgspec.to_builtins(again)
    assert {name: summary[name] for name in ("files", "records", "wat", "wet", "links", "pages", "bad", "damaged")} == {
        **{"files": 2, "records": 6, "wat": 6, "wet": 6, "links": 6, "pages": 6, "bad": [], "damaged": []}
    }


def test_bad_files_are_named_the_rest_is_derived_and_the_exit_code_tells(tmp_path: Path) -> None:
    warcs.write(tmp_path / "good.warc.gz", PAGES)
    whole = warcs.write(tmp_path / "cut.warc.gz", PAGES).read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[:-20])
    (tmp_path / "none.warc.gz").write_bytes(b"this is no archive")
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    (tmp_path / "first.warc.gz").write_bytes(whole[:40])
    names = ("good", "cut", "none", "empty", "first", "missing")
    done = command(*[tmp_path / f"{name}.warc.gz" for name in names], "--wet", "--links", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    shown = {name: next(line for line in done.stderr.splitlines() if f"/{name}.warc.gz" in line) for name in names[1:]}
    assert "the file ends inside" in shown["cut"] and "the rest was read" in shown["cut"]
    assert "this is no archive file" in shown["none"] and "this is no archive file" in shown["empty"]
    assert "there is no such file or directory" in shown["missing"]
    assert sorted(contents(tmp_path / "out")) == [
        *("links.parquet/cut.parquet", "links.parquet/good.parquet", "wet/cut.warc.wet.gz", "wet/good.warc.wet.gz")
    ]
    assert done.stdout.splitlines()[0] == "5 WET records, 5 links from 5 records of 2 files"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "derive needs to know what to make"),
        (("--wet", "--text", "some"), "there is no text 'some'; choose one of all, main"),
        (("--wet", "--text", "main", "--set", "extract.extractor=nothing"), "extract.extractor"),
        (("--wat", "--engine", "abacus"), "there is no engine 'abacus'"),
        (("--wat", "--takedown", "missing.txt"), "missing.txt"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = warcs.write(tmp_path / "a.warc.gz", PAGES)
    monkeypatch.setattr(sys, "argv", ["windrow", "derive", str(source), *arguments, "-o", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr().err
    assert end.value.code == 2
    assert len(shown.splitlines()) == 1
    assert message in shown


def test_two_sources_of_one_name_and_an_output_that_is_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    one, other = (warcs.write(folder / "a.warc.gz", PAGES) for folder in (tmp_path, tmp_path / "b"))
    with engine.open("local", tmp_path / "work") as opened, pytest.raises(ConfigError, match="would give files of one"):
        run.run(DeriveRequest(inputs=[one, other], output=tmp_path / "out", wat=True), opened)
    with pytest.raises(ConfigError, match="is a file; name a directory"):
        run.check(DeriveRequest(inputs=[one], output=one, wat=True))


def test_files_that_were_derived_before_are_no_sources(tmp_path: Path) -> None:
    warcs.write(tmp_path / "a.warc.gz", PAGES)
    request = DeriveRequest(inputs=[tmp_path], output=tmp_path, wat=True, wet="all")
    found = []
    for _ in range(2):
        with engine.open("local", tmp_path / "work", workers=1) as opened:
            found.append(run.run(request, opened))
    assert found[0] == found[1]
    assert found[1].files == 1


def test_work_that_was_stopped_continues_after_the_sources_that_are_done(tmp_path: Path) -> None:
    sources = [warcs.write(tmp_path / f"{name}.warc.gz", PAGES) for name in "ab"]
    request = DeriveRequest(inputs=sources, output=tmp_path / "out", wet="all")

    class Stopped(Exception):
        pass

    def stop(progress: engine.MapProgress) -> None:
        if progress.done == 1:
            raise Stopped

    with pytest.raises(Stopped), engine.open("local", tmp_path / "work", workers=1, watch=stop) as opened:
        run.run(request, opened)
    folder = tmp_path / "out" / "wet"
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.gz")}
    seen: list[int] = []
    with engine.open("local", tmp_path / "work", 1, lambda progress: seen.append(progress.done)) as opened:
        summary = run.run(request, opened)
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert (summary.files, summary.wet, seen[0], len(after)) == (2, 6, 1, 2)
    assert not before.items().isdisjoint(after.items())
