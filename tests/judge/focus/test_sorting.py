"""Sorting by packed numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.judge.focus import sorting


@given(st.lists(st.integers(0, 20)))
def test_equal_values_keep_their_order(values: list[int]) -> None:
    expected = sorted(range(len(values)), key=lambda place: values[place])
    assert sorting.stable(np.array(values, np.int32)).tolist() == expected


@given(st.lists(st.integers(0, 64) | st.integers(0, 2**64 - 1), unique=True))
def test_keys_that_differ_in_few_bits_are_sorted_too(keys: list[int]) -> None:
    order = sorting.of_keys(np.array(keys, np.uint64))
    assert [keys[place] for place in order.tolist()] == sorted(keys)
