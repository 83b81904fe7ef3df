"""Which paragraphs are in an accepted language, and whether they are enough of the page: the judge `language`."""

import itertools

import msgspec

from windrow.config import Config
from windrow.judge.language import detect
from windrow.judge.language.detect import Finding
from windrow.judge.language.lookalikes import Clue
from windrow.judge.language.settings import LanguageSettings, accepts, prepare
from windrow.judge.ruling import Facts, Headers, Judge, Ruling
from windrow.records import Page, Reason


class Accepted(msgspec.Struct, frozen=True):
    """What remains of a page in the accepted languages."""

    dropped: tuple[int, ...] = ()  # positions of the paragraphs in other languages
    share: float = 1.0  # of the page's characters in accepted languages
    enough: bool = True  # whether that share is enough to keep the page
    language: str = ""  # of most of what remains; of the page, if nothing does
    score: float = 0.0  # the share of what remains that is in this language


def build(config: Config, inner: Judge | None = None) -> Judge:
    settings = msgspec.structs.replace(prepare(config.language), least=int(config.quality.min_characters))

    def judge(page: Page, facts: Facts) -> Ruling:
        declared = page.language or _in_header(facts.headers)
        found = detect.detect(facts.texts, settings, Clue(declared, facts.url, settings.accepted))
        accepted = accept(found, settings)
        scores = {"language": accepted.score}
        if settings.accepted:
            scores["accepted"] = accepted.share
            scores["foreign"] = len(accepted.dropped)
        detail = f"{found.language}, {accepted.share:.0%} in the accepted languages"
        return Ruling(
            scores=scores,
            reason=Reason.OK if accepted.enough else Reason.LANGUAGE,
            detail="" if accepted.enough else detail,
            dropped=accepted.dropped if accepted.enough else (),
            language=accepted.language,
            page_language=found.language if found.language != accepted.language else "",
            languages=found.paragraphs,
        )

    return judge


def accept(found: Finding, settings: LanguageSettings) -> Accepted:
    """Return the paragraphs to drop: all of them if too little of the page is in an accepted language."""
    if not settings.accepted:
        return Accepted(language=found.language, score=found.score)
    wanted = {code: accepts(code, settings) for code in {*found.shares, *found.paragraphs}}
    share = sum(share for code, share in found.shares.items() if wanted[code])
    if not share or share < settings.min_share:
        return Accepted(tuple(range(len(found.paragraphs))), share, False, found.language, found.score)
    if all(wanted.values()):
        return Accepted((), share, True, found.language, found.score)
    dropped = tuple([index for index, code in enumerate(found.paragraphs) if not wanted[code]])
    language = max((code for code in found.shares if wanted[code]), key=lambda code: found.shares[code])
    kept = [wanted[code] for code in found.paragraphs]
    rows = zip(found.paragraphs, found.certain, found.sizes, strict=True)
    score = detect.score(language, *zip(*itertools.compress(rows, kept), strict=True))
    return Accepted(dropped, share, True, language, score)


def _in_header(headers: Headers) -> str:
    """Return the language of the header Content-Language; "" if it names none, or several for readers of each."""
    said = [value.strip() for name, value in headers if name.lower() == "content-language"]
    return said[0] if len(said) == 1 and "," not in said[0] else ""
