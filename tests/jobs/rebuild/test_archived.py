"""`windrow rebuild ARCHIVE… -o DIR`: a corpus from archive files of any program, the same on every run."""

from pathlib import Path

import pytest

from tests.jobs import demos, inline, warcs
from tests.jobs.demos import documents
from windrow.config import ConfigError
from windrow.jobs import engine
from windrow.jobs.rebuild import archived
from windrow.jobs.rebuild.archived import ArchivesOptions, ArchivesSummary

WORDS = (
    "The old mill stands at the river, and its wheel has turned for more than two hundred years without a rest. "
    "People from the villages around it still bring their grain there in autumn, because the flour is better. "
)


def page(number: int, text: str = "") -> bytes:
    own = text or " ".join(f"Story {number} tells of the {word} number {number}." for word in WORDS.split())
    return f"<html><head><title>Page {number}</title></head><body><p>{WORDS}</p><p>{own}</p></body></html>".encode()


def run(inputs: list[Path], output: Path, *settings: str, workers: int = 1, options: str = "") -> ArchivesSummary:
    chosen = ArchivesOptions(inputs=[str(path) for path in inputs], output=output, config=options, settings=settings)
    sources = archived.find(chosen.inputs)
    if workers == 1:
        return archived.corpus(chosen, sources, None, lambda pages: None)
    with engine.open("local", workers=workers) as opened:
        return archived.corpus(chosen, sources, opened, lambda pages: None)


