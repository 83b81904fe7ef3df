"""A page in TEI P5, or many of them as a corpus.

In TEI a heading stands only at the beginning of a division. So each heading of a page begins a division, within that of
the last heading of a higher level. A heading in a list, a quotation or a cell is a block of the type "head".
"""

from collections.abc import Sequence

import windrow
from windrow.corpus.render import tree, xml
from windrow.corpus.render.subject import PageText
from windrow.corpus.render.tree import HEADINGS, Content, LeafBlock, Node
from windrow.records import Mark, Paragraph

NAMESPACE = "http://www.tei-c.org/ns/1.0"
PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
END = "</teiCorpus>\n"
_RENDITIONS = {"strong": '<hi rend="bold">', "em": '<hi rend="italic">', "code": "<code>"}
_CLOSING = {"link": "</ref>", "strong": "</hi>", "em": "</hi>", "code": "</code>"}
_UNKNOWN = "unknown"  # where TEI demands a name


def document(page: PageText) -> str:
    return PROLOG + element(page, root=True)


def start(title: str) -> str:
    """Return the beginning of a corpus; at least one `element` must follow, then END."""
    named, publisher = _element("title", title), _element("publisher", _UNKNOWN)
    header = _described(named, publisher, "<p>Pages of the web</p>\n")
    return f'{PROLOG}<teiCorpus xmlns="{NAMESPACE}">\n<teiHeader>\n{header}{_encoding()}</teiHeader>\n'


def element(page: PageText, root: bool = False) -> str:
    """Return a page as the element TEI; `root`: with its namespace."""
    comments = [paragraph for paragraph in page.paragraphs if paragraph.kind == "comment"]
    main = [paragraph for paragraph in page.paragraphs if paragraph.kind != "comment"]
    body = f'<div type="text">\n{_sections(tree.tree(main))}</div>\n'
    if comments:
        body += f'<div type="comments">\n{_sections(tree.tree(comments))}</div>\n'
    attributes = xml.attributes(
        [("xmlns", NAMESPACE if root else ""), ("xml:lang", xml.language(page.language))],
    )
    return f"<TEI{attributes}>\n{_header(page)}<text>\n<body>\n{body}</body>\n</text>\n</TEI>\n"


def _header(page: PageText) -> str:
    url, licence, day = xml.target(page.url), xml.target(page.licence), xml.day(page.date)
    title = _element("title", page.title) or "<title/>\n"
    author = _element("author", page.author)
    dated = _element("date", day, ("when", day))
    allowed = _element("licence", page.licence, ("target", licence))
    published = [
        _element("publisher", page.site or _UNKNOWN),
        dated,
        _element("idno", page.url, ("type", "URL")),
        f"<availability>\n{allowed}</availability>\n" if allowed else "",
    ]
    source = [title, author, _element("publisher", page.site), dated, _element("ref", page.url, ("target", url))]
    described = _described(title + author, "".join(published), f"<bibl>\n{''.join(source)}</bibl>\n")
    return f"<teiHeader>\n{described}{_encoding()}{_profile(page)}</teiHeader>\n"


def _element(name: str, text: str, *pairs: tuple[str, str]) -> str:
    return f"<{name}{xml.attributes(pairs)}>{xml.escape(text)}</{name}>\n" if text else ""


def _described(title: str, published: str, source: str) -> str:
    return (
        f"<fileDesc>\n<titleStmt>\n{title}</titleStmt>\n<publicationStmt>\n{published}</publicationStmt>\n"
        f"<sourceDesc>\n{source}</sourceDesc>\n</fileDesc>\n"
    )


def _encoding() -> str:
    application = f'<application ident="windrow" version="{windrow.__version__}"><label>Windrow</label></application>'
    return f"<encodingDesc>\n<appInfo>\n{application}\n</appInfo>\n</encodingDesc>\n"


def _profile(page: PageText) -> str:
    language = xml.language(page.language)
    parts = [
        f"<abstract>\n<p>{xml.escape(page.description)}</p>\n</abstract>\n" if page.description else "",
        f"<langUsage>\n<language{xml.attributes([('ident', language)])}/>\n</langUsage>\n" if language else "",
    ]
    if page.tags:
        terms = "".join([_element("term", tag) for tag in page.tags])
        parts.append(f"<textClass>\n<keywords>\n{terms}</keywords>\n</textClass>\n")
    return f"<profileDesc>\n{''.join(parts)}</profileDesc>\n" if any(parts) else ""


