"""Pages that say a machine translated them."""

import pytest

from windrow.judge import translation


@pytest.mark.parametrize(
    ("root", "fields", "texts", "marker"),
    [
        ({"lang": "de-x-mtfrom-en"}, [], [], "lang"),
        ({"lang": "de-t-en-t0-und"}, [], [], "lang"),
        ({"class": "no-js translated-ltr"}, [], [], "html"),
        ({"data-wg-translated": "de"}, [], [], "html"),
        ({}, [("X-Translated-By", "Google")], [], "x-translated-by"),
        ({}, [("generator", "GTranslate 3 - automatic translation")], [], "generator"),
        ({}, [], ["Diese Seite wurde maschinell übersetzt."], "notice"),
        ({}, [], ["Текст.", "Машинный перевод"], "notice"),
        ({}, [], ["This article was automatically translated from English."], "notice"),
        (
            {"lang": "de", "class": "translated"},
            [("generator", "WordPress 6.4"), ("description", "translated")],
            ["Wir übersetzen."],
            "",
        ),
        ({"lang": "en-t-jp"}, [], [], ""),  # translated, but not by a machine
        ({}, [], ["Machine translated text has improved a lot since 2016; " * 10], ""),
    ],
)
def test_machine_translations_are_found_by_their_marks(
    root: dict[str, str], fields: list[tuple[str, str]], texts: list[str], marker: str
) -> None:
    assert translation.machine_translated(root, fields, texts) == marker


@pytest.mark.parametrize("text", ["a" * 10**6, "1/" * 10**5, "-t-" * 10**5, " ." * 10**5, "人" * 10**6])
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert translation.machine_translated({"lang": text, "class": text}, [("generator", text)], [text]) == ""
