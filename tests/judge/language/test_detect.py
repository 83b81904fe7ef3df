"""The language of pages and paragraphs, and the commands of `windrow language`."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.judge import declarations
from windrow import cli
from windrow.config import ConfigError, LanguageOptions
from windrow.judge.language import accept, codes, detect, trigrams
from windrow.judge.language.settings import LanguageSettings, prepare

PLAIN = LanguageSettings()
LANGUAGES = ("ar", "cs", "de", "en", "es", "fi", "fr", "ja", "pl", "ru", "tr", "vi")


@pytest.mark.parametrize("short", LANGUAGES)
def test_the_language_of_a_page_and_its_paragraphs_is_detected(short: str) -> None:
    texts = declarations.shipped(short)
    found = detect.detect(texts, PLAIN)
    assert found.language == codes.parse(short)
    assert found.score > 0.7
    assert found.shares == {found.language: 1.0}
    assert found.paragraphs == (found.language,) * len(texts)


def test_the_share_of_a_single_paragraph_in_a_language_is_measured() -> None:
    german = "Alle Menschen sind frei und gleich an Würde und Rechten geboren."
    english = "All human beings are born free and equal in dignity and rights."
    assert detect.share(german, "deu") == pytest.approx(0.98, abs=0.02)
    assert detect.share(english, "deu") == 0.0
    mixed = detect.share(f"{german} {german} {english}", "deu")
    assert mixed is not None and 0.2 < mixed < 0.8
    assert detect.share(
        "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima.", "bos"
    ) == detect.share("Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima.", "hrv")
    assert detect.share("Windows 11", "deu") is None
    assert detect.share("風が吹く。", "deu") == 0.0


def test_foreign_paragraphs_are_found_among_the_others() -> None:
    texts = declarations.shipped("cs")[:12]
    texts[4:4] = ["Everyone has the right to freedom of peaceful assembly and association."]
    texts += ["Jeder hat das Recht auf Bildung."]
    found = detect.detect(texts, PLAIN)
    assert found.language == "ces"
    assert [place for place, code in enumerate(found.paragraphs) if code != "ces"] == [4, len(texts) - 1]
    assert (found.paragraphs[4], found.paragraphs[-1]) == ("eng", "deu")
    assert list(found.shares) == ["ces", "eng", "deu"]
    assert sum(found.shares.values()) == pytest.approx(1)


def test_foreign_paragraphs_are_found_far_down_a_long_page() -> None:
    texts = [*declarations.shipped("de"), *declarations.shipped("de")]
    foreign = {
        40: declarations.shipped("en")[3],
        61: declarations.shipped("pl")[8],
        83: "Všichni jsou si před zákonem rovni a mají na ochranu právo.",
    }
    for place, text in foreign.items():
        texts[place:place] = [text]
    found = detect.detect(texts, PLAIN)
    assert len(texts) > 100 and found.language == "deu"
    assert {place: code for place, code in enumerate(found.paragraphs) if code != "deu"} == {
        40: "eng",
        61: "pol",
        83: "ces",
    }


def test_a_page_that_begins_in_another_language_is_kept_if_half_of_it_is_accepted() -> None:
    english, german = (
        [text for text in declarations.shipped(short) if len(text) > 80][:number]
        for short, number in (("en", 12), ("de", 30))
    )
    found = detect.detect([*english, *german], LanguageSettings(accepted=("deu",)))
    assert found.paragraphs == ("eng",) * len(english) + ("deu",) * len(german)
    assert accept.accept(found, LanguageSettings(accepted=("deu",))).dropped == tuple(range(len(english)))
    wanted = detect.detect([*english, *german], LanguageSettings(accepted=("fra",)))
    assert wanted.language == "deu" and not accept.accept(wanted, LanguageSettings(accepted=("fra",))).enough


def test_a_short_line_gets_the_page_language_unless_it_is_a_sentence_or_in_another_script() -> None:
    texts = [
        *declarations.shipped("de")[3:9],
        "LibreOffice Writer Guide",
        "Everyone has the right to life.",
        "日本語の文章",
    ]
    assert detect.detect(texts, PLAIN).paragraphs[-3:] == ("deu", "eng", "jpn")


@pytest.mark.parametrize(
    "texts", [[], [""], ["   "], ["1234 5678", "---"], ["\0\x01\x02"], ["\ud800\udfff"], ["\U0001fffe\ufdd0"]]
)
def test_the_language_of_a_page_without_words_is_unknown(texts: list[str]) -> None:
    found = detect.detect(texts, PLAIN)
    assert (found.language, found.score) == ("und", 0.0)
    assert found.paragraphs == ("und",) * len(texts)


@pytest.mark.parametrize("dirt", ["\0", "\x0b", "\x7f", "\x85", "\ud800", "\ufdd0", "\uffff", "\U0002fffe"])
def test_characters_that_cld2_rejects_do_not_prevent_detection(dirt: str) -> None:
    text = dirt.join(declarations.shipped("de")[3].split(" "))
    assert detect.detect([text, dirt], PLAIN).language == "deu"


def test_numbers_and_names_get_the_language_of_the_page() -> None:
    texts = [declarations.shipped("pl")[5], "1, 2, 3 (4–5)", declarations.shipped("pl")[6]]
    assert set(detect.detect(texts, PLAIN).paragraphs) == {"pol"}


def test_a_japanese_character_counts_three_times() -> None:
    japanese = declarations.shipped("ja")[3][:60]
    english = "All of these are English words beside the Japanese ones, and they make a longer line."
    assert len(japanese) < len(english)
    assert detect.detect([japanese, english], PLAIN).language == "jpn"


@given(st.lists(st.text(max_size=150), max_size=6))
def test_any_text_gets_an_answer_for_each_paragraph(texts: list[str]) -> None:
    found = detect.detect(texts, LanguageSettings(accepted=("deu",), second=1))
    assert len(found.paragraphs) == len(texts)
    assert 0 <= found.score <= 1
    accepted = accept.accept(found, LanguageSettings(accepted=("deu",)))
    assert set(accepted.dropped) <= set(range(len(texts)))
    assert accepted.enough or len(accepted.dropped) == len(texts)


def test_a_short_text_is_in_a_recognised_language_and_a_long_one_may_be_in_any() -> None:
    text = ["Kontakt"]
    answers = {
        detect.detect(text, LanguageSettings(recognised=tuple(pair))).language
        for pair in (("ces", "deu"), ("pol", "deu"), ("deu", "eng"))
    }
    assert answers <= {"ces", "deu", "pol", "eng", "und"}
    czech = declarations.shipped("cs")[:8]
    assert detect.detect(czech, LanguageSettings(recognised=("pol", "deu"))).language == "ces"


def test_options_are_parsed_or_rejected() -> None:
    ready = prepare(LanguageOptions(accepted=("cs", "Slovak"), recognised=("pl",), short=50))
    assert (ready.accepted, ready.recognised, ready.short) == (("ces", "slk"), ("pol", "ces", "slk"), 50)
    with pytest.raises(ConfigError, match=r"unknown language 'cz'; did you mean 'ces' \(Czech\)"):
        prepare(LanguageOptions(accepted=("cz",)))
    with pytest.raises(ConfigError, match=r"no tool can detect Upper Sorbian \('hsb'\)"):
        prepare(LanguageOptions(accepted=("hsb",)))


@pytest.fixture(scope="module")
def finnish(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of a language that no tool knows: Finnish under a private code."""
    path = tmp_path_factory.mktemp("models") / "qaf.json"
    trigrams.write(trigrams.train("qaf", "\n".join(declarations.shipped("fi")[:40])), path)
    return path


