import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.corpus.segment import sentences

CASES = [
    ("eng", "Hello World.|My name is Jonas."),
    ("eng", "What is your name?|My name is Jonas E. Smith.|I live here!"),
    ("eng", "The U.S. Army is in the U.S.|The army came at 5 p.m. Monday."),
    ("eng", "Please turn to p. 55.|See Fig. 3 and vol. 2, vol. V, no. 7, of Dr. Brown et al."),
    (
        "eng",
        "They met Pitt, Briggs & Co. at noon.|They met Pitt, Briggs & Co.|It closed.|"
        "Martin Luther King Jr. Day is in January.",
    ),
    ("eng", "Was it No. 5?|He said no.|Then he left the gallery of modern art.|Paris came next."),
    ("eng", '"Why?" he asked.|"Because!"|She left.'),
    ("eng", "“I see,” he said.|“So it is.”|She nodded."),
    ("eng", "She has $100.00 in her bag.|It is 1.5.|The rest (see Fig. 3.) is e.g. this."),
    ("eng", "(It rained.)|He went home (at last!) Tuesday."),
    ("eng", "Visit www.example.com/a.html?b=c.|Then mail a.b@example.org.|Done!"),
    ("eng", "1. First item.|2. Second item.|IV. Another."),
    ("eng", "b. The last."),
    ("eng", "Figure 8.12. The wind over fields"),
    ("eng", "That is so ... funny...|And this... no.|He paused . . . and went."),
    ("eng", "World War II.|The end.|iPhone came.|x264 encodes it.|You and I.|Vitamin C. Jones likes it."),
    ("eng", "It is a fact.[1][2]|Next.|Another.³|Last."),
    ("eng", "Stop!!!|Why?!|Node.js and file.txt are names.|Great! 😀"),
    ("eng", "set x to y.|More of it follows."),
    ("deu", "Am 3. Oktober war das 2. Spiel.|Es waren 12.|Dann kam er.|Im Jahr 1990.|Danach schlief er."),
    ("deu", "Das ist z. B. ein Test usw.|Die Nr. 5 (u.a.) Tore.|Dr. Meier kam 300 v. Chr. nach Rom, vgl. Bd. 3."),
    ("deu", "„Ja.“|Er ging.|»Nein!«, sagte sie.|Das (!) Auto.|Dipl.-Ing. Weber (geb. 1950) kommt."),
    ("deu", "Am 28. 10. 1918, im 19. Jahrhundert.|Diese Art.|Was ist Art. 5 GG?"),
    (
        "deu",
        "Es ist mehrsprachig, d. h. Sie können wählen, d.h. Der Rest bleibt.|"
        "Extras – Optionen… – Ansicht (oder ...) ist neu.",
    ),
    ("deu", "Kaiser Karl V. Habsburg und Heinrich VIII. König"),
    ("ces", "Dne 28. 10. 1918 vznikla ČSR.|Karel IV. Lucemburský, např. Praha atd.|Potom č. 5."),
    ("ces", "„Kam jdeš?“ zeptal se.|Byl to krk.|Přišel Ing. arch. Novák, CSc. z Brna.|V. Havel a T. G. Masaryk."),
    ("ces", "Film je na DVD.|Hudba na CD.|Bylo to za Karla IV. Lucemburského."),
    ("fra", "« Oui. »|Elle rit.|Quoi ?|Non !|M. Dupont vient.|Etc."),
    ("spa", "¿Qué pasa?|¡Nada!|El Sr. López vino.|— ¿Sí? — dijo ella."),
    ("ita", "Il sig. Rossi, l'avv. Bianchi ecc.|Poi basta."),
    ("pol", "To jest np. ul. Długa itd.|Potem p. Nowak."),
    ("hun", "1848. március 15. után Pest.|Vége."),
    ("rus", "Это г. Москва.|В 1990 г.|Он жил и т.д.|Потом — А. С. Пушкин.|— Что? — спросил он."),
    ("ell", "Τι κάνεις;|Καλά.|Ο κ. Παπαδόπουλος ήρθε; ναι."),
    ("hye", "Բարեւ։|Ինչպես ես:|Լավ։"),
    ("zho", "你好！+我很好。+他说：“走吧。”+然后就走了？+是。"),
    ("zho", "真的吗?+是的。+（他走了。）+“好。”"),
    ("jpn", "「本当ですか？」と彼は言った。+そうです。+Yahoo!知恵袋です。"),
    ("hin", "यह हिन्दी है।|डॉ. राम आए।|क्या?"),
    ("urd", "یہ اردو ہے۔|کیا؟|ہاں"),
    ("ara", "كيف حالك؟|أنا بخير.|د. محمد هنا."),
    ("mya", "မင်္ဂလာပါ။|နေကောင်းလား။"),
    ("khm", "សួស្តី។|អ្នកសុខសប្បាយទេ?|ផ្លែឈើ។ល។ ល្អ ។"),
    ("amh", "ሰላም ነው።|እንዴት ነህ፧|ደህና፡፡|እሺ"),
    ("tha", "วันที่ พ.ศ. 2560 ดร. สมชาย มา ดีไหม?|ดี"),
    ("kor", "안녕하세요.|반갑습니다.+정말요?|네.|좋아요!"),
    ("tam", "வணக்கம்.|எப்படி இருக்கிறீர்கள்?|நன்றி."),
    ("bod", "༄༅། །བཀྲ་ཤིས།|བདེ་ལེགས།"),
    ("und", "Una frase. minuscula.|Dr. Who."),
    ("", ""),
    ("eng", "... --- !!!"),
    ("eng", "A heading without an end"),
]


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_sentences_end_where_a_human_reader_ends_them(language: str, marked: str) -> None:
    """In the table, "|" is a sentence end with a space and "+" one without."""
    text = marked.replace("|", " ").replace("+", "")
    found = "".join(("+" if glued else "|") + sentence for sentence, glued in sentences.split(text, language))
    assert found[1:] == marked