def files(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*.gz")}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of the demo web without probes for soft-404 pages: what they say is in the log only."""
    directory = tmp_path_factory.mktemp("archived") / "crawl"
    return demos.crawl(directory, "crawl.max_pages=120", "archive.max_bytes=200000")


def test_the_archive_of_a_crawl_gives_the_corpus_of_the_crawl(crawl: Path, tmp_path: Path) -> None:
    done = run([crawl / "warc"], tmp_path / "out", options=str(crawl / "crawl.toml"))
    assert list(documents(tmp_path / "out")) == list(documents(crawl))
    assert done.files > 1 and done.documents == len(list(documents(crawl))) > 40
    assert (done.damages, done.bad) == ([], [])


@pytest.fixture
def mixed(tmp_path: Path) -> list[Path]:
    """Files of several programs and formats: gzip, zstd, plain, ARC and WET."""
    pages = [warcs.record(f"http://a.example/{number}", page(number)) for number in range(30)]
    text = f"{WORDS}\n" + " ".join(f"Another line {number} of the text." for number in range(40))
    wet = warcs.record("http://b.example/text", b"").replace(b"WARC-Type: response", b"WARC-Type: conversion")
    head, _, _ = wet.partition(b"Content-Type")
    block = text.encode()
    wet = head + b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(block) + block + b"\r\n\r\n"
    arc = b"HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + page(99, "An old page about the ferry. " * 12)
    line = b"http://c.example/old page 192.0.2.1 20010203040506 text/html %d\n" % len(arc)
    (tmp_path / "c.arc").write_bytes(line + arc + b"\n")
    return [
        warcs.write(tmp_path / "a.warc.gz", pages[:15]),
        warcs.write(tmp_path / "b.warc.zst", pages[10:20], "zstd"),
        tmp_path / "c.arc",
        warcs.write(tmp_path / "d.warc.wet", [wet], ""),
        warcs.write(tmp_path / "e.warc", pages[20:], ""),
    ]


OPEN = ("dedup.near_duplicates=false",)


def test_files_of_every_format_give_documents_in_their_order(mixed: list[Path], tmp_path: Path) -> None:
    done = run(mixed, tmp_path / "out", *OPEN)
    found = [document for _, document in documents(tmp_path / "out")]
    numbers = [f"http://a.example/{number}" for number in range(30)]
    others = ["http://c.example/old%20page", "http://b.example/text"]
    assert [document["url"] for document in found] == numbers[:20] + others + numbers[20:]
    assert (done.files, done.pages, done.documents) == (5, 37, 32)
    assert done.reasons["duplicate"] == 5 and (done.damaged, done.bad) == (0, [])
    old = found[20]
    assert old["place"]["file"] == f"{tmp_path.name}/c.arc" and old["place"]["offset"] == 0  # type: ignore[index]
    assert found[21]["paragraphs"][0]["text"] == WORDS.strip()  # type: ignore[index]


def test_the_files_of_the_corpus_are_the_same_for_any_number_of_processes(mixed: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    for workers in (1, 2, 3):
        run(mixed, tmp_path / str(workers), workers=workers)
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "3") != {}


def test_damage_and_files_that_are_none_are_named_and_the_rest_goes_on(mixed: list[Path], tmp_path: Path) -> None:
    whole = mixed[0].read_bytes()
    mixed[0].write_bytes(whole[:2000] + bytes(100) + whole[2100:])
    none = tmp_path / "x.warc.gz"
    none.write_bytes(b"no archive")
    (tmp_path / "y.warc").touch()
    sources = [*mixed, none, tmp_path / "y.warc"]
    done = run(sources, tmp_path / "out", *OPEN)
    assert done.damaged == 1 and (done.damages[0].file, done.damages[0].start) == (str(mixed[0]), done.damages[0].start)
    assert 0 < done.damages[0].start < 2100 <= done.damages[0].end < len(whole)
    assert [(bad.source, bad.problem.partition(":")[0]) for bad in done.bad] == [
        (str(none), "this is not an archive file"),
        (str(tmp_path / "y.warc"), "this is not an archive file"),
    ]
    assert done.documents == 30  # two members of the first file were hit


def test_no_readable_file_is_an_error_and_leaves_no_output(tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(b"no archive")
    with pytest.raises(ConfigError, match=r"no file could be read; the first, .*x\.warc: this is not an archive file"):
        run([tmp_path / "x.warc"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_patterns_and_directories_are_searched(mixed: list[Path], tmp_path: Path) -> None:
    assert archived.find([str(tmp_path / "*.warc*")]) == [str(path) for path in mixed if ".warc" in path.name]
    assert archived.find([str(tmp_path)]) == [str(path) for path in mixed]
    with pytest.raises(ConfigError, match="there is no file or directory"):
        archived.find([str(tmp_path / "*.nothing")])


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("damage", [b"", b"\x1f\x8b\x08 damage"])
def test_revisits_give_the_text_of_their_originals(tmp_path: Path, parallel: bool, damage: bytes) -> None:
    original = warcs.record("http://a.example/1", page(1), WARC="")
    name = original.split(b"WARC-Record-ID: ")[1].split(b"\r\n")[0]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    revisit = (
        b"WARC/1.0\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:uuid:2>\r\nWARC-Date: 2025-01-01T00:00:00Z\r\n"
        b"WARC-Target-URI: http://b.example/2\r\nWARC-Refers-To: %b\r\nContent-Type: application/http\r\n"
        b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (name, len(head), head)
    )
    sources = [warcs.write(tmp_path / "1.warc.gz", [revisit]), warcs.write(tmp_path / "2.warc.gz", [original])]
    sources[0].write_bytes(damage + sources[0].read_bytes())
    chosen = ArchivesOptions(inputs=[], output=tmp_path / "out", settings=OPEN)
    with inline.engine(tmp_path / "work") as engine:
        done = archived.corpus(chosen, list(map(str, sources)), engine if parallel else None, lambda pages: None)
    assert done.damaged == bool(damage)
    assert done.reasons == {"ok": 1, "duplicate": 1}
    assert [document["url"] for _, document in documents(tmp_path / "out")] == ["http://b.example/2"]
    assert not list(tmp_path.glob(".out*"))


def test_what_is_on_the_takedown_list_is_left_out(mixed: list[Path], tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("a.example\n")
    chosen = ArchivesOptions(inputs=[], output=tmp_path / "out", settings=OPEN, takedown=tmp_path / "list.txt")
    done = archived.corpus(chosen, [str(path) for path in mixed], None, lambda pages: None)
    assert (done.documents, done.listed, done.reasons["takedown"]) == (2, 30, 30)


def test_an_existing_corpus_is_not_overwritten(mixed: list[Path], tmp_path: Path) -> None:
    run(mixed[:1], tmp_path / "out")
    before = files(tmp_path / "out")
    with pytest.raises(ConfigError, match="exists already"):
        run(mixed, tmp_path / "out")
    assert files(tmp_path / "out") == before


def test_without_an_extractor_there_is_no_corpus(mixed: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="without text there is no corpus"):
        run(mixed, tmp_path / "out", "extract.extractor=none")
