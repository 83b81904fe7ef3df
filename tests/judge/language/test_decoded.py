"""The copy of py3langid's model gives the same answers, and whatever is wrong with it does not matter."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from windrow.judge.language import decoded

TEXTS = (
    "",
    "1 2 3",
    "Das ist ein kurzer Satz über das Wetter.",
    "DAS IST EIN SATZ IN GROSSBUCHSTABEN",
    "Сегодня вечером пойдёт дождь.",
    "今天晚上会下雨。",
    "Mirëdita, si jeni sot? " * 40,
    "\ud800 \ufffe",
)


@pytest.fixture(scope="module")
def model() -> Any:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@pytest.fixture
def decodings(model: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each time the model is decoded."""
    noted: list[str] = []
    monkeypatch.setattr(LanguageIdentifier, "from_model_file", lambda *_, **__: noted.append("decoded") or model)
    return noted


def assert_equal(found: Any, model: Any) -> None:
    for text in TEXTS:
        assert (found.classify(text), found.rank(text)) == (model.classify(text), model.rank(text))


def test_the_copy_is_made_once_and_gives_the_same_answers(tmp_path: Path, model: Any, decodings: list[str]) -> None:
    found = [decoded.identifier(tmp_path / "a" / "windrow") for _ in range(3)]
    assert decodings == ["decoded"]
    for identifier in found:
        assert_equal(identifier, model)
    [copy] = (tmp_path / "a" / "windrow").iterdir()
    assert copy.stat().st_mode & 0o777 == 0o600 and copy.parent.stat().st_mode & 0o777 == 0o700
    assert Path("/proc/self/maps").read_text().count(str(copy)) == 3


def test_a_choice_of_languages_gives_the_same_answers(tmp_path: Path, model: Any, decodings: list[str]) -> None:
    found = decoded.identifier(tmp_path)
    try:
        for identifier in (found, model):
            identifier.set_languages(["de", "sr", "zh", "sq"])
        assert_equal(found, model)
    finally:
        model.set_languages(None)


@pytest.mark.parametrize("at", [0, 17, 300, 60_000_000, -1])
def test_a_copy_with_a_wrong_byte_is_made_again(tmp_path: Path, model: Any, decodings: list[str], at: int) -> None:
    decoded.identifier(tmp_path)
    [copy] = tmp_path.iterdir()
    whole = copy.read_bytes()
    damaged = bytearray(whole)
    damaged[at] ^= 1
    copy.write_bytes(damaged)
    assert_equal(decoded.identifier(tmp_path), model)
    assert copy.read_bytes() == whole and len(decodings) == 2


@pytest.mark.parametrize("content", [b"", b"x", bytes(20), bytes(1 << 20)])
def test_a_file_that_is_no_copy_is_replaced(tmp_path: Path, model: Any, decodings: list[str], content: bytes) -> None:
    decoded.identifier(tmp_path)
    [copy] = tmp_path.iterdir()
    copy.write_bytes(content)
    assert_equal(decoded.identifier(tmp_path), model)
    assert copy.stat().st_size > 60_000_000 and list(tmp_path.iterdir()) == [copy]


def test_a_copy_that_others_can_change_is_replaced(tmp_path: Path, model: Any, decodings: list[str]) -> None:
    decoded.identifier(tmp_path)
    [copy] = tmp_path.iterdir()
    copy.chmod(0o666)
    assert_equal(decoded.identifier(tmp_path), model)
    assert copy.stat().st_mode & 0o777 == 0o600 and len(decodings) == 2


def test_a_copy_of_another_user_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any, decodings: list[str]
) -> None:
    decoded.identifier(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert_equal(decoded.identifier(tmp_path), model)
    assert len(decodings) == 2


def test_without_a_place_for_a_copy_each_process_decodes(tmp_path: Path, model: Any, decodings: list[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    for _ in range(2):
        assert_equal(decoded.identifier(tmp_path / "file"), model)
    assert len(decodings) == 2 and [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any, decodings: list[str]
) -> None:
    monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(28, "no space")))
    assert_equal(decoded.identifier(tmp_path), model)
    assert list(tmp_path.iterdir()) == []


def test_processes_that_start_at_once_end_up_with_one_copy(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from windrow.judge.language import decoded\n"
        "found = decoded.identifier(Path(sys.argv[1])); print(found.classify('Das ist ein kurzer Satz.')[0])\n"
        "print(sys.argv[1] in Path('/proc/self/maps').read_text())"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].split() for process in running] == [["de", "True"]] * 3
    assert len(list(tmp_path.iterdir())) == 1
