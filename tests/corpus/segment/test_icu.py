import sys

import pytest

from windrow.config import ConfigError
from windrow.corpus.segment import icu


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("tha", "ภาษา ไทย เป็น ภาษา"),
        ("lao", "ພາສາ ລາວ ເປັນ ພາສາ"),
        ("khm", "ភាសា\u200b ខ្មែរ"),
        ("mya", "စကား သည်"),
        ("zho", "我们 在 北京"),
        ("jpn", "東京 で 働く"),
        ("eng", "ภาษา ไทย"),
    ],
)
def test_words_are_found_by_dictionary(language: str, expected: str) -> None:
    pytest.importorskip("icu4py", reason="needs icu4py")
    assert icu.cut(expected.replace(" ", ""), language) == expected.split(" ")


def test_without_the_library_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    icu._breaker.cache_clear()
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    with pytest.raises(ConfigError, match=r"pip install 'windrow-corpus\[words\]'"):
        icu.check()
    icu._breaker.cache_clear()
