"""Quotas: equal parts, no more than a node has slots, and enough for all shards."""

from hypothesis import given
from hypothesis import strategies as st

from windrow.cluster import quota


def test_a_node_with_few_slots_leaves_more_to_the_others() -> None:
    assert [quota.of(slots, [2, 8], 8) for slots in (2, 8)] == [2, 6]
    assert [quota.of(slots, [4, 4, 4], 10) for slots in (4, 4, 4)] == [4, 4, 4]
    assert quota.of(8, [8, 8], 5) == 3
    assert quota.of(8, [8], 0) == 0
    assert quota.of(3, [3, 3], 100) == 3


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 300))
def test_the_quotas_hold_all_shards_and_are_level(slots: list[int], shards: int) -> None:
    quotas = [quota.of(own, slots, shards) for own in slots]
    assert all(given <= own for given, own in zip(quotas, slots, strict=True))
    assert sum(quotas) >= min(shards, sum(slots))
    level = max(quotas)
    assert all(given == min(own, level) for given, own in zip(quotas, slots, strict=True))
    if shards < sum(slots) and level:
        assert sum(min(own, level - 1) for own in slots) < shards, "no lower level would do"
