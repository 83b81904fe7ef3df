"""Order by expected yield: the formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.frontier.policy import steer
from windrow.frontier.policy.rank import RANK
from windrow.frontier.policy.steer import CrawlYield, YieldSums

sums = st.tuples(st.integers(0, 10**8), st.integers(0, 10**8))
accounts = st.builds(
    CrawlYield,
    st.builds(YieldSums, st.floats(0, 1e8), st.floats(0, 1e8)),
    st.builds(YieldSums, st.floats(0, 1e8), st.floats(0, 1e8)),
)


@given(sums, sums, accounts, st.integers(0, 254))
def test_a_better_rank_and_more_text_are_never_worse(
    host: tuple[int, int], domain: tuple[int, int], account: CrawlYield, rank: int
) -> None:
    here = steer.expected(host, domain, account, rank)
    assert here >= 0
    assert steer.expected(host, domain, account, rank + 1) <= here
    assert steer.expected((host[0] + 1000, host[1]), domain, account, rank) >= here
    assert steer.expected(host, (domain[0] + 1000, domain[1]), account, rank) >= here


def test_the_yield_of_a_host_counts_more_the_more_it_sent() -> None:
    account = CrawlYield()
    guesses = [steer.expected((size // 2, size), (0, 10**6), account, RANK) for size in (0, 10_000, 100_000, 10**7)]
    assert guesses == sorted(guesses)
    assert guesses[0] < 0.01
    assert guesses[-1] == pytest.approx(0.5, abs=0.01)


def test_a_new_host_is_expected_to_yield_like_its_domain_or_like_other_new_hosts() -> None:
    account = CrawlYield(first=YieldSums(200_000, 1_000_000))
    assert steer.expected((0, 0), (0, 0), account, RANK) == pytest.approx(205_000 / 1_100_000)
    assert steer.expected((0, 0), (9 * 10**6, 10**7), account, RANK) == pytest.approx(0.9, abs=0.01)


def test_32_ranks_earlier_mean_twice_the_yield() -> None:
    here, better = (steer.expected((10, 100), (10, 100), CrawlYield(), rank) for rank in (100 + steer.DOUBLE, 100))
    assert better == pytest.approx(2 * here)


def test_only_the_first_pages_of_a_host_predict_the_yield_of_new_hosts() -> None:
    account = CrawlYield()
    for pages in range(2 * steer.FIRST):
        steer.enter(account, pages, 10, 100)
    assert (account.first.text, account.first.downloaded) == (10 * steer.FIRST, 100 * steer.FIRST)


def test_the_yield_of_the_crawl_is_that_of_its_recent_pages() -> None:
    account = CrawlYield()
    for _ in range(3000):
        steer.enter(account, 100, 90, 100)
    for _ in range(10_000):
        steer.enter(account, 100, 10, 100)
    assert account.recent.text / account.recent.downloaded == pytest.approx(0.1, abs=0.001)
    assert steer.good(0.051, account)
    assert not steer.good(0.049, account)


def test_before_any_text_was_found_every_host_is_good() -> None:
    account = CrawlYield()
    steer.enter(account, 0, 0, 1000)
    assert steer.good(0.0, account)
