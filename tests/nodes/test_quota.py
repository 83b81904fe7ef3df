"""Quotas: equal parts, no more than a node has room for, and enough for all shards."""

from hypothesis import given
from hypothesis import strategies as st

from windrow.nodes import quota
from windrow.nodes.quota import Capacity


def quotas(slots: list[int], shards: int) -> list[int]:
    """Return the quotas of nodes that have no room beyond their slots."""
    everybody = [Capacity(number, number) for number in slots]
    return [quota.of(own, everybody, shards) for own in everybody]


def test_a_node_with_few_slots_leaves_more_to_the_others() -> None:
    assert quotas([2, 8], 8) == [2, 6]
    assert quotas([4, 4, 4], 10) == [4, 4, 4]
    assert quotas([8, 8], 5) == [3, 3]
    assert quotas([8], 0) == [0]
    assert quotas([3, 3], 100) == [3, 3]


def test_nodes_take_more_than_their_slots_only_if_all_of_them_have_too_few() -> None:
    small, large = Capacity(8, 16), Capacity(16, 60)
    assert [quota.of(node, [small, large], 24) for node in (small, large)] == [8, 16]
    assert [quota.of(node, [small, large], 32) for node in (small, large)] == [16, 16]
    assert [quota.of(node, [small, large], 50) for node in (small, large)] == [16, 34]
    assert quota.of(small, [small], 32) == 16, "the rest waits for another node"


def test_the_capacity_of_a_machine_comes_from_its_cores_and_its_memory() -> None:
    assert quota.capacity(2, 16 << 30) == Capacity(8, 32)
    assert quota.capacity(8, 4 << 30) == Capacity(32, 32)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 300))
def test_the_quotas_hold_all_shards_and_are_level(slots: list[int], shards: int) -> None:
    found = quotas(slots, shards)
    assert all(given <= own for given, own in zip(found, slots, strict=True))
    assert sum(found) >= min(shards, sum(slots))
    level = max(found)
    assert all(given == min(own, level) for given, own in zip(found, slots, strict=True))
    if shards < sum(slots) and level:
        assert sum(min(own, level - 1) for own in slots) < shards, "no lower level would do"
