"""The shard of a domain never changes, and the log says what was exchanged."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import frame, url
from windrow import sharding
from windrow.records import Exchanged, Task, Watermark
from windrow.sharding import JobIdentity


@pytest.mark.parametrize(
    ("domain", "of_4", "of_32", "of_1000"),
    [
        ("example.org", 1, 5, 277),
        ("example.co.uk", 3, 11, 211),
        ("xn--bcher-kva.example", 2, 6, 982),
        ("192.0.2.7", 1, 29, 901),
        ("[2001:db8::1]", 2, 30, 142),
        ("", 2, 2, 138),
    ],
)
def test_the_shard_of_a_domain_is_known_for_ever(domain: str, of_4: int, of_32: int, of_1000: int) -> None:
    assert [sharding.shard_of(domain, count) for count in (1, 4, 32, 1000)] == [0, of_4, of_32, of_1000]


def test_links_are_split_by_the_registered_domain_and_not_by_the_host() -> None:
    tasks = [Task(url("x", host)) for host in ("a.example.org", "b.example.org", "a.example.net", "example.org")]
    org, net = (sharding.shard_of(name, 1000) for name in ("example.org", "example.net"))
    assert sharding.split(tasks, 1000) == {org: [*tasks[:2], tasks[3]], net: [tasks[2]]}


def test_the_log_says_what_was_exchanged() -> None:
    frames = [
        msgspec.structs.replace(frame(1), incarnation=100),
        msgspec.structs.replace(frame(2), receivers=(1, 3), got={1: Watermark(7, 5)}),
        frame(3),
        msgspec.structs.replace(frame(4), incarnation=200, receivers=(3,), got={2: Watermark(8, 1)}),
    ]
    found = Exchanged()
    for written in frames:
        found = sharding.apply(found, written)
    assert found == Exchanged(
        incarnations=(Watermark(100, 1), Watermark(200, 4)),
        got={1: Watermark(7, 5), 2: Watermark(8, 1)},
        tails={1: 2, 3: 4},
    )


def test_only_the_latest_incarnations_are_remembered() -> None:
    found = Exchanged()
    for number in range(1, sharding.KEPT + 5):
        found = sharding.apply(found, msgspec.structs.replace(frame(number), incarnation=number))
    assert [begun.incarnation for begun in found.incarnations] == list(range(5, sharding.KEPT + 5))


LIVES = (Watermark(100, 1), Watermark(200, 50), Watermark(300, 90))


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (Watermark(300, 95), Watermark(300, 95)),  # of the latest: as it is
        (Watermark(100, 30), Watermark(300, 30)),  # the log outlived the process
        (Watermark(100, 49), Watermark(300, 49)),
        (Watermark(100, 70), Watermark(300, 49)),  # frames 50 to 70 were lost, and their numbers given again
        (Watermark(0, 0), Watermark(300, 0)),  # never heard of
        (Watermark(150, 60), Watermark(300, 0)),  # of a log that was lost
    ],
)
def test_a_watermark_of_an_earlier_incarnation_holds_for_what_the_log_still_has(
    mark: Watermark, expected: Watermark
) -> None:
    assert sharding.translated(mark, LIVES) == expected


def test_the_earliest_number_that_was_given_again_counts() -> None:
    assert sharding.translated(Watermark(100, 70), (*LIVES[:2], Watermark(300, 20))) == Watermark(300, 19)


@given(st.text(), st.integers(1, 4096))
def test_every_domain_has_a_shard(domain: str, count: int) -> None:
    assert 0 <= sharding.shard_of(domain, count) < count


def test_a_command_for_a_shard_is_that_for_all_shards(tmp_path: Path) -> None:
    alone, whole = tmp_path / "alone", tmp_path / "whole"
    one = whole / "shards" / "001"
    one.mkdir(parents=True)
    record = {"name": "wwhole-12ab", "id": "12ab", "shards": 2}
    for place, number in ((whole, -1), (one, 1)):
        (place / "job.json").write_text(json.dumps({"job": record, "shard": number}))
    assert sharding.command("resume", alone) == f"windrow resume {alone}"
    assert sharding.command("set", one) == sharding.command("set", whole) == f"windrow set {whole}"
    (whole / "state.json").touch()
    assert sharding.command("resume", one) == sharding.command("resume", whole) == "windrow cluster resume wwhole-12ab"


def test_the_name_that_windrow_crawl_makes_is_shown_without_its_id() -> None:
    assert JobIdentity("12ab", "wwhole-12ab", 2).title == "whole"
    assert JobIdentity("12ab", "weather", 2).title == "weather"
