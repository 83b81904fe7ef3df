"""Normalisation, Eq. 1 to 3, and the discretisation into scopes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.extraction.main.lines import features
from windrow.extraction.main.lines.features import Cuts


def rows(*values: float) -> np.ndarray:
    """Lines that have the same value in all six features."""
    return np.array([[value] * 6 for value in values])


AT = Cuts((0.0,) * 6, (0.4,) * 6, (1.0,) * 6)


def test_index_is_relative_to_the_number_of_lines_and_counts_to_the_largest_of_the_page() -> None:
    raw = np.array(
        [[1, 10, 5, 0.5, 4, 0], [2, 100, 80, 0.8, 1, 2], [3, 50, 50, 1, 0, 1], [4, 1, 1, 1, 0, 0]], dtype=float
    )
    scaled = features.normalised(raw)
    assert scaled[:, 0].tolist() == [0.25, 0.5, 0.75, 1]
    assert scaled[:, 3].tolist() == [0.5, 0.8, 1, 1]
    assert scaled[:, 4].tolist() == [1, 0.25, 0, 0]
    assert scaled[:, 5].tolist() == [0, 1, 0.5, 0]


def test_lengths_are_normalised_by_their_logarithms() -> None:
    raw = np.array([[1, 999, 99, 0.1, 0, 0], [2, 9, 9, 1, 0, 0]], dtype=float)
    assert features.normalised(raw)[:, 1:3].round(6).tolist() == [[1, 1], [0.333333, 0.5]]


def test_no_page_is_too_poor_to_be_normalised() -> None:
    assert features.normalised(np.zeros((0, 6))).shape == (0, 6)
    assert features.normalised(np.array([[1.0, 1, 1, 1, 0, 0]])).tolist() == [[1, 1, 1, 1, 0, 0]]


def test_the_centre_of_the_page_and_the_rest_have_equal_weight() -> None:
    """Lines 3 and 4 of 6 are the centre.

    The second feature has MIN 0.6, MEAN 0.7, MAX 0.8 there, and 0.1, 0.3, 0.5 elsewhere.
    """
    page = np.zeros((6, 6))
    page[:, 0] = np.arange(1, 7) / 6
    page[:, 1] = [0.1, 0.3, 0.6, 0.8, 0.3, 0.5]
    cuts = features.cuts([page])
    assert (cuts.minimum[1], cuts.mean[1], cuts.maximum[1]) == pytest.approx((0.35, 0.5, 0.65))


def test_the_weight_is_a_half_whatever_the_sizes_of_the_regions() -> None:
    page = np.zeros((9, 6))
    page[:, 0] = np.arange(1, 10) / 9
    page[3:6, 2] = 1
    assert features.cuts([page, page]).mean[2] == pytest.approx(0.5)


def test_one_line_is_one_region() -> None:
    assert features.cuts([np.array([[1, 0.5, 0.5, 1, 0, 0]])]).mean == (1, 0.5, 0.5, 1, 0, 0)


@pytest.mark.parametrize(
    ("value", "low", "middle", "high"),
    [
        (-1.0, 1, 0, 0),
        (0.0, 1, 0, 0),  # F.MIN
        (0.1, 0.75, 0.25, 0),
        (0.2, 0.5, 0.5, 0),  # F.Low
        (0.3, 0.25, 0.75, 0),
        (0.4, 0, 1, 0),  # F.MEAN
        (0.55, 0, 0.75, 0.25),
        (0.7, 0, 0.5, 0.5),  # F.High
        (0.85, 0, 0.25, 0.75),
        (1.0, 0, 0, 1),  # F.MAX
        (2.0, 0, 0, 1),
    ],
)
def test_the_table_of_scopes(value: float, low: float, middle: float, high: float) -> None:
    assert features.memberships(rows(value), AT)[0, 0] == pytest.approx([low, middle, high])


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0.1, [0.75, 0, 0]),
        (0.19, [0.525, 0, 0]),
        (0.21, [0, 0.525, 0]),
        (0.69, [0, 31 / 60, 0]),
        (0.71, [0, 0, 31 / 60]),
    ],
)
def test_only_the_larger_probability_is_kept(value: float, kept: list[float]) -> None:
    assert features.discretised(rows(value), AT)[0, :3] == pytest.approx(kept)


@given(st.floats(-1, 2), st.tuples(*[st.floats(0, 1)] * 3).map(sorted))
def test_probabilities_sum_to_one_and_at_most_two_are_not_zero(value: float, at: list[float]) -> None:
    cuts = Cuts((at[0],) * 6, (at[1],) * 6, (at[2],) * 6)
    found = features.memberships(rows(value), cuts)[0, 0]
    assert found.sum() == pytest.approx(1)
    assert (found > 0).sum() <= 2
    assert (found >= 0).all()
    assert (features.discretised(rows(value), cuts)[0, :3] > 0).sum() == 1


def test_a_feature_that_never_varies_is_low() -> None:
    at = Cuts((0.0,) * 6, (0.0,) * 6, (0.0,) * 6)
    assert features.memberships(rows(0.0), at)[0, 0].tolist() == [1, 0, 0]
    assert features.memberships(rows(0.5), at)[0, 0].tolist() == [0, 0, 1]
