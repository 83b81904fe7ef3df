"""File names and subsets."""

from pathlib import Path

import pytest

from tests.archive.captures import capture
from windrow.archive import names
from windrow.config import ConfigError


@pytest.mark.parametrize(
    ("status", "file", "subset"),
    [
        (200, "", "warc"),
        (204, "", "warc"),
        (301, "", "diagnostics"),
        (404, "", "diagnostics"),
        (503, "", "diagnostics"),
        (200, "robots", "robotstxt"),
        (404, "robots", "robotstxt"),
        (200, "tdmrep", "robotstxt"),
        (302, "tdmrep", "robotstxt"),
        (200, "soft404", "diagnostics"),
    ],
)
def test_a_capture_goes_to_its_subset(status: int, file: str, subset: str) -> None:
    assert names.subset(capture(file=file).task, status) == subset


def test_a_name_is_made_of_prefix_node_start_and_serial() -> None:
    assert names.name(names.series("WINDROW", "n0"), 1763200000.9, 7) == "WINDROW-n0-20251115094640-00007.warc.gz"


@pytest.mark.parametrize("part", ["", "../up", "a/b", ".hidden", "a b", "a\n", "x" * 65, "*"])
def test_text_that_cannot_be_part_of_a_file_name_is_refused(part: str) -> None:
    with pytest.raises(ConfigError, match=r"archive\.prefix"):
        names.series(part, "n0")
    with pytest.raises(ConfigError, match=r"crawl\.node"):
        names.series("WINDROW", part)


@pytest.mark.parametrize(
    ("name", "serial"),
    [
        ("W-n0-20251115094640-00007.warc.gz", 7),
        ("W-n0-20251115094640-123456.warc.gz", 123456),
        ("W-n0-more-20251115094640-00007.warc.gz", None),
        ("W-n1-20251115094640-00007.warc.gz", None),
        ("W-n0-20251115094640-00007.warc.gz.torn", None),
        ("W-n0-2025-00007.warc.gz", None),
    ],
)
def test_the_serial_of_a_name_is_read_back(name: str, serial: int | None) -> None:
    assert names.serial(name, "W-n0") == serial


def test_numbers_continue_over_all_subsets_and_files_moved_aside(tmp_path: Path) -> None:
    assert names.following(tmp_path, "W-n0") == 0
    for name in (
        "warc/W-n0-20251115094640-00003.warc.gz",
        "diagnostics/W-n0-20251115094640-00007.warc.gz.torn",
        "robotstxt/other",
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    assert names.following(tmp_path, "W-n0") == 8
    assert names.following(tmp_path, "W-n1") == 0


def test_the_newest_file_is_the_one_with_the_highest_number(tmp_path: Path) -> None:
    assert names.newest(tmp_path / "none", "W-n0") is None
    for name in (
        "W-n0-20251115094640-100000.warc.gz",
        "W-n0-20261115094640-99999.warc.gz",
        "W-n1-20261115094640-200000.warc.gz",
    ):
        (tmp_path / name).touch()
    assert names.newest(tmp_path, "W-n0") == tmp_path / "W-n0-20251115094640-100000.warc.gz"


@pytest.mark.parametrize(
    "place", ["/etc/passwd", "warc/../../x", "warc/x.warc.gz", "state/W-n0-20251115094640-00007.warc.gz", ""]
)
def test_a_path_that_no_writer_makes_does_not_belong_to_a_crawl(place: str) -> None:
    assert not names.belongs(place)
    assert names.belongs("warc/W-n0-20251115094640-00007.warc.gz")


@pytest.mark.parametrize(
    ("name", "wat", "table"),
    [
        ("CC-MAIN-1-2-00000.warc.gz", "CC-MAIN-1-2-00000.warc.wat.gz", "CC-MAIN-1-2-00000.parquet"),
        ("a.warc", "a.warc.wat.gz", "a.parquet"),
        ("a.warc.zst", "a.warc.wat.gz", "a.parquet"),
        ("a.ARC.gz", "a.ARC.wat.gz", "a.parquet"),
        ("a.b", "a.b.wat.gz", "a.b.parquet"),
        (".gz", ".gz.wat.gz", ".gz.parquet"),
    ],
)
def test_a_derived_file_is_named_after_its_source(name: str, wat: str, table: str) -> None:
    assert names.derived(name, "wat") == wat
    assert names.derived(name, "links") == table


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/x/crawl/warc/a.warc.gz", "warc/a.warc.gz"),
        ("/x/crawl/diagnostics/a.warc.gz", "diagnostics/a.warc.gz"),
        ("/x/folder/a.warc.gz", "a.warc.gz"),
        ("/x/crawl-data/CC/segments/1.2/warc/a.warc.gz", "crawl-data/CC/segments/1.2/warc/a.warc.gz"),
    ],
)
def test_tables_name_a_file_from_its_subset_on(path: str, place: str) -> None:
    assert names.place(Path(path)) == place
