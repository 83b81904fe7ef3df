"""Markdown: one document after another, each with front matter in YAML, as language models and note programs read it.

A document begins with the line "---", its facts and a second line "---". No text has such a line
(corpus/render/markdown.py), so a file can be cut into its documents by these lines alone. The values are JSON strings,
which are YAML too.
"""

from windrow.corpus.formats import markup
from windrow.corpus.formats.format import FormatOptions, Item
from windrow.corpus.render import markdown, subject


def encode(item: Item, options: FormatOptions) -> bytes:
    document = item.document
    page = subject.of_document(document, markup.licence(document))
    facts = (
        ("title", page.title),
        ("author", page.author),
        ("url", page.url),
        ("date", page.date),
        ("site", page.site),
        ("language", page.language),
        ("licence", page.licence),
        ("crawled", document.time),
        ("id", document.id),
    )
    return f"{markdown.front(facts)}\n{markdown.markdown(subject.headed(page))}\n".encode()
