"""Postings give every frame that has a token, and few others."""

import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.log import postings
from windrow.log.newpostings import NewPostings
from windrow.log.postings import Postings

TOKENS = st.lists(st.lists(st.binary(max_size=3), max_size=6), max_size=30)  # of each frame


def packed(frames: Sequence[Sequence[bytes]], before: Postings | None = None) -> bytes:
    """Return postings of frames that are 10 bytes long each."""
    made = NewPostings(before)
    for tokens in frames:
        made.add(tokens, made.end + 10)
    return made.packed(b"tail", 0)


def starts(frames: Sequence[Sequence[bytes]], token: bytes) -> list[int]:
    return [10 * number for number, tokens in enumerate(frames) if token in tokens]


@given(TOKENS, TOKENS, st.integers(1, 7))
def test_a_frame_is_found_by_each_of_its_tokens(first: list[list[bytes]], more: list[list[bytes]], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "BLOCK", block)
        before = Postings(io.BytesIO(packed(first)))
        whole = packed(first + more)
        assert packed(more, before) == whole, "extended or made at once"
        made = Postings(io.BytesIO(whole))
        assert made.head.end == 10 * len(first + more)
        for token in {token for tokens in first + more for token in tokens}:
            assert made.find([token]) == starts(first + more, token)
        assert made.find([b"none of them"]) == []
        everything = {token for tokens in first + more for token in tokens}
        assert made.find(everything) == [10 * number for number, tokens in enumerate(first + more) if tokens]


def test_more_frames_than_two_bytes_can_count_are_found() -> None:
    frames = [[b"%d" % number, b"all"] for number in range((1 << 16) + 2)]
    before = Postings(io.BytesIO(packed(frames[:100])))
    whole = packed(frames[100:], before)
    assert whole == packed(frames)
    made = Postings(io.BytesIO(whole))
    for number in (0, 99, 100, (1 << 16) - 1, 1 << 16, (1 << 16) + 1):
        assert 10 * number in made.find([b"%d" % number])
    assert len(made.find([b"all"])) == len(frames)


def test_every_damaged_byte_is_noticed() -> None:
    frames = [[b"a", b"b"], [b"a"], [b"c"]]
    whole = packed(frames)
    for at in range(len(whole)):
        damaged = whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        with pytest.raises(ValueError):
            Postings(io.BytesIO(damaged)).find([b"a"])
    for length in range(len(whole)):
        with pytest.raises(ValueError):
            Postings(io.BytesIO(whole[:length])).find([b"a"])


def test_an_answer_reads_the_head_and_one_block() -> None:
    class Counting(io.BytesIO):
        bytes = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.bytes += len(data)
            return data

    frames = [[b"%d" % (100 * number + token) for token in range(100)] for number in range(1000)]
    file = Counting(packed(frames))
    made = Postings(file)
    assert made.find([b"777"]) == [70]
    assert file.bytes < 20_000 < len(file.getvalue()) / 20