def _sections(content: Sequence[Content]) -> str:
    sections: list[str] = []
    levels: list[int] = []  # of the divisions that are open
    for part in content:
        level = HEADINGS.get(part.form) if isinstance(part, LeafBlock) else None
        if level is None or not isinstance(part, LeafBlock):
            sections.append(_block(part))
            continue
        level = 0 if part.form == "title" else level
        while levels and levels[-1] >= level:
            levels.pop()
            sections.append("</div>\n")
        levels.append(level)
        sections.append(f"<div>\n<head>{_text(part.paragraph)}</head>\n")
    return "".join([*sections, "</div>\n" * len(levels)])


def _blocks(content: Sequence[Content]) -> str:
    return "".join(map(_block, content))


def _block(part: Content) -> str:
    if isinstance(part, LeafBlock):
        text = _text(part.paragraph)
        if part.form in HEADINGS:
            return f'<ab type="head">{text}</ab>\n'
        return f"<head>{text}</head>\n" if part.form in ("caption", "figcaption") else f"<p>{text}</p>\n"
    match part.name:
        case "pre":
            return f'<ab type="code" xml:space="preserve">{xml.escape(tree.code(part))}</ab>\n'
        case "table":
            return _table(part)
        case "ul" | "ol":
            kind = "bulleted" if part.name == "ul" else "numbered"
            return f'<list rend="{kind}">\n{"".join(map(_item, tree.rows(part)))}</list>\n'
        case "dl":
            return _glossary(part)
        case "blockquote":
            return f"<quote>\n{_blocks(part.children)}</quote>\n"
    return f"<{part.name}>\n{_blocks(part.children)}</{part.name}>\n"


def _text(paragraph: Paragraph) -> str:
    return xml.text(paragraph, _opening, _CLOSING, "<lb/>\n")


def _opening(mark: Mark) -> str:
    if mark.kind != "link":
        return _RENDITIONS[mark.kind]
    url = xml.target(mark.target)
    return f"<ref{xml.attributes([('target', url)])}>" if url else ""


def _item(node: Node) -> str:
    number = xml.attributes([("n", str(node.number) if node.number else "")])
    return f"<item{number}>{_inner(node)}</item>\n"


def _inner(node: Node) -> str:
    """Return the content of an item or a cell: a single paragraph needs no element of its own."""
    only = node.children[0]
    if isinstance(only, LeafBlock) and only.form == "p" and len(node.children) == 1:
        return _text(only.paragraph)
    return f"\n{_blocks(node.children)}"


def _glossary(node: Node) -> str:
    """Terms and definitions alternate in TEI; one that is missing is empty. A term is a text without blocks."""
    parts: list[str] = []
    termed = False
    for child in tree.rows(node):
        if child.name == "dt":
            terms = "<lb/>\n".join([_text(leaf.paragraph) for leaf in tree.leaves(child)])
            parts += ["<item/>\n"] if termed else []
            parts.append(f"<label>{terms}</label>\n")
        else:
            parts += [] if termed else ["<label/>\n"]
            parts.append(f"<item>{_inner(child)}</item>\n")
        termed = child.name == "dt"
    parts += ["<item/>\n"] if termed else []
    return f'<list type="gloss">\n{"".join(parts)}</list>\n'


def _table(node: Node) -> str:
    captions = [_text(leaf.paragraph) for leaf in tree.captions(node)]
    grid = tree.grid(tree.rows(node))
    if not grid:
        return "".join([f'<ab type="caption">{caption}</ab>\n' for caption in captions])
    heads = "".join([f"<head>{caption}</head>\n" for caption in captions])
    rows = "".join([f"<row>\n{''.join(map(_cell, row))}</row>\n" for row in grid])
    return f"<table>\n{heads}{rows}</table>\n"


def _cell(cell: Node | None) -> str:
    if cell is None:
        return "<cell/>\n"
    role = ' role="label"' if cell.name == "th" else ""
    return f"<cell{role}>{_inner(cell)}</cell>\n"
