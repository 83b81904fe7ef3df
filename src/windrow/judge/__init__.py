"""Judging: whether a page belongs in the corpus, by what can be said of it without other pages.

A judge is a function `(Page, Facts) -> Ruling`. It takes the page and the facts around it (response headers, the
soft-404 sketch of its origin, the findings of earlier judges) and returns scores by name, labels, the paragraphs to
drop, parts of paragraphs to mark or to mask, and a reason if it rejects the page. Judges are pure: they open no file
after their models are loaded, and the same page always gets the same ruling, in a crawl's workers and in a batch job.

`JUDGES` is the table of the built-in judges, in the order in which they run; each row makes a judge from the options.
`panel` runs them all, then the user's own ("package.module:name" in `judge.judges`), and puts the verdict together. The
first judge that rejects a page gives the reason. The scores of all judges reach the log and the corpus under their
names, whether the page is rejected or not.

- `soft404`: pages that resemble the origin's answer for a URL that cannot exist.
- `text`: pages without main text.
- `signals`: what authors state about the use of the page, applied by profile.
- `language`: CLD2 for each paragraph, py3langid where CLD2 is unsure, the user's own models. Recognised and accepted
  languages are two lists, so that a paragraph in a similar language is identified and dropped.
- `quality`: running text or not.
- `translation`: pages that say a machine translated them.
- `focus`: how well the page fits the topic of the crawl. It rejects a page only if a limit is set.

The order is that of the reasons, so a soft-404 page is reported as one whatever its language is. `quality` needs the
paragraphs that `language` keeps. Which pages are duplicates depends on other pages and is decided later, see
`dedup.decide`.
"""

from collections.abc import Callable
from typing import NamedTuple

from windrow.config import Config
from windrow.judge import quality, signals, soft404, text, translation
from windrow.judge.focus import topic
from windrow.judge.language import accept
from windrow.judge.ruling import Facts, Judge, Ruling, Span

__all__ = ["JUDGES", "Facts", "Judge", "Ruling", "Span"]


class JudgeRow(NamedTuple):
    build: Callable[[Config, Judge | None], Judge]
    textless: bool = False  # it also rules on pages without main text


JUDGES = {
    "soft404": JudgeRow(soft404.build, textless=True),
    "text": JudgeRow(text.build, textless=True),
    "signals": JudgeRow(signals.build, textless=True),
    "language": JudgeRow(accept.build),
    "quality": JudgeRow(quality.build),
    "translation": JudgeRow(translation.build),
    "focus": JudgeRow(topic.build),
}