def joined(text: str, language: str) -> str:
    return "".join(("" if glued else " ") + sentence for sentence, glued in sentences.split(text, language))[1:]


LANGUAGES = st.sampled_from(["eng", "deu", "ces", "fra", "zho", "jpn", "hye", "kor", ""])


@given(st.text(), LANGUAGES)
def test_joined_sentences_give_the_text(text: str, language: str) -> None:
    plain = " ".join(text.split())
    assert joined(plain, language) == plain
    assert all(sentence == sentence.strip() and sentence for sentence, _ in sentences.split(plain, language))


PIECES = [
    "a",
    "Bc",
    "Dr",
    "3",
    "II",
    ".",
    "…",
    "!",
    "?",
    " ",
    " ",
    ")",
    "(",
    '"',
    "“",
    "»",
    "。",
    "風",
    "།",
    "។",
    "다",
    "[1]",
    ":",
    "と",
    "–",
]


@given(st.lists(st.sampled_from(PIECES)), LANGUAGES)
def test_joined_sentences_of_language_like_text_give_the_text(pieces: list[str], language: str) -> None:
    plain = " ".join("".join(pieces).split())
    assert joined(plain, language) == plain
    found = [sentence for sentence, _ in sentences.split(plain, language)]
    assert len(found) < 2 or all(any(map(str.isalnum, sentence)) for sentence in found)


@pytest.mark.parametrize(
    "piece",
    [
        ". ",
        ".",
        "a. ",
        "A. ",
        "1. ",
        "? ",
        "。",
        "。 ",
        "། ",
        '."',
        ".)",
        "(",
        ".[1]",
        ".[",
        "…",
        ". . ",
        "a.b ",
        "!風",
        "다.",
        "“",
        "' ",
        " »",
        "៕ល",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    many = piece * (200_000 // len(piece))
    for text in ((many + "a").strip(), many.strip() + "a", ("a" + many).strip()):
        assert joined(text, "deu") == text
