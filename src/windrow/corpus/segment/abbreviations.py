"""Words that end with a full stop without ending a sentence, and words that begin one, by language.

`abbreviations.tsv` beside this file has them: language, kind, words in lower case without their last full stop. A few of the commonest,
written by hand; the list of no language is complete, nor need it be, because their shape tells most abbreviations (z.B., J. R. R., vgl.).
Four kinds, by what a full stop behind them means if a capital or a number follows:

- before: belongs to what follows (Dr., bzw., např.): no sentence ends here
- numbered: the same, but only before a number (No., S., Art.); else it is a word like any other
- behind: belongs to what stands before (Inc., Jr.): a sentence ends if a word follows that begins sentences
- closing: ends a list (etc., usw., atd.), and mostly the sentence

A fifth, starts, is words that begin sentences and are hardly ever names.
"""

import functools
from importlib import resources

import msgspec

_LIKE = {
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


KINDS = ("before", "numbered", "behind", "closing", "starts")


class Words(msgspec.Struct, frozen=True):
    """Of one language."""

    language: str  # ISO 639-3, as it was asked for
    before: frozenset[str]
    numbered: frozenset[str]
    behind: frozenset[str]
    closing: frozenset[str]
    starts: frozenset[str]
    shortened: frozenset[str]  # before, behind or closing


@functools.cache
def of(language: str) -> Words:
    """A language that is not in the table has those that many share."""
    found = _table().get(_LIKE.get(language, language)) or _table()["und"]
    before, numbered, behind, closing, starts = (found.get(kind, frozenset()) for kind in KINDS)
    return Words(language, before, numbered, behind, closing, starts, before | behind | closing)


@functools.cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    """Language -> kind -> words."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for line in (resources.files("windrow.corpus.segment") / "abbreviations.tsv").read_text("utf-8").splitlines():
        language, kind, words = line.split("\t")
        found.setdefault(language, {})[kind] = frozenset(words.split())
    return found