def test_a_trained_model_detects_a_language_that_no_tool_knows(finnish: Path) -> None:
    settings = prepare(LanguageOptions(accepted=("qaf",), models=(str(finnish),)))
    texts = [*declarations.shipped("fi")[45:], declarations.shipped("cs")[3]]
    found = detect.detect(texts, settings)
    assert found.language == "qaf"
    assert found.paragraphs[-1] == "ces"
    assert found.shares["qaf"] > 0.9
    assert detect.detect(declarations.shipped("cs"), settings).language == "ces"


def test_a_model_of_a_known_language_does_not_change_the_answer_for_others(tmp_path: Path) -> None:
    trigrams.write(trigrams.train("ces", "\n".join(declarations.shipped("cs"))), tmp_path / "ces.json")
    settings = prepare(LanguageOptions(models=(str(tmp_path / "ces.json"),)))
    for short in LANGUAGES:
        assert detect.detect(declarations.shipped(short)[:20], settings).language == codes.parse(short)


def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
    """Run a command as from a shell; return exit code, output and error message."""
    result = CliRunner().invoke(cli.app, ["language", *arguments], input=stdin)
    error = str(result.exception) if isinstance(result.exception, ConfigError) else ""
    return (2 if error else result.exit_code), result.stdout, error


def test_the_command_detect_reads_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(declarations.shipped("fr")))
    code, out, _ = run("detect", "--json", str(tmp_path / "a.txt"), "-", stdin="\n".join(declarations.shipped("tr")))
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(row["path"], row["language"], row["name"]) for row in rows] == [
        (str(tmp_path / "a.txt"), "fra", "French"),
        ("-", "tur", "Turkish"),
    ]
    assert run("detect", stdin="Guten Tag, wie geht es Ihnen heute?")[1] == "-\tdeu\tGerman\t1.00\n"


