"""Confidence intervals: what they hold, on what they depend, and where there is none."""

import numpy as np
import pytest

from windrow.extraction.evaluation import bootstrap
from windrow.extraction.evaluation.bootstrap import Estimate, Numbers


def mean(sums: Numbers) -> Numbers:
    means: Numbers = sums[..., :-1] / sums[..., -1:]
    return means


def interval(values: list[float], sites: list[str], name: str = "x") -> Estimate:
    return bootstrap.estimates(bootstrap.draws([(one, 1.0) for one in values], sites, mean, name))[0]


def test_the_interval_of_a_mean_is_as_wide_as_theory_says() -> None:
    """Of 400 values with standard deviation 1, the mean has the standard error 1/20."""
    values = np.random.default_rng(1).normal(5, 1, 400).tolist()
    found = interval(values, list(map(str, range(400))))
    assert found.value == pytest.approx(np.mean(values))
    assert found.margin == pytest.approx(1.96 / 20, rel=0.1)
    assert found.low is not None and found.high is not None and found.low < found.value < found.high


def test_pages_of_one_site_count_as_one_draw() -> None:
    """Ten times the same value is no more evidence than once."""
    values = np.random.default_rng(2).normal(5, 1, 40).tolist()
    alone = interval(values, list(map(str, range(40))))
    repeated = interval(
        [one for one in values for _ in range(10)], [str(site) for site in range(40) for _ in range(10)]
    )
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))


def test_the_same_pages_give_the_same_interval_and_a_group_has_draws_of_its_own() -> None:
    values, sites = [0.1, 0.5, 0.9, 0.3], list("abcd")
    assert interval(values, sites) == interval(values, sites)
    assert interval(values, sites, "x").value == interval(values, sites, "y").value
    wide = list(np.random.default_rng(3).normal(0, 1, 50)), list(map(str, range(50)))
    assert interval(*wide, "x") != interval(*wide, "y")


def test_one_site_has_no_interval() -> None:
    assert interval([0.2, 0.4], ["a", "a"]) == Estimate(pytest.approx(0.3))
    assert interval([0.2, 0.4], ["a", "a"]).margin is None


def test_the_mean_of_groups_gives_each_the_same_weight() -> None:
    big = bootstrap.draws([(1.0, 1.0)] * 9, list("abcdefghi"), mean, "big")
    small = bootstrap.draws([(0.0, 1.0)], ["a"], mean, "small")
    assert bootstrap.estimates(bootstrap.mean([big, small])) == [Estimate(0.5, 0.5, 0.5)]
    assert bootstrap.estimates(bootstrap.mean([small, small])) == [Estimate(0.0)]
