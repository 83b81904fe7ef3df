"""Reject pages without main text."""

from windrow.config import Config
from windrow.judge.ruling import KEPT, Facts, Judge, Ruling
from windrow.records import Page, Reason

_NO_TEXT = Ruling(reason=Reason.NO_TEXT)


def build(config: Config, inner: Judge | None = None) -> Judge:
    return _judge


def _judge(page: Page, facts: Facts) -> Ruling:
    return KEPT if facts.texts else _NO_TEXT