def test_commands_train_and_use_a_model(tmp_path: Path) -> None:
    sample, model = tmp_path / "sample.txt", tmp_path / "qaf.json"
    sample.write_text("\n".join(declarations.shipped("fi")[:40]))
    assert run("train", "qaf", str(sample), "-o", str(model))[0] == 0
    text = "\n".join(declarations.shipped("fi")[45:])
    assert run("detect", "--model", str(model), stdin=text)[1].startswith("-\tqaf\t")
    listed = json.loads(run("list", "--json", "--model", str(model))[1])
    assert {"code": "qaf", "short": "", "name": "qaf", "tools": ["model"]} in listed
    assert {"code": "ces", "short": "cs", "name": "Czech", "tools": ["cld2", "py3langid"]} in listed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train", "germn", "SAMPLE", "-o", "NEW"), "did you mean 'deu' (German)?"),
        (("train", "hsb", "SAMPLE", "-o", "NEW"), "a model needs at least 2,000"),
        (("train", "hsb", "MISSING", "-o", "NEW"), "cannot read"),
        (("train", "hsb", "BINARY", "-o", "NEW"), "not UTF-8 text"),
        (("train", "hsb", "SAMPLE", "-o", "SAMPLE"), "exists already"),
        (("detect", "MISSING"), "cannot read"),
        (("detect", "BINARY"), "line 2: not UTF-8 text"),
        (("detect", "--model", "SAMPLE", "SAMPLE"), "is not a language model"),
        (("detect", "--model", "MISSING", "SAMPLE"), "there is no model"),
        (("detect", "--recognised", "xx", "SAMPLE"), "unknown language 'xx'"),
        (("list", "--model", "BINARY"), "is not a language model"),
    ],
)
def test_bad_input_gives_one_sentence_and_writes_nothing(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "SAMPLE").write_text("Too short to learn from.\n")
    (tmp_path / "BINARY").write_bytes(b"ok\n\xff\xfe\x00")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, _, error = run(*(str(tmp_path / word) if word.isupper() else word for word in arguments))
    assert code == 2
    assert sentence in error
    assert "\n" not in error
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_error_ends_the_program_with_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["windrow", "language", "train", "germn", "x", "-o", "y"])
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("windrow: unknown language 'germn'")


def test_every_option_of_the_section_is_used() -> None:
    options = LanguageOptions(accepted=("de",), recognised=("nl",), min_share=0.3, short=50, read=200, second=4)
    assert prepare(options) == LanguageSettings(
        ("deu",), ("nld", "deu"), (), min_share=0.3, short=50, read=200, second=4, sort=True
    )
    assert not prepare(LanguageOptions()).sort
