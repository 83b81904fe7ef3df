import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import scripts
from windrow.corpus.segment import clusters


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ภาษา ไทย เป็น ภาษา ที่ มี ระดับ เสียง", "ภา|ษา|ไท|ย|เป็น|ภา|ษา|ที่|มี|ระ|ดับ|เสีย|ง"),
        ("วรรณยุกต์ หรือ ก็ ตัว เกาะ น้ำ", "ว|ร|ร|ณ|ยุ|กต์|ห|รือ|ก็|ตัว|เกาะ|น้ำ"),
        ("ພາສາ ລາວ ເປັນ ທາງການ ເມືອງ", "ພາ|ສາ|ລາ|ວ|ເປັນ|ທາ|ງ|ກາ|ນ|ເມືອ|ງ"),
        ("ភាសា ខ្មែរ គឺជា ស្ត្រី", "ភា|សា|ខ្មែ|រ|គឺ|ជា|ស្ត្រី"),
        ("မြန်မာ ဘာသာ နိုင်ငံ မန္တလေး ကျွန်ုပ်", "မြန်|မာ|ဘာ|သာ|နိုင်|ငံ|မန္တ|လေး|ကျွန်ုပ်"),
    ],
)
def test_a_text_without_spaces_is_split_between_words_and_never_inside_a_letter(words: str, expected: str) -> None:
    found = clusters.cut(words.replace(" ", ""))
    assert "|".join(found) == expected
    ends = {sum(map(len, found[: number + 1])) for number in range(len(found))}
    parts = words.split()
    assert all(sum(map(len, parts[: number + 1])) in ends for number in range(len(parts)))


def test_zero_width_spaces_separate_words_unless_a_word_is_too_long() -> None:
    assert clusters.cut("ភាសា\u200bខ្មែរ\u200b") == ["ភាសា\u200b", "ខ្មែរ\u200b"]
    assert clusters.cut("ភាសាខ្មែរ" * 3 + "\u200bខ្មែរ")[-1] == "ខ្មែរ"
    assert clusters.cut("ភាសាខ្មែរ" * 3 + "\u200b")[:2] == ["ភា", "សា"]


LETTERS = [chr(code) for code in range(0xE00, 0x1800) if re.match(f"[{scripts.CLUSTERED}]", chr(code))]


@given(st.text(st.sampled_from([*LETTERS, clusters.SPACE]), min_size=1))
def test_joined_clusters_give_the_run(run: str) -> None:
    found = clusters.cut(run)
    assert "".join(found) == run and all(found)


@pytest.mark.parametrize("piece", ["ก", "เ", "ั", "ិ", "្ក", "က်", "\u200b", "็ก", "กิ"])
def test_hostile_runs_take_linear_time(piece: str) -> None:
    run = piece * (200_000 // len(piece))
    assert "".join(clusters.cut(run)) == run
