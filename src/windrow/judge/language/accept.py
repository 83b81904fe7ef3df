"""Which paragraphs are in an accepted language, and whether they are enough of the page: the judge `language`."""

import msgspec

from windrow.config import Config
from windrow.data import Page, Reason
from windrow.judge.language import detect
from windrow.judge.language.detect import Finding, LanguageSettings
from windrow.judge.language.lookalikes import Clue
from windrow.judge.ruling import Facts, Judge, Ruling


class Accepted(msgspec.Struct, frozen=True):
    """What remains of a page in the accepted languages."""

    dropped: tuple[int, ...] = ()  # positions of the paragraphs in other languages
    share: float = 1.0  # of the page's characters in accepted languages
    enough: bool = True  # whether that share is enough to keep the page


def build(config: Config) -> Judge:
    settings = msgspec.structs.replace(detect.prepare(config.language), least=int(config.quality.min_characters))

    def judge(page: Page, facts: Facts) -> Ruling:
        found = detect.detect(facts.texts, settings, Clue(page.language, facts.url))
        scores = {"language": found.score}
        if not settings.accepted:
            return Ruling(scores=scores, language=found.language, languages=found.paragraphs)
        accepted = accept(found, settings)
        scores["accepted"] = accepted.share
        scores["foreign"] = len(accepted.dropped)
        detail = f"{found.language}, {accepted.share:.0%} in the accepted languages"
        return Ruling(
            scores=scores,
            reason=Reason.OK if accepted.enough else Reason.LANGUAGE,
            detail="" if accepted.enough else detail,
            dropped=accepted.dropped if accepted.enough else (),
            language=found.language,
            languages=found.paragraphs,
        )

    return judge


def accept(found: Finding, settings: LanguageSettings) -> Accepted:
    """Return the paragraphs to drop: all of them if too little of the page is in an accepted language."""
    if not settings.accepted:
        return Accepted()
    wanted = {code: detect.accepts(code, settings) for code in {*found.shares, *found.paragraphs}}
    share = sum(share for code, share in found.shares.items() if wanted[code])
    enough = bool(share) and share >= settings.min_share
    dropped = (place for place, code in enumerate(found.paragraphs) if not enough or not wanted[code])
    return Accepted(tuple(dropped), share, enough)
