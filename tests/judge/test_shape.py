"""The counts of a text; the kernel equals its reference for every text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.judge import shape

TEXTS = ["", "abc", "äöü", "日本", "\U0001f600", "\ud800x"]


@pytest.fixture(params=["kernel", "reference"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "reference":
        monkeypatch.setattr(shape, "_shape", None)
    elif shape._shape is None:
        pytest.skip("needs the C kernel, which was not built")


@pytest.mark.usefixtures("implementation")
def test_characters_words_and_sentences_are_counted() -> None:
    assert shape.count(["Two dogs, 12 cats.", "Two dogs, 12 cats.", "& more 日本"]) == (
        (26, 10, 4, 4, 1, 2),
        11,
        7,
        45,
        8,
        36,
    )
    assert shape.count([]) == shape.count([""]) == ((0, 0, 0, 0, 0, 0), 0, 0, 0, 0, 0)
    assert shape.count(["x" * 99, "x" * 100])[5] == 100
    assert shape.count(["a b " * 1000])[:3] == ((1500, 1500, 0, 0, 0, 0), 1500, 2)


@pytest.mark.usefixtures("implementation")
def test_octets_are_those_of_the_text_in_utf_8() -> None:
    assert shape.octets(TEXTS) == [len(text.encode("utf-8", "surrogatepass")) for text in TEXTS]


needs_kernel = pytest.mark.skipif(shape._shape is None, reason="needs the C kernel, which was not built")


@needs_kernel
@given(
    st.lists(st.text() | st.text(st.sampled_from("ab .。1\t\u2003\u3000日\ud800\U0001f600")), max_size=8),
    st.integers(1, 60),
)
def test_the_kernel_counts_the_same_as_its_reference(texts: list[str], times: int) -> None:
    assert shape.count(texts) == shape._count(texts)
    assert shape.count(texts * times) == shape._count(texts * times)


@needs_kernel
def test_the_kernel_puts_every_character_into_the_same_class_as_its_reference() -> None:
    for start in range(0, 0x110000, 2048):
        characters = [chr(code) for code in range(start, start + 2048)]
        assert shape.count(["".join(characters)]) == shape._count(["".join(characters)])
        assert shape.count(characters) == shape._count(characters)


@needs_kernel
def test_other_objects_than_strings_are_rejected() -> None:
    for wrong in ([b"bytes"], [1]):
        with pytest.raises(TypeError):
            shape.count(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            shape.octets(wrong)  # type: ignore[arg-type]
