"""The tables of `windrow what-if`: the published threshold function, and what it does to small crawls."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.logs import frame, page, write
from windrow import cli
from windrow.config import ConfigError
from windrow.frontier.policy import budget
from windrow.frontier.policy.whatif import THRESHOLDS, WhatIfTables
from windrow.inspect import whatif
from windrow.records import Entry


def pages(host: str, count: int, downloaded: int, kept: int) -> list[Entry]:
    return [page(str(number), host, downloaded=downloaded, clean=kept, kept=kept) for number in range(count)]


def crawl(directory: Path, *entries: Entry) -> Path:
    directory.mkdir(exist_ok=True)
    write(directory / "log", frame(1, *entries))
    return directory


def tables(directory: Path, *thresholds: str, settings: tuple[str, ...] = ()) -> WhatIfTables:
    return whatif.run(directory, whatif.question(directory, thresholds, "", "domain", settings))


def test_table_2_is_the_strict_threshold(tmp_path: Path) -> None:
    (rule,) = whatif.question(tmp_path, ["strict"], "", "domain", []).rules()
    assert [round(budget.threshold(rule, pages), 10) for pages in (10, 100, 1000, 10000)] == [0.0, 0.01, 0.02, 0.03]
    assert budget.threshold(rule, 9) < 0


def test_a_domain_without_text_is_retired_after_its_eleventh_page_and_half_a_megabyte(tmp_path: Path) -> None:
    """t(10) is 0 and a yield of 0 is not below it; t(11) is above 0."""
    crawl(tmp_path, *pages("poor.example", 40, 60_000, 0))
    (strict,) = tables(tmp_path, "strict").rules
    assert (strict.retired, strict.pages, strict.downloaded) == (1, 11, 660_000)


def test_no_domain_is_retired_before_eight_pages_and_512_kB(tmp_path: Path) -> None:
    crawl(tmp_path, *pages("many.example", 100, 5242, 0), *pages("large.example", 7, 1_000_000, 0))
    (found,) = tables(tmp_path, "1,-9").rules
    assert found.retired == 0
    crawl(tmp_path / "more", *pages("many.example", 101, 5242, 0), *pages("large.example", 8, 1_000_000, 0))
    (found,) = tables(tmp_path / "more", "1,-9").rules
    assert found.retired == 2


def test_every_domain_is_retired_in_the_end(tmp_path: Path) -> None:
    """The threshold passes a yield of 1 % where 0.01·(log10 n - 1) does: after 100 pages."""
    crawl(tmp_path, *pages("good.example", 150, 10_000, 100))
    (strict,) = tables(tmp_path, "strict").rules
    assert (strict.retired, strict.pages) == (1, 101)
    assert (strict.kept, strict.kept_lost, strict.rate) == (10_100, 4_900, 0.01)


def test_a_stricter_rule_downloads_less(tmp_path: Path) -> None:
    rates = [0, 5, 20, 40, 80, 160, 320]
    crawl(tmp_path, *[page for rate in rates for page in pages(f"d{rate}.example", 300, 10_000, rate)])
    strict, normal, permissive, off = tables(tmp_path, "strict", "normal", "permissive", "off").rules
    assert strict.downloaded < normal.downloaded < permissive.downloaded < off.downloaded == 7 * 300 * 10_000
    assert strict.rate > normal.rate > permissive.rate > off.rate
    for rule in (strict, normal, permissive, off):
        assert rule.pages + rule.pages_saved == 2100
        assert rule.downloaded + rule.downloaded_saved == off.downloaded
        assert rule.kept + rule.kept_lost == off.kept == 300 * sum(rates)


def test_the_options_of_the_crawl_define_a_yield_unless_settings_change_them(tmp_path: Path) -> None:
    crawl(tmp_path, *pages("a.example", 20, 60_000, 6))
    (tmp_path / "crawl.toml").write_text('[frontier]\nyield_form = "pages"\ngrace_pages = 15\n')
    found = tables(tmp_path, "strict")
    assert (found.form, found.grace_pages, found.rules[0].pages) == ("pages", 15, 15)
    found = tables(tmp_path, "strict", settings=("frontier.grace_pages=12", "frontier.yield_form=bytes"))
    assert (found.form, found.grace_pages, found.rules[0].pages) == ("bytes", 12, 12)


@pytest.mark.parametrize(("threshold", "unit"), [("stricter", "domain"), ("0.1", "domain"), ("strict", "path")])
def test_a_threshold_or_unit_that_does_not_exist_is_refused(tmp_path: Path, threshold: str, unit: str) -> None:
    crawl(tmp_path)
    with pytest.raises(ConfigError):
        whatif.run(tmp_path, whatif.question(tmp_path, [threshold], "", unit, []))


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    crawl(tmp_path, *pages("a.example", 20, 60_000, 600))
    shown = CliRunner().invoke(cli.app, ["what-if", str(tmp_path)])
    assert shown.exit_code == 0
    lines = [line.split() for line in shown.output.splitlines()]
    assert ["(all)", "1", "1.20", "MB", "12.0", "kB", "0.0100"] in lines
    assert ["0.0128", "0", "0", "bytes", "0", "bytes", "0.0000"] in lines
    assert [line[0] for line in lines if line and line[0] in THRESHOLDS] == list(THRESHOLDS)
    read = json.loads(
        CliRunner()
        .invoke(cli.app, ["what-if", str(tmp_path), "--json", "--ladder", "none,0.005", "--threshold", "off"])
        .output
    )
    assert [(row["threshold"], row["domains"], row["yield"]) for row in read["ladder"]] == [
        (None, 1, 0.01),
        (0.005, 1, 0.01),
    ]
    assert [(rule["threshold"], rule["retired"]) for rule in read["rules"]] == [("off", 0)]
    assert math.isclose(read["rules"][0]["yield"], 0.01)


def test_a_rule_loses_the_pages_of_a_domain_after_it_retired_the_domain(tmp_path: Path) -> None:
    crawl(tmp_path, *pages("poor.example", 5, 1000, 10), *pages("rich.example", 5, 1000, 900))
    grace = ("frontier.grace_pages=3", "frontier.grace_bytes=2000")
    never, strict = tables(tmp_path, "off", "0.1,0", settings=grace).rules
    assert (never.retired, never.pages_saved, never.downloaded_saved, never.kept_lost) == (0, 0, 0, 0)
    # t(3) = 0.048 > 0.01, so the third page is the last; the grace of bytes was over after the second.
    assert (strict.retired, strict.pages_saved, strict.downloaded_saved, strict.kept_lost) == (1, 2, 2000, 20)
