"""Languages that are easily taken for one another, and which of them the paragraphs of a page are in.

CLD2 and py3langid distinguish most look-alikes by a page, but not Croatian, Serbian and Bosnian in Latin script: of 300
Serbian paragraphs CLD2 calls 120 Serbian. For these the words decide (`marks`), counted over the whole page, together
with what the page and its URL state of the language. A statement counts as little as a word, so that a wrong one does
not turn a page that has such words.
"""

import functools
import re
from collections.abc import Iterable, Sequence

import msgspec

from windrow.judge.language import aliases, codes
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.marks import MARKS, MODALS, RARE, WITH_DA

MARKED = frozenset(code for languages, _ in MARKS for code in languages.split())  # those that words distinguish
_DECLARED = 1.0  # what a declaration counts, in marks
_WANTED = 0.6  # the same for an accepted language: text without any mark is kept, one mark of another language is more
_NAMED = 0.8  # the same for a code or country in the URL
_TOOL = 0.5  # the same for CLD2's answer, if it gave it for the whole page
_WORD = re.compile(r"[^\W\d_]+")
_OTHER_SCRIPT = re.compile("[\u0400-\u052f]")  # Serbian in Cyrillic script is no problem
_CODE = re.compile(r"(?<=[/.=])[a-z]{2,3}(?=[-_/.&:?]|$)")
_URL = 300  # characters of a URL that are read

Votes = dict[str, float]  # by language


class Clue(msgspec.Struct, frozen=True, gc=False):
    """What speaks for a language of a page beside its text."""

    declared: str = ""  # by the page
    url: str = ""
    wanted: tuple[str, ...] = ()  # the accepted languages


NO_CLUE = Clue()


def settle(
    texts: Sequence[str], answers: list[str], certain: list[float], sizes: Sequence[int], clue: Clue
) -> list[str]:
    """Return the answers with each paragraph in one of the marked languages given to the right one of them.

    `certain`: how sure each answer is; filled in for these paragraphs.
    """
    places = [index for index, code in enumerate(answers) if code in MARKED and not _OTHER_SCRIPT.search(texts[index])]
    if not places:
        return answers
    counted = {place: _votes(texts[place]) for place in places}
    whole = _sum(
        [*counted.values(), RARE, _stated(clue), _of_tool([(answers[place], sizes[place]) for place in places])]
    )
    page = max(whole, key=lambda code: whole[code])
    found, sure = list(answers), _sure(whole)
    for place in places:
        certain[place] = sure
        own = counted[place]
        most = max(own.values(), default=0.0)
        best = [code for code, number in own.items() if number == most]
        found[place] = page if page in best or not best else max(best, key=lambda code: RARE.get(code, 0.0))
    return found


def _sure(votes: Votes) -> float:
    """Return how sure the language with most votes is: half if the next has as many, more with each vote ahead."""
    first, *rest = sorted(votes.values(), reverse=True)
    ahead = first - max(0.0, rest[0] if rest else 0.0)
    return 1 - float(0.5 ** (1 + ahead))


def _votes(text: str) -> Votes:
    """Count the marks of each language."""
    words, stems, lengths = _table()
    votes: Votes = {}
    before = ""
    for word in _WORD.findall(text.lower()):
        named = words.get(word)
        if named is None:
            named = next((stems[word[:length]] for length in lengths if word[:length] in stems), ())
        if word == "da" and before in MODALS:
            named = WITH_DA
        for code in named:
            votes[code] = votes.get(code, 0.0) + 1
        before = word
    return votes


def _stated(clue: Clue) -> Votes:
    votes = {code: _NAMED for code in _in_url(clue.url) if code in MARKED}
    declared = codes.find(clue.declared) if clue.declared else None
    if declared in MARKED:
        votes[declared] = votes.get(declared, 0.0) + _DECLARED
    for code in clue.wanted:  # not added to a statement: a wrong one would pull in what we look for
        if code in MARKED:
            votes[code] = max(votes.get(code, 0.0), _WANTED)
    return votes


def _in_url(url: str) -> set[str]:
    """Return the languages that a URL names: sr.example.org, example.rs, /hr/, page.bs.html."""
    found = set()
    scheme, _, rest = url[:_URL].lower().partition("://")
    host, slash, path = rest.partition("/")
    for part in _CODE.findall(f".{host}{slash}{path}" if scheme else ""):
        found.add(aliases.COUNTRIES.get(part) or codes.find(part) or UNKNOWN)
    return found


def _of_tool(answers: Sequence[tuple[str, int]]) -> Votes:
    """Share the vote of CLD2 by the size of its answers."""
    total = sum(size for _, size in answers) or 1
    votes: Votes = {}
    for code, size in answers:
        votes[code] = votes.get(code, 0.0) + _TOOL * size / total
    return votes


def _sum(parts: Iterable[Votes]) -> Votes:
    votes: Votes = {}
    for part in parts:
        for code, number in part.items():
            votes[code] = votes.get(code, 0.0) + number
    return votes


@functools.cache
def _table() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], tuple[int, ...]]:
    """Return the languages of each word, those of each beginning of a word, and the lengths of the beginnings."""
    words: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    for languages, marks in MARKS:
        for mark in marks.split():
            (stems if mark.endswith("-") else words)[mark.rstrip("-")] = tuple(languages.split())
    return words, stems, tuple(sorted({len(stem) for stem in stems}))
