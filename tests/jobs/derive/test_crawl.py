"""A crawl's own directory: its committed pages, its options, its takedown list."""

from pathlib import Path

import pytest

from tests.jobs.derive.made import documents, records
from windrow.config import ConfigError
from windrow.jobs import engine
from windrow.jobs.derive import run
from windrow.jobs.derive.run import DeriveRequest, DeriveSummary


def derive(request: DeriveRequest, work: Path) -> DeriveSummary:
    run.check(request)
    with engine.open("local", work, workers=1) as opened:
        return run.run(request, opened)


def test_every_page_of_the_crawl_is_derived(crawled: Path, tmp_path: Path) -> None:
    request = DeriveRequest(inputs=[crawled], output=tmp_path / "out", wat=True, wet="main", links=True, pages=True)
    summary = derive(request, tmp_path / "work")
    texts, _ = documents(crawled)
    assert summary.wet >= len(texts) and summary.pages >= summary.wet and summary.links > summary.pages
    assert summary.bad == summary.damaged == []
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "links.parquet",
        "pages.parquet",
        "wat",
        "wet",
    ]


def test_bytes_that_are_not_committed_are_not_read(crawled: Path, tmp_path: Path) -> None:
    request = DeriveRequest(inputs=[crawled], output=tmp_path / "out", wet="all")
    before = derive(request, tmp_path / "work")
    newest = sorted((crawled / "warc").iterdir())[-1]
    with newest.open("ab") as file:
        file.write(b"\x1f\x8b\x08 half a record")
    try:
        after = derive(request, tmp_path / "work")
    finally:
        with newest.open("r+b") as file:
            file.truncate(newest.stat().st_size - len(b"\x1f\x8b\x08 half a record"))
    assert after == before and after.damaged == []


def test_pages_of_the_takedown_list_are_left_out(crawled: Path, tmp_path: Path) -> None:
    whole = derive(DeriveRequest(inputs=[crawled], output=tmp_path / "whole", wet="all"), tmp_path / "work")
    first = records(tmp_path / "whole" / "wet")[1].target
    (tmp_path / "list.txt").write_text(f"{first}\n")
    request = DeriveRequest(inputs=[crawled], output=tmp_path / "out", wet="all", takedown=tmp_path / "list.txt")
    summary = derive(request, tmp_path / "work")
    assert first not in {record.target for record in records(tmp_path / "out" / "wet")}
    assert summary.left_out >= 3 and summary.wet < whole.wet


def test_a_crawl_without_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "crawl.toml").write_text("")
    with pytest.raises(ConfigError, match="has no archive yet"):
        derive(DeriveRequest(inputs=[tmp_path / "crawl"], output=tmp_path / "out", wat=True), tmp_path / "work")
