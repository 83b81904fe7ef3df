"""`windrow publish --wacz`: the file, its index and its pages, read back with the standard library and warcio."""

import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator

import windrow
from tests import crashing, logs
from tests.archive import captures as made
from windrow import archive
from windrow.config import ConfigError
from windrow.jobs.publish import wacz
from windrow.jobs.publish.wacz import PublishOptions, PublishSummary
from windrow.records import Frame

NOW = 1794739461.0
HTML = b"<html><head><title>Wind &amp; mill</title></head><body><p>%s</p></body></html>"
TEXT = b"The wind blows over the wide field, and the mill at the brook turns slowly, because the water is low."
SITE = [
    made.capture("http://example.org/robots.txt", b"User-agent: *\nDisallow:\n", file="robots"),
    made.capture("http://example.org/", HTML % TEXT),
    made.capture("http://example.org/gone", b"", 404),
    made.capture("http://listed.example/a", HTML % b"secret"),
    made.capture("http://example.org/2", HTML % b"Two."),
    made.capture("http://listed.example/b", HTML % b"secret too"),
]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Make a crawl directory with the captures of SITE, and half a record that is not committed."""
    directory = tmp_path / "crawl"
    made.write(directory, SITE)
    (directory / "crawl.toml").write_text("")
    lengths = {path.relative_to(directory).as_posix(): path.stat().st_size for path in made.files(directory)}
    logs.write(directory / "log", Frame(1, 1000.0, (), lengths))
    for path in made.files(directory):
        with path.open("ab") as file:
            file.write(b"\x1f\x8b\x08 half a record")
    return directory


def run(crawl: Path, output: Path, **others: Any) -> PublishSummary:
    options = PublishOptions(directory=crawl, output=output, **others)
    wacz.check(options)
    return wacz.run(options, wacz.find(options), NOW, lambda count: None)


def index(file: zipfile.ZipFile) -> list[tuple[str, dict[str, str]]]:
    text = gzip.decompress(file.read("indexes/index.cdx.gz")).decode()
    return [(line.split(" ", 1)[0], json.loads(line.split(" ", 2)[2])) for line in text.splitlines()]


def pages(file: zipfile.ZipFile) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read("pages/pages.jsonl").splitlines()]


def test_every_file_is_listed_with_its_size_and_hash(tmp_path: Path, crawl: Path) -> None:
    summary = run(crawl, tmp_path / "out.wacz", title="Wind", description="A *test*.")
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        assert file.testzip() is None
        manifest = json.loads(file.read("datapackage.json"))
        listed = {resource["path"]: resource for resource in manifest["resources"]}
        assert {*listed, "datapackage.json", "datapackage-digest.json"} == set(file.namelist())
        for path, resource in listed.items():
            data = file.read(path)
            assert (resource["bytes"], resource["hash"]) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")
        digest = json.loads(file.read("datapackage-digest.json"))
        found = f"sha256:{hashlib.sha256(file.read('datapackage.json')).hexdigest()}"
        assert digest == {"path": "datapackage.json", "hash": found}
    facts = {
        name: manifest[name] for name in ("profile", "wacz_version", "title", "description", "created", "software")
    }
    assert facts == {
        "profile": "data-package",
        "wacz_version": "1.1.1",
        "title": "Wind",
        "description": "A *test*.",
        "created": "2026-11-15T10:44:21Z",
        "software": f"windrow/{windrow.__version__}",
    }
    assert (summary.files, summary.captures, summary.pages, summary.left_out) == (3, 6, 4, 0)
    assert summary.bytes == (tmp_path / "out.wacz").stat().st_size


def test_what_is_compressed_is_stored_so_that_a_record_can_be_read_by_its_offset(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        kinds = {info.filename: info.compress_type for info in file.infolist()}
    assert {kinds[name] for name in kinds if name.endswith(".gz")} == {zipfile.ZIP_STORED}
    assert kinds["pages/pages.jsonl"] == zipfile.ZIP_DEFLATED


@pytest.mark.parametrize("listed", ["", "listed.example\n", "http://example.org/*\n"])
def test_each_line_of_the_index_leads_to_its_record(tmp_path: Path, crawl: Path, listed: str) -> None:
    (crawl / "takedown.txt").write_text(listed)
    run(crawl, tmp_path / "out.wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        found = index(file)
        assert [key for key, _ in found] == sorted(key for key, _ in found)
        for _, row in found:
            data = file.read(f"archive/{row['filename']}")
            at = int(row["offset"])
            (record,) = ArchiveIterator(io.BytesIO(data[at : at + int(row["length"])]))
            assert record.rec_headers.get_header("WARC-Target-URI") == row["url"]
            assert record.rec_headers.get_header("WARC-Payload-Digest") == row["digest"]
            assert record.http_headers.get_statuscode() == row["status"]
    left = [one for one in SITE if not (listed and listed.removeprefix("http://").rstrip("*\n") in one.url)]
    assert sorted(row["url"] for _, row in found) == sorted(one.url for one in left)


def test_the_copy_of_a_file_is_its_committed_part(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        for path in made.files(crawl):
            assert file.read(f"archive/{path.name}") == path.read_bytes().removesuffix(b"\x1f\x8b\x08 half a record")


def test_no_record_of_a_listed_page_is_copied(tmp_path: Path, crawl: Path) -> None:
    (tmp_path / "more.txt").write_text("http://example.org/2\n")
    (crawl / "takedown.txt").write_text("listed.example\n")
    summary = run(crawl, tmp_path / "out.wacz", takedown=tmp_path / "more.txt")
    assert (summary.left_out, summary.captures, summary.pages) == (9, 3, 1)
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        for name in file.namelist():
            if name.startswith("archive/"):
                (tmp_path / "copy.warc.gz").write_bytes(file.read(name))
                targets = [record.target for record in archive.records(tmp_path / "copy.warc.gz")]
                assert not [target for target in targets if "listed" in target or target.endswith("/2")]
                assert all(archive.verify(record) is not False for record in archive.records(tmp_path / "copy.warc.gz"))
        assert len(pages(file)) == 2 and b"secret" not in file.read("pages/pages.jsonl")


def test_the_pages_have_titles_and_on_request_their_text(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.wacz")
    run(crawl, tmp_path / "text.wacz", text=True)
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        head, first, *others = pages(file)
    assert head == {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    assert first["url"] == "http://example.org/" and first["title"] == "Wind & mill" and "text" not in first
    assert first["ts"] == "2025-11-15T09:46:40.123Z" and len(others) == 3
    with zipfile.ZipFile(tmp_path / "text.wacz") as file:
        assert TEXT.decode() in pages(file)[1]["text"]


def test_the_blocks_of_the_index_are_listed_by_their_first_line(
    tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz, "BLOCK", 2)
    run(crawl, tmp_path / "out.wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        meta, *blocks = file.read("indexes/index.idx").decode().splitlines()
        data, whole = file.read("indexes/index.cdx.gz"), index(file)
    assert meta == '!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}' and len(blocks) == 3
    keys = []
    for block in blocks:
        key, time, values = block.split(" ", 2)
        place = json.loads(values)
        packed = data[place["offset"] : place["offset"] + place["length"]]
        assert place["digest"] == f"sha256:{hashlib.sha256(packed).hexdigest()}"
        lines = gzip.decompress(packed).decode().splitlines()
        assert lines[0].startswith(f"{key} {time} ")
        keys += [line.split(" ", 1)[0] for line in lines]
    assert keys == [key for key, _ in whole]


def test_a_damaged_archive_leaves_no_file(tmp_path: Path, crawl: Path) -> None:
    path = made.files(crawl)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ConfigError, match=r"byte \d+: .*; restore the file from a copy"):
        run(crawl, tmp_path / "to" / "out.wacz")
    assert list((tmp_path / "to").iterdir()) == []


def command(*arguments: object) -> crashing.Result:
    return crashing.run(["publish", *map(str, arguments)])


def test_the_command_prints_its_summary_and_errors_are_one_sentence(tmp_path: Path, crawl: Path) -> None:
    done = command(crawl, "--wacz", "-o", tmp_path / "out.wacz", "--json")
    assert done.code == 0, done.err
    assert msgspec.json.decode(done.out.encode(), type=PublishSummary).captures == 6
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        ((crawl, "-o", tmp_path / "a.wacz"), "publish needs the kind of file"),
        ((crawl, "--wacz", "-o", tmp_path / "a.zip"), "must end in .wacz"),
        ((crawl, "--wacz", "-o", tmp_path / "out.wacz"), "already exists"),
        ((tmp_path / "empty", "--wacz", "-o", tmp_path / "a.wacz"), "has no crawl.toml"),
        ((crawl, "--wacz", "-o", tmp_path / "a.wacz", "--takedown", tmp_path / "no"), "No such file"),
    ):
        done = command(*arguments)
        assert done.code == 2 and words in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "a.wacz").exists()


@pytest.mark.long
def test_the_reference_tools_accept_the_file_and_make_the_same_index(tmp_path: Path, crawl: Path) -> None:
    """Compare with py-wacz and cdxj-indexer, which leaves out a media type that is unknown."""
    pytest.importorskip("wacz", reason="needs py-wacz: pip install wacz")
    run(crawl, tmp_path / "out.wacz", text=True)
    done = subprocess.run([sys.executable, "-m", "wacz", "validate", "-f", str(tmp_path / "out.wacz")])
    assert done.returncode == 0
    with zipfile.ZipFile(tmp_path / "out.wacz") as file:
        own = index(file)
        file.extractall(tmp_path / "out")
    files = sorted(map(str, (tmp_path / "out" / "archive").iterdir()))
    listed = subprocess.run(
        [sys.executable, "-c", "from cdxj_indexer.main import main; main()", "--sort", *files],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = [(line.split(" ", 1)[0], json.loads(line.split(" ", 2)[2])) for line in listed.stdout.splitlines()]
    assert sorted((key, row.get("mime", "unk"), row["offset"], row["digest"]) for key, row in theirs) == sorted(
        (key, row["mime"], row["offset"], row["digest"]) for key, row in own
    )
