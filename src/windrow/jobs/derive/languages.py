"""The languages of a page whose archive notes none, detected in all of its text as the judges of a crawl do it."""

import msgspec

from windrow.jobs.derive.exchange import ReadRecord
from windrow.judge.language import detect
from windrow.judge.language.codes import UNKNOWN
from windrow.judge.language.settings import LanguageSettings

MOST = 3  # languages of a page, as CLD2 names them
_LEAST = 0.05  # share of the text: less is names, quotations and menus
_LINES = 500  # of a page that are read
_SETTINGS = LanguageSettings()


def detected(source: ReadRecord) -> ReadRecord:
    """Return a page with its languages, the most frequent first."""
    if source.page is None or source.languages:
        return source
    lines = source.page.tags.text.decode().splitlines()[:_LINES]
    shares = detect.detect(lines, _SETTINGS).shares if lines else {}
    codes = [code for code, share in shares.items() if code != UNKNOWN and share >= _LEAST][:MOST]
    return msgspec.structs.replace(source, detected=",".join(codes))
