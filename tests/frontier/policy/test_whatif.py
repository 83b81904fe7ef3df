"""Table 1 of Suchomel and Pomikálek (2012), from the sizes they print; and the ladder on small crawls by hand."""

import itertools
import math

import pytest

from windrow.config import ConfigError, FrontierOptions
from windrow.frontier.policy import budget, whatif
from windrow.log import SiteAccount

# threshold, domains above it, crawler output in GB, final data in GB, yield
PUBLISHED = [
    (None, 51645, 1288.87, 4.91, 0.0038),
    (0.0, 31024, 1181.56, 4.91, 0.0042),
    (0.0001, 29580, 705.07, 4.90, 0.0069),
    (0.0002, 28710, 619.44, 4.89, 0.0079),
    (0.0004, 27460, 513.86, 4.86, 0.0095),
    (0.0008, 25956, 407.30, 4.80, 0.0118),
    (0.0016, 24380, 307.27, 4.68, 0.0152),
    (0.0032, 22325, 214.18, 4.47, 0.0209),
    (0.0064, 19463, 142.38, 4.13, 0.0290),
    (0.0128, 15624, 85.69, 3.62, 0.0422),
    (0.0256, 11277, 45.05, 2.91, 0.0646),
    (0.0512, 7003, 18.61, 1.98, 0.1064),
    (0.1024, 3577, 5.45, 1.06, 0.1945),
    (0.2048, 1346, 1.76, 0.54, 0.3068),
    (0.4096, 313, 0.21, 0.10, 0.4762),
]
BYTES = budget.rule(FrontierOptions(yield_form="bytes"))
PAGES = budget.rule(FrontierOptions(yield_form="pages"))


def account(downloaded: int, kept: int, yields: float = 0.0, pages: int = 1) -> SiteAccount:
    made = SiteAccount()
    made.pages, made.downloaded, made.kept, made.yields = pages, downloaded, kept, round(yields * budget.PAGE)
    return made


def portuguese() -> list[SiteAccount]:
    """Return a crawl with the published table.

    Between two thresholds it has as many domains as the two rows differ by, all alike, with the bytes that differ.
    """
    made = []
    steps = [*PUBLISHED, (None, 0, 0.0, 0.0, 0.0)]
    for (_, domains, output, final, _), (_, fewer, less, smaller, _) in itertools.pairwise(steps):
        count = domains - fewer
        made += [
            account(round((output - less) * 1e9 / count), round((final - smaller) * 1e9 / count)) for _ in range(count)
        ]
    return made


def test_the_ladder_is_the_published_one() -> None:
    assert [None if math.isinf(step) else step for step in whatif.LADDER] == [row[0] for row in PUBLISHED]


def test_table_1_comes_out_of_a_crawl_with_its_sizes() -> None:
    rows = whatif.ladder(portuguese(), whatif.LADDER, BYTES)
    found = [
        (row.threshold, row.domains, round(row.downloaded / 1e9, 2), round(row.kept / 1e9, 2), round(row.rate, 4))
        for row in rows
    ]
    assert found == PUBLISHED


def test_the_headline_of_table_1_a_fifteenth_of_the_download_for_three_quarters_of_the_text() -> None:
    everything, above = whatif.ladder(portuguese(), (-math.inf, 0.0128), BYTES)
    assert round(above.downloaded / 1e9) == 86
    assert above.downloaded / everything.downloaded < 0.07
    assert round(above.kept / everything.kept, 3) == 0.737


def test_a_domain_on_a_threshold_is_not_above_it() -> None:
    rows = whatif.ladder([account(100, 10), account(100, 0), account(0, 0)], (-math.inf, 0.0, 0.0999, 0.1), BYTES)
    assert [(row.domains, row.downloaded, row.kept) for row in rows] == [
        (3, 200, 10),
        (1, 100, 10),
        (1, 100, 10),
        (0, 0, 0),
    ]


def test_the_mean_of_the_pages_and_the_ratio_of_the_bytes_differ() -> None:
    """A small page of text only, and a large page without text: one half by pages, one tenth by bytes."""
    domain = account(1000, 100, yields=1.0, pages=2)
    assert [whatif.ladder([domain], (0.2,), rule)[0].domains for rule in (BYTES, PAGES)] == [0, 1]
    assert whatif.ladder([domain], (0.2,), PAGES)[0].rate == 0.1


def test_a_crawl_without_domains_has_empty_rows() -> None:
    assert [(row.domains, row.rate) for row in whatif.ladder([], whatif.LADDER, BYTES)] == [(0, 0.0)] * 15


def test_a_ladder_is_read_in_any_order() -> None:
    assert whatif.steps("0.5, none,0,0.5") == (-math.inf, 0.0, 0.5)


@pytest.mark.parametrize("text", ["", "a", "0.1,,0.2", "-1", "nan", "inf", "-inf"])
def test_what_is_not_a_ladder_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--ladder"):
        whatif.steps(text)
