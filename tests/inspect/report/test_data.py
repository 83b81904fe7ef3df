"""The numbers of a report, from small crawls made by hand."""

import json
from pathlib import Path

import pytest

from tests.inspect.report import crawls
from tests.logs import url, write
from windrow.config import ConfigError
from windrow.inspect import report
from windrow.inspect.report import data
from windrow.inspect.report.data import Numbers, RankedSite
from windrow.records import Frame, Task


def read(directory: Path, unit: str = "domain") -> Numbers:
    return data.read(directory, unit)


def test_every_admitted_url_waits_or_finished_with_one_reason(tmp_path: Path) -> None:
    found = read(crawls.german(tmp_path))
    (seen, *_) = found.sums
    assert seen.parts == {
        "ok": 3,
        "language": 1,
        "low-yield": 1,
        "no-text": 1,
        "timeout": 1,
        "waiting or in flight": 1,
    }
    assert (found.seen, found.waiting, seen.total) == (8, 1, 8)
    assert all(entry.holds for entry in found.sums)


def test_bytes_and_text_add_up_by_their_sources(tmp_path: Path) -> None:
    _, downloaded, kept, documents = read(crawls.german(tmp_path)).sums
    assert (downloaded.total, downloaded.parts) == (50_376, {"pages": 50_000, "robots.txt": 321, "broken off": 55})
    assert (kept.total, kept.parts) == (6100, {"deu": 6100})
    assert (documents.total, documents.parts) == (3, {"ok": 3})


def test_a_log_that_finishes_more_urls_than_it_admits_does_not_add_up(tmp_path: Path) -> None:
    write(
        tmp_path / "log",
        Frame(1, 1.0, (crawls.page("a.de", "1"), crawls.page("a.de", "1")), {}, (Task(url("1", "a.de")),)),
    )
    found = read(tmp_path)
    assert [entry.holds for entry in found.sums] == [False, True, True, True]


def test_totals_languages_and_top_level_domains(tmp_path: Path) -> None:
    found = read(crawls.german(tmp_path))
    assert (found.pages, found.documents, found.tokens, found.downloaded) == (5, 3, 1200, 50_000)
    assert (found.clean, found.kept, found.rate) == (14_000, 6100, 0.122)
    assert [(share.name, share.urls, share.documents, share.tokens, share.kept) for share in found.languages] == [
        ("deu", 3, 3, 1200, 6100),
        ("eng", 1, 0, 0, 0),
    ]
    assert [(share.name, share.domains, share.urls, share.kept) for share in found.tlds] == [
        ("de", 1, 2, 6000),
        ("at", 1, 1, 100),
        ("com", 2, 2, 0),
    ]
    assert (found.retried, found.refused) == ({"connect": 1}, {"tld": 7})


def test_domains_are_ranked_by_text_and_by_cost(tmp_path: Path) -> None:
    found = read(crawls.german(tmp_path))
    assert found.richest == [
        RankedSite("rich.de", 2, 2, 20_000, 6000, 0.3),
        RankedSite("some.at", 1, 1, 10_000, 100, 0.01),
    ]
    assert [(domain.name, domain.closed) for domain in found.costliest] == [
        ("rich.de", 0),
        ("mixed.com", 0),
        ("poor.com", 1),
        ("some.at", 0),
    ]
    assert (found.domains, found.retired) == (4, 1)
    assert [domain.name for domain in read(tmp_path, "host").richest] == ["a.rich.de", "b.rich.de", "some.at"]


def test_every_domain_is_in_one_cell_of_the_scatter_plot(tmp_path: Path) -> None:
    cells = read(crawls.german(tmp_path)).cells
    assert sum(cell.domains for cell in cells) == 4
    assert [(cell.name, cell.domains, cell.retired) for cell in cells if not cell.kept] == [("mixed.com", 2, 1)]
    for cell in cells:
        assert cell.downloaded == pytest.approx(20_000 if cell.name == "rich.de" else 10_000, rel=0.03)


@pytest.mark.parametrize(
    ("domain", "tld"),
    [("a.co.uk", "uk"), ("127.0.0.1", "(address)"), ("[2001:db8::1]", "(address)"), ("localhost", "localhost")],
)
def test_the_top_level_domain_of_a_name(domain: str, tld: str) -> None:
    assert data.tld(domain) == tld


def test_a_crawl_that_has_not_begun_has_numbers_too(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    found = read(tmp_path)
    assert (found.pages, found.rate, found.seen, found.cells, found.curve) == (0, 0.0, 0, [], [])
    assert all(entry.holds for entry in found.sums)


def test_crawls_with_the_same_name_are_named_by_their_paths(tmp_path: Path) -> None:
    for parent in ("x", "y"):
        (tmp_path / parent).mkdir()
        crawls.german(tmp_path / parent / "c")
    both = [tmp_path / "x" / "c", tmp_path / "y" / "c"]
    assert [crawl.name for crawl in report.read(both)] == [str(path) for path in both]
    assert [crawl.name for crawl in report.read(both[:1])] == ["c"]


def test_a_directory_without_a_crawl_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no crawl"):
        report.read([crawls.german(tmp_path / "a"), tmp_path])


def test_pages_on_the_takedown_list_count_without_their_text_and_their_hosts_are_not_named(tmp_path: Path) -> None:
    whole = read(crawls.german(tmp_path / "whole"))
    listed = crawls.german(tmp_path / "listed")
    (listed / "takedown.txt").write_text("rich.de\nhttp://some.at/1\n")
    found = read(listed)
    assert (found.seen, found.pages, found.downloaded) == (whole.seen, whole.pages, whole.downloaded)
    assert (whole.documents, found.documents, found.kept, found.tokens) == (3, 0, 0, 0)
    assert all(entry.holds for entry in found.sums)
    assert found.richest == [] and [site.name for site in whole.richest] == ["rich.de", "some.at"]
    assert "rich.de" not in str(found) and "(takedown)" in [site.name for site in found.costliest]
    assert [share.name for share in found.languages] == ["eng"], "only the text of a page that is not listed"


def test_shards_of_one_crawl_are_counted_together(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    alone = read(crawls.german(tmp_path / "alone"))
    whole = tmp_path / "whole"
    for number in range(2):
        (place := whole / "shards" / f"{number:03}").mkdir(parents=True)
        crawls.german(place)
    (whole / "job.json").write_text(json.dumps({"job": {"id": "1", "name": "whole", "shards": 2}}))
    found = read(whole)
    assert found.name == "whole"
    for name in ("seen", "waiting", "responses", "pages", "documents", "tokens", "downloaded", "clean", "kept"):
        assert getattr(found, name) == 2 * getattr(alone, name), name
    assert all(entry.holds for entry in found.sums)
    assert (found.first, found.last, found.seconds) == (alone.first, alone.last, alone.seconds), "they ran together"
    assert sum(point.pages for point in found.curve) == 2 * sum(point.pages for point in alone.curve)
    assert [point.seconds for point in found.curve] == sorted(point.seconds for point in found.curve)
