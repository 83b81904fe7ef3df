import random

from windrow.dedup.earlier import EarlierKeys


def test_a_key_is_known_from_the_next_source_on() -> None:
    keys = EarlierKeys()
    keys.add([7, 2**64 - 1])
    assert not keys.has(7)
    keys.next()
    assert keys.has(7) and keys.has(2**64 - 1) and not keys.has(8) and not keys.has(0)


def test_the_keys_of_all_earlier_sources_are_known() -> None:
    chance = random.Random(1)
    sources = [[chance.getrandbits(64) for _ in range(500)] for _ in range(3)]
    keys = EarlierKeys()
    for source in sources:
        keys.add(source)
        keys.next()
    assert len(keys) == 1500
    assert all(keys.has(key) for source in sources for key in source)
    assert not any(keys.has(chance.getrandbits(64)) for _ in range(500))


def test_a_source_without_documents_changes_nothing() -> None:
    keys = EarlierKeys()
    keys.next()
    keys.add([1])
    keys.next()
    keys.next()
    assert keys.has(1) and len(keys) == 1
