"""Other programs read our WAT and WET files."""

import json
from pathlib import Path

import pytest
from fastwarc import warc as fastwarc
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_cli

from tests.jobs import warcs
from tests.jobs.derive.made import derived, records

PAGES = [
    warcs.record(f"http://a.example/{page}", f"<title>{page}</title><a href=x>ü {page}</a>".encode())
    for page in range(5)
]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    derived(warcs.write(tmp_path / "a.warc.gz", PAGES), tmp_path / "out", wat=True, wet="all")
    return tmp_path / "out"


@pytest.mark.parametrize(("folder", "kind"), [("wat", "metadata"), ("wet", "conversion")])
def test_warcio_reads_and_checks_every_record(output: Path, folder: str, kind: str) -> None:
    (path,) = (output / folder).iterdir()
    with path.open("rb") as file:
        read = [
            (record.rec_type, record.content_stream().read()) for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert read == [(record.type, record.block) for record in records(output / folder)]
    assert [name for name, _ in read] == ["warcinfo"] + [kind] * 5
    with pytest.raises(SystemExit) as end:
        warcio_cli(["check", str(path)])
    assert end.value.code == 0


@pytest.mark.parametrize("folder", ["wat", "wet"])
def test_fastwarc_reads_every_record(output: Path, folder: str) -> None:
    (path,) = (output / folder).iterdir()
    with path.open("rb") as file:
        read = [record.reader.read() for record in fastwarc.ArchiveIterator(file, parse_http=False)]
    assert read == [record.block for record in records(output / folder)]


def test_the_links_of_a_wat_file_are_found_where_common_crawls_jobs_look(output: Path) -> None:
    """The members that link extraction over Common Crawl's WAT files reads."""
    (path,) = (output / "wat").iterdir()
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "metadata" and record.content_type == "application/json":
                envelope = json.loads(record.content_stream().read())["Envelope"]
                if envelope["WARC-Header-Metadata"]["WARC-Type"] == "response":
                    page = envelope["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"]
                    found += [(link["path"], link["url"], link["text"]) for link in page["Links"]]
    assert found == [("A@/href", "x", f"ü {page}") for page in range(5)]
