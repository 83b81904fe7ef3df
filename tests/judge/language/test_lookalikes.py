"""Serbian, Croatian and Bosnian in Latin script: words decide, statements count little."""

import pytest

from windrow.config import Config, LanguageOptions
from windrow.judge import Facts
from windrow.judge.language import accept, detect, lookalikes
from windrow.judge.language.lookalikes import Clue
from windrow.judge.language.marks import MARKS
from windrow.judge.language.settings import LanguageSettings
from windrow.records import Page, Reason

SERBIAN = [
    "Vreme je uvek bilo lepo na ovom mestu, i deca su posle škole trčala do reke gde je voda bila hladna.",
    "Kliknite na sledeći odeljak da biste promenili podešavanja, a zatim proverite primer u levom uglu prozora.",
    "Svako ko želi da učestvuje mora da popuni zahtev pre kraja nedelje; takođe može da zameni karte.",
    "Ovo je kratka rečenica o kući i vrtu koja ne govori mnogo o jeziku.",
]
CROATIAN = [
    "Vrijeme je uvijek bilo lijepo na ovom mjestu, i djeca su poslije škole trčala do rijeke gdje je voda bila hladna.",
    "Kliknite na sljedeći odjeljak kako biste promijenili postavke, a zatim provjerite primjer u lijevom kutu zaslona.",
    "Svatko tko želi sudjelovati mora ispuniti zahtjev prije kraja tjedna; također može zamijeniti karte.",
    "Ovo je kratka rečenica o kući i vrtu koja ne govori mnogo o jeziku.",
]
BOSNIAN = [
    "Historija ovog mjesta je duga, i hiljade ljudi su uvijek znale šta se vjerovatno krije ispod tačke na karti.",
    "Svako ko želi da učestvuje mora popuniti zahtjev prije kraja sedmice; lahko je također zamijeniti karte.",
]


@pytest.mark.parametrize(("texts", "code"), [(SERBIAN, "srp"), (CROATIAN, "hrv"), (BOSNIAN, "bos")])
def test_words_tell_which_of_the_three_languages_a_page_is_in(texts: list[str], code: str) -> None:
    found = detect.detect(texts, LanguageSettings())
    assert found.language == code
    assert set(found.paragraphs) == {code}  # also the paragraph that could be in any of them
    assert found.score >= 0.9


@pytest.mark.parametrize(("wanted", "own", "other"), [("srp", SERBIAN, CROATIAN), ("hrv", CROATIAN, SERBIAN)])
@pytest.mark.parametrize("declared", ["", "en", "wanted"])
def test_a_page_is_kept_or_refused_by_its_words_whatever_it_declares(
    wanted: str, own: list[str], other: list[str], declared: str
) -> None:
    judge = accept.build(Config(language=LanguageOptions(accepted=(wanted,))))
    page = Page(language=wanted if declared == "wanted" else declared)
    assert judge(page, Facts(url="http://example.org/", texts=own)).reason is Reason.OK
    url = f"http://example.org/{wanted}/"
    assert judge(page, Facts(url=url, texts=other)).reason is Reason.LANGUAGE


def test_a_foreign_paragraph_with_such_words_is_found_among_the_others() -> None:
    found = detect.detect([*SERBIAN, CROATIAN[0], CROATIAN[2]], LanguageSettings(accepted=("srp",)))
    assert found.paragraphs == ("srp",) * 4 + ("hrv",) * 2


@pytest.mark.parametrize(
    ("clue", "code"),
    [
        (Clue(declared="sr-Latn"), "srp"),
        (Clue(declared="hr"), "hrv"),
        (Clue(url="https://www.example.rs/vrt"), "srp"),
        (Clue(url="https://sr.example.org/vrt"), "srp"),
        (Clue(url="https://example.org/hr/vrt.html"), "hrv"),
        (Clue(url="https://example.org/vrt?lang=bs"), "bos"),
    ],
)
def test_what_is_stated_decides_where_no_word_does(clue: Clue, code: str) -> None:
    text = "Ovo je kratka rečenica o kući i vrtu koja ne govori mnogo o jeziku."
    certain = [1.0]
    assert lookalikes.settle([text], ["srp" if code != "srp" else "hrv"], certain, [len(text)], clue) == [code]
    assert 0.5 <= certain[0] < 0.9


def test_serbian_in_cyrillic_script_and_other_languages_are_left_alone() -> None:
    texts = ["Кликните на следећи одељак да бисте променили подешавања.", "Alle Menschen sind frei und gleich geboren."]
    certain = [1.0, 1.0]
    assert lookalikes.settle(texts, ["srp", "deu"], certain, [57, 43], Clue(declared="hr")) == ["srp", "deu"]
    assert certain == [1.0, 1.0]


def test_no_word_speaks_for_a_language_in_one_list_and_against_it_in_another() -> None:
    words = [word for _, marks in MARKS for word in marks.split()]
    assert len(words) == len(set(words))


def test_a_line_of_bokmal_on_a_nynorsk_page_is_bokmal() -> None:
    nynorsk = [
        "Eg veit ikkje kva dei vil gjere med dei gamle bøkene, men eg trur at nokon bør ta vare på dei.",
        "Vi må òg hugse at ho ikkje har vore heime sidan ho flytta til ein annan stad i landet.",
    ]
    bokmal = "Jeg vet ikke hva de vil gjøre med de gamle bøkene, men noen bør ta vare på dem."
    found = detect.detect([*nynorsk, bokmal], LanguageSettings(accepted=("nno",)))
    assert found.paragraphs == ("nno", "nno", "nob")
