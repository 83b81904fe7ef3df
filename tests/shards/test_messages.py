"""Links come back from their bytes as they were sent, and bytes from elsewhere are refused."""

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import url
from windrow.frontier.local.territory import SentKeys
from windrow.frontier.policy import value
from windrow.records import MOST_HINTS, Task, Watermark
from windrow.shards import messages
from windrow.shards.messages import Ack, Batch, Hello, MessageError, Standing

TASKS = st.builds(
    Task,
    st.builds(url, st.text("abc/?=", max_size=8), st.sampled_from(["a.org", "b.example.co.uk:81", "[2001:db8::1]"])),
    priority=st.integers(0, 255),
    depth=st.integers(0, 9),
    distance=st.integers(0, 9),
    redirects=st.integers(0, 2),
    via=st.sampled_from(["", "http://a.org/", "http://b.org/"]),
    embed=st.integers(0, 1),
    hints=st.binary(max_size=60),
)


@given(st.lists(TASKS, max_size=20))
def test_links_come_back_as_they_were_sent(tasks: list[Task]) -> None:
    assert messages.unpack(messages.pack(tasks)) == tasks


def test_a_link_takes_about_twenty_bytes() -> None:
    links = [
        Task(url(f"{site}/{page}.html", f"www.site{site}.org"), depth=2, via=f"http://www.d{site % 7}.org/{site}")
        for site in range(100)
        for page in range(3)
    ]
    assert len(messages.pack(links)) / len(links) < 23


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        zstandard.compress(b"x"),
        zstandard.compress(msgspec.msgpack.encode([["via", 1, 1, 1, 1, 0, ["no url"]]])),
        zstandard.compress(msgspec.msgpack.encode([["via", 1, 1, 1, 1, 0, ["http://a.org/"], [b"x" * 129]]])),
        zstandard.compress(msgspec.msgpack.encode([["via", 1, 1, 1, 1, 0, ["http://a.org/"], [b"", b""]]])),
        zstandard.compress(msgspec.msgpack.encode([["via", "1", 1, 1, 1, 0, []]])),
    ],
)
def test_bytes_that_are_no_links_are_refused(data: bytes) -> None:
    with pytest.raises(MessageError):
        messages.unpack(data)


def test_a_batch_that_would_fill_the_memory_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "LARGEST", 1000)
    with pytest.raises(MessageError, match="1001 bytes"):
        messages.unpack(zstandard.compress(b"\0" * 1001))


@pytest.mark.parametrize(
    ("record", "read"),
    [
        (Batch(1, 2, 3, 4, b"5"), messages.batch),
        (Hello(7, 3, (Watermark(5, 1), Watermark(7, 2))), messages.hello),
        (Ack(7, Watermark(1, 2), 3), messages.ack),
        (Standing(7, frame=1, idle=True, ended=(1, 2), waiting=3, finished=4, rate=5.5), messages.standing),
    ],
)
def test_a_message_comes_back_as_it_was_sent(record: object, read: object) -> None:
    assert callable(read) and read(messages.encode(record)) == record
    with pytest.raises(MessageError):
        read(b"\xc1")


def test_a_link_is_sent_once_while_its_key_is_remembered() -> None:
    keys = SentKeys(1 << 10)
    links = [Task(url(str(number))) for number in range(50)]
    assert keys.fresh(links) == tuple(links)
    assert len(keys.fresh(links)) < 5  # two keys may have one place


def test_a_new_link_is_never_taken_for_one_that_was_sent() -> None:
    keys = SentKeys(2)
    for key in (0, 1, 2, 3, 2**64 - 1):
        task = Task(msgspec.structs.replace(url("a"), key=key))
        assert keys.fresh([task]) == (task,) and keys.fresh([task]) == ()


@pytest.mark.parametrize("size", [0, 1, 3, 1000])
def test_the_number_of_keys_is_a_power_of_two(size: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        SentKeys(size)


def test_links_that_the_frontier_has_described_are_carried_whole() -> None:
    above = value.Parent(url("/b"), "eng", 1.0, 0.5, 99, 3)
    hints = value.hints(url("/a"), bytes(range(MOST_HINTS)), above)
    assert len(hints) > MOST_HINTS
    (task,) = messages.unpack(messages.pack([Task(url("/a"), hints=hints)]))
    assert task.hints == hints
