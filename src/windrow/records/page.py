"""What a page holds, and the judgement on it."""

import msgspec

from windrow.records.task import Link, Reason, Url


class Mark(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A link or an emphasis within a paragraph."""

    start: int  # in the text
    end: int
    kind: str  # "link", "strong", "em" or "code"
    target: str = ""  # of a link: its URL


KEPT_KINDS = frozenset({"good", "comment"})  # of a Paragraph; a property costs three times as much as a look-up here


class Paragraph(msgspec.Struct, frozen=True, gc=False, rename={"kind": "class"}):
    """A block of a page's text."""

    text: str  # one line, single blanks
    kind: str = "good"  # "good" (main text), "comment" (of a reader) or "bad"; jusText's class
    heading: bool = False
    path: str = ""  # of its element: "html.body.div.p"
    own: str = ""  # class without its neighbours: "good", "neargood", "short" or "bad"; jusText's cfclass
    language: str = ""  # in a document: ISO 639-3, if it differs from the document's language
    # The elements around it that give it a form, outermost first, with their numbers: "h2", "ol:2 li:3",
    # "table:1 tr:2 td:3", "blockquote:1", "pre:1", "figure:1 figcaption"; "title" for the headline of the page. Lists,
    # tables, quotations, code and figures are numbered on the page, items in their list, rows in their table, cells in
    # their row, all from 1.
    structure: str = ""
    lines: str = ""  # the text with its line ends and indents, where the page shows any: code, and lines of <br>
    marks: tuple[Mark, ...] = ()  # links and emphasis, if they are wanted

    @property
    def kept(self) -> bool:
        """Whether the extractor keeps its text. Loops over all paragraphs of a page look into KEPT_KINDS instead."""
        return self.kind in KEPT_KINDS


class Page(msgspec.Struct, frozen=True):
    """The result of extraction: text, links and metadata of a capture."""

    title: str = ""
    paragraphs: tuple[Paragraph, ...] = ()
    author: str = ""
    date: str = ""  # of publication: YYYY-MM-DD
    licence: str = ""  # URL of a licence link
    site: str = ""  # name of the site
    description: str = ""  # summary of the page, as declared
    tags: tuple[str, ...] = ()  # keywords and categories, as declared
    image: str = ""  # URL of the picture that stands for the page
    language: str = ""  # as declared
    charset: str = ""  # as decoded
    canonical: str = ""
    links: tuple[Link, ...] = ()
    doubtful: bool = False  # no paragraph of its text is certain to be one: the page may have no main text
    nofollow: bool = False  # meta robots
    noindex: bool = False
    shape: int = 0  # 32-bit hash of the visible text without digits: equal for the pages of a calendar trap
    # Names (lower case) and contents of the meta elements that judges read: directives for robots, marks of translation
    # tools. Attributes of <html> that such tools set have the names "html lang" and "html class".
    metas: tuple[tuple[str, str], ...] = ()
    licences: tuple[str, ...] = ()  # URLs that the page links as its licence


class ListedUrl(msgspec.Struct, frozen=True, gc=False):
    """An entry of a listing."""

    url: Url
    changed: float = 0.0  # epoch seconds when its page was last changed, as the listing says; 0: it does not say


class Listing(msgspec.Struct, frozen=True):
    """What a file that lists pages says, such as a sitemap or a feed: it is no page and has no text."""

    links: tuple[ListedUrl, ...] = ()
    nofollow: bool = False  # its X-Robots-Tag


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """One statement of an author or a host about the use of a page."""

    source: str  # "meta", "header", "robots.txt" or "tdmrep.json"
    name: str  # "noindex", "noai", "tdm-reservation", "tdm-policy", "train-ai", "search", "license", "ai-agents" …
    value: str = ""  # "y" or "n" for a use, "1" or "0" for a reservation, a URL for a policy or licence, "" otherwise
    field: str = ""  # the field that holds it: "X-Robots-Tag", "robots", "Content-Usage", …
    agent: str = ""  # the agent that it addresses, lower case; "" for all


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """The judgement on a page without regard to other pages. Duplicates are decided later, in the order of `seq`."""

    reason: Reason  # OK: the page belongs in the corpus, unless it is a duplicate
    detail: str = ""
    language: str = ""  # of the text to keep; of the page, if it is rejected; ISO 639-3
    scores: dict[str, float] = {}  # by the name of a judge
    clean: int = 0  # bytes of main text in any language
    primary: int = 0  # of these, bytes in the first accepted language
    digest: int = 0  # 64-bit hash of the text to keep
    page_language: str = ""  # of all main text, if it differs from `language`
