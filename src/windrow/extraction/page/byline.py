"""The author in the text of a page: a short line near the headline that says "By" and a name.

Most pages declare their author to machines (`metadata`). This finds those who tell only their readers.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Sequence

from windrow.records import Paragraph

_LINE = 160  # characters of a line that may be a byline
_LABEL = 24  # characters of "Written by" and its like
_ABOVE = 6  # paragraphs above the headline
_BELOW = 15  # and below it
_MOST = 5  # words of a name
_LONGEST = 60  # characters of a name

# "By" as a byline begins, in the languages of the web's newspapers. A word that also begins sentences needs a colon.
_BEGIN = re.compile(
    r"^(?:(?:story|words|text|article|photos? and text|posted|(?:this (?:article|blog|post|story) (?:is|was) )?written|"
    r"reported|published|submitted|created|"
    r"geschrieben|erstellt|verfasst|ein (?:artikel|beitrag)|rédigé|écrit|publié|publicado|escrito|scritto|pubblicato|"
    r"geschreven|door)?\s*"
    r"(?:by|von|par|por|di|door|af|av|od|przez|de|yazan)\b\s*:?|"
    r"(?:authors?|autore?|autor(?:in|ka|es|a)?|auteur|szerző|författare|forfatter|skribent|tekijä|kirjoittaja|redacción|"
    r"napsala?|tekst|text|texte|testo|автор|авторы|текст|yazar|作者|文|撰文|記者|记者|글|기자|著者)\s*[:：/／|])\s*",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?\s*\d"
)
# Between the facts of a line: date, reading time, author.
_FACTS = re.compile(r"\s+[|•·●▪‧⋅∙–—]\s+|(?<=\d{4})\s+(?=by\s)", re.IGNORECASE)
_MARKS = re.compile(r"[|•·●▪‧⋅∙–—0-9]")  # without any of these a line has one fact
_ROLE = re.compile(r"^(?:autor(?:in)?|authors?|auteur|autore|interview|text|words|автор)\b[\s:]*", re.IGNORECASE)
# What ends a name: punctuation between facts, a date, the next fact, or what the author is.
_END = re.compile(
    r"\s*[|•·●▪‧⋅∙–—/(\[<>#©@:]|\s-\s|,?\s*\d|\s{2,}|"
    r",?\s*\b(?:on|in|at|am|vom|le|el|il|updated|published|posted|last|für|for|the|dne|foto|photo|fotos|photos|long)\b|"
    rf",?\s*\b{_MONTH}|(?-i:(?<=[a-zß-ÿ])(?=(?:Published|Updated|Posted|[A-Z][a-z]{{2}}\.? \d)))|"
    r"(?P<role>,?)\s*\b(?:(?:senior|staff|chief|deputy|contributing|associate|managing|news|politics|health\w*|"
    r"\w+ staff)\s+)*(?:reporters?|editors?|writers?|contributors?|journalists?|correspondents?|columnists?|experts?|"
    r"specialists?|senior|staff|chief|founder|ceo|cto|md|phd|dvm|rd|ms|director|manager|professor|author)\b",
    re.IGNORECASE,
)
_TITLE = re.compile(  # what follows a name after a comma: degrees, and what the author is
    r"(?:[A-Z][A-Za-z]{0,3}\.?){1,3}(?:-[A-Z]{1,4})?|(?i:(?:jr|sr|ph\.?d|m\.?d|m\.?sc?|b\.?a|esq)\.?)|"
    r"(?i:(?:[\w'’-]+\s+){0,4}(?:reporters?|editors?|writers?|contributors?|journalists?|correspondents?|columnists?|"
    r"experts?|specialists?|staff|founder|co-founder|ceo|cto|director|manager|professor|author|team)"
    r"(?:\s+(?:of|at|in|for)\s.{1,60})?)"
)
_JOIN = re.compile(r"\s*(?:,|;|&|\band\b|\bund\b|\bet\b|\by\b|\boch\b|\bog\b|\ben\b|\bi\b|\be\b)\s+")
_SMALL = frozenset(
    "de da do dos das del della der den di du el la le van von vom zu zur af av bin ibn al y e ter ten".split()
)
_NOBODY = frozenset("product products admin administrator staff editor redaktion dr mr mrs ms".split())
_LETTER = re.compile(r"[^\W\d_]")


def find(paragraphs: Sequence[Paragraph]) -> list[str]:
    """Return the names in the first byline near the headline; none if there is no such line."""
    start = next((index for index, one in enumerate(paragraphs) if one.heading and one.path.endswith("h1")), 0)
    label = False  # the line before was "Written by" alone
    for one in paragraphs[max(0, start - _ABOVE) : start + _BELOW]:
        if len(one.text) > _LINE or one.heading:
            label = False
            continue
        found = names(one.text) or (_names(one.text) if label else ())
        if found:
            return list(found)
        label = len(one.text) <= _LABEL and _BEGIN.fullmatch(one.text) is not None
    return []


@functools.lru_cache(1 << 12)  # the lines around the headlines of a site are mostly the same
def names(line: str) -> tuple[str, ...]:
    """Return the names of a byline; none if the line is no byline."""
    for part in _FACTS.split(line) if _MARKS.search(line) else (line,):
        if (match := _BEGIN.match(part)) and (found := _names(part[match.end() :])):
            return tuple(found)
    return ()


def marked(texts: Iterable[str]) -> list[str]:
    """Return the names in the texts of an element that is marked as the author's, with or without the word "By"."""
    for text in texts:
        line = " ".join(text[:_LINE].split())
        match = _BEGIN.match(line) or _ROLE.match(line)
        found = [name for name in _names(line[match.end() :] if match else line) if " " in name]
        if found:
            return found
    return []


def people(text: str) -> list[str]:
    """Return the names in a declared author: "Jane Doe, MD" is one, "Jane Doe and John Roe" are two.

    A text is divided only if each part looks like a full name.
    """
    parts = [part.strip(" ,;") for part in _JOIN.split(text)]
    if len(parts) == 1:
        return parts
    parts = [part for part in parts if part and not _TITLE.fullmatch(part)]
    return parts if parts and all(" " in part and _is_name(part) for part in parts) else [text]


def _names(text: str) -> list[str]:
    if end := _END.search(text):
        role, text = end["role"], text[: end.start()]
        if role == "" and "," in text:  # the words before, from the comma on, say more about what the author is
            text = text.rpartition(",")[0]
    found = [name.strip(" ,;") for name in _JOIN.split(text)]
    if len(found) > 1:  # one word after a comma is a place or an office
        found = [name for name in found if " " in name]
    whole = list(itertools.takewhile(_is_name, found))
    # After the names may stand an office, which has a capital; other words mean that this is a sentence.
    return whole if len(whole) == len(found) or found[len(whole)][:1].isupper() else []


def _is_name(text: str) -> bool:
    """Return whether a text has the shape of a name: a few words, each with a capital if its script has them."""
    words = text.split()
    if not words or len(words) > _MOST or len(text) > _LONGEST:
        return False
    big = [word for word in words if word.lower() not in _SMALL]
    return (
        bool(big)
        and text.casefold() not in _NOBODY
        and all(_LETTER.match(word) and not word[0].islower() for word in big)
    )
