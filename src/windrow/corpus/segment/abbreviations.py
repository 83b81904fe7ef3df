"""Words that end with a full stop without ending a sentence, and words that begin a sentence, per language.

They are in `abbreviations.tsv` in this directory: language, kind, words in lower case without their last full stop. The
lists hold only the most common words and are written by hand. No list is complete, and none has to be: most
abbreviations are recognised by their shape (z.B., J. R. R., vgl.). A kind says what a full stop means before a capital
or a number:

- before: the word belongs to the next word (Dr., bzw., např.), so no sentence ends
- numbered: the same, but only before a number (No., S., Art.); elsewhere it is an ordinary word
- after: the word belongs to the word before it (Inc., Jr.); a sentence ends if the next word begins sentences
- closing: the word ends a list (etc., usw., atd.), and mostly the sentence

A fifth kind, starts, holds words that begin sentences and are hardly ever names.
"""

import functools
from importlib import resources

import msgspec

_LIKE = {  # a language without a list -> a close one with a list
    **{
        "nor": "nob",
        "nno": "nob",
        "bos": "hrv",
        "hbs": "hrv",
        "cnr": "srp",
        "gsw": "deu",
        "nds": "deu",
        "ltz": "deu",
        "bar": "deu",
    },
    **{
        "msa": "ind",
        "zsm": "ind",
        "bel": "rus",
        "mkd": "bul",
        "glg": "spa",
        "ast": "spa",
        "oci": "cat",
        "sco": "eng",
        "afr": "nld",
    },
    **{"fry": "nld", "ekk": "est", "lvs": "lav", "nep": "hin"},
}


KINDS = ("before", "numbered", "after", "closing", "starts")


class Words(msgspec.Struct, frozen=True):
    """The words of one language."""

    language: str  # ISO 639-3, as the caller gave it
    before: frozenset[str]
    numbered: frozenset[str]
    after: frozenset[str]
    closing: frozenset[str]
    starts: frozenset[str]
    shortened: frozenset[str]  # before, after or closing


@functools.cache
def of(language: str) -> Words:
    """Return the words of a language; one without a list gets the words that many languages share."""
    words = _table().get(_LIKE.get(language, language)) or _table()["und"]
    before, numbered, after, closing, starts = (words.get(kind, frozenset()) for kind in KINDS)
    return Words(
        language=language,
        before=before,
        numbered=numbered,
        after=after,
        closing=closing,
        starts=starts,
        shortened=before | after | closing,
    )


@functools.cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    """Return language -> kind -> words."""
    table: dict[str, dict[str, frozenset[str]]] = {}
    for line in (resources.files("windrow.corpus.segment") / "abbreviations.tsv").read_text("utf-8").splitlines():
        language, kind, words = line.split("\t")
        table.setdefault(language, {})[kind] = frozenset(words.split())
    return table
