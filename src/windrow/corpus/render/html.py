"""A page in HTML: a clean document of semantic elements, with what is known of the page in its head."""

from collections.abc import Sequence

from windrow.corpus.render import tree, xml
from windrow.corpus.render.subject import PageText
from windrow.corpus.render.tree import HEADINGS, Content, LeafBlock, Node
from windrow.records import Mark, Paragraph

_CLOSING = {"link": "</a>", "strong": "</strong>", "em": "</em>", "code": "</code>"}
_HEAD = '<!DOCTYPE html>\n<html{}>\n<head>\n<meta charset="utf-8">\n<title>{}</title>\n{}</head>\n<body>\n'
END = "</body>\n</html>\n"


def document(page: PageText) -> str:
    """Return a page as a document of its own."""
    facts = [
        _tag("meta", ("name", "author"), ("content", page.author)),
        _tag("meta", ("name", "date"), ("content", page.date)),
        _tag("meta", ("name", "description"), ("content", page.description)),
        _tag("meta", ("name", "keywords"), ("content", ", ".join(page.tags))),
        _tag("meta", ("property", "og:site_name"), ("content", page.site)),
        _tag("meta", ("property", "og:image"), ("content", xml.target(page.image))),
        _tag("link", ("rel", "canonical"), ("href", xml.target(page.url))),
        _tag("link", ("rel", "license"), ("href", xml.target(page.licence))),
    ]
    language = xml.attributes([("lang", xml.language(page.language))])
    head = _HEAD.format(language, xml.escape(page.title), "".join([f"{fact}\n" for fact in facts if fact]))
    return f"{head}<article>\n{_body(page)}</article>\n{END}"


def start(title: str) -> str:
    """Return the beginning of a document of several articles; END ends it."""
    return _HEAD.format("", xml.escape(title), "")


def article(page: PageText, name: str) -> str:
    """Return a page as one of several. A header holds what is known of it; `name`: of its file."""
    url = xml.target(page.url)
    facts = [
        ("File", xml.escape(name)),
        ("URL", f"<a{xml.attributes([('href', url)])}>{xml.escape(page.url)}</a>" if url else xml.escape(page.url)),
        ("Title", xml.escape(page.title)),
        ("Author", xml.escape(page.author)),
        ("Date", xml.escape(page.date)),
        ("Site", xml.escape(page.site)),
        ("Licence", xml.escape(page.licence)),
    ]
    rows = "".join([f"<dt>{label}</dt><dd>{value}</dd>\n" for label, value in facts if value])
    header = f"<header>\n<dl>\n{rows}</dl>\n</header>\n" if rows else ""
    language = xml.attributes([("lang", xml.language(page.language))])
    return f"<article{language}>\n{header}{_body(page)}</article>\n"


def _tag(name: str, *pairs: tuple[str, str]) -> str:
    """Return an element without content; "" if its last attribute has no value."""
    return f"<{name}{xml.attributes(pairs)}>" if pairs[-1][1] else ""


def _body(page: PageText) -> str:
    comments = [paragraph for paragraph in page.paragraphs if paragraph.kind == "comment"]
    main = [paragraph for paragraph in page.paragraphs if paragraph.kind != "comment"]
    parts = _contents(tree.tree(main))
    if comments:
        parts += f'<section class="comments">\n{_contents(tree.tree(comments))}</section>\n'
    return parts


def _contents(content: Sequence[Content]) -> str:
    return "".join([_leaf(part) if isinstance(part, LeafBlock) else _node(part) for part in content])


def _leaf(leaf: LeafBlock) -> str:
    name = f"h{HEADINGS[leaf.form]}" if leaf.form in HEADINGS else leaf.form
    return f"<{name}>{_text(leaf.paragraph)}</{name}>\n"


def _text(paragraph: Paragraph) -> str:
    return xml.text(paragraph, _opening, _CLOSING, "<br>\n")


def _opening(mark: Mark) -> str:
    if mark.kind != "link":
        return f"<{mark.kind}>"
    url = xml.target(mark.target)
    return f"<a{xml.attributes([('href', url)])}>" if url else ""


def _node(node: Node) -> str:
    match node.name:
        case "pre":
            # The parser drops a line end after the tag, so one is written for it.
            return f"<pre>\n{xml.escape(tree.code(node))}</pre>\n"
        case "table":
            return _table(node)
        case "ul" | "ol":
            return f"<{node.name}>\n{_items(node)}</{node.name}>\n"
        case "dt" | "dd" | "li" | "td" | "th":
            return f"<{node.name}>{_inner(node)}</{node.name}>\n"
    return f"<{node.name}>\n{_contents(node.children)}</{node.name}>\n"


def _inner(node: Node) -> str:
    """Return the content of an item or a cell: one paragraph, perhaps before a list, needs no element of its own."""
    first, *others = node.children
    lists = all(isinstance(other, Node) and other.name in ("ul", "ol", "dl") for other in others)
    if isinstance(first, LeafBlock) and first.form == "p" and lists:
        return _text(first.paragraph) + (f"\n{_contents(others)}" if others else "")
    return f"\n{_contents(node.children)}"


def _items(node: Node) -> str:
    """Return the items of a list. The number of an item is written where it is not one more than that before it."""
    parts, expected = [], 1
    for item in tree.rows(node):
        jump = node.name == "ol" and item.number and item.number != expected
        value = xml.attributes([("value", str(item.number))]) if jump else ""
        parts.append(f"<li{value}>{_inner(item)}</li>\n")
        expected = (item.number or expected) + 1
    return "".join(parts)


def _table(node: Node) -> str:
    captions = [_text(leaf.paragraph) for leaf in tree.captions(node)]
    rows = [
        f"<tr>{''.join(['<td></td>' if cell is None else _node(cell).removesuffix(chr(10)) for cell in row])}</tr>\n"
        for row in tree.grid(tree.rows(node))
    ]
    caption = f"<caption>{'<br>'.join(captions)}</caption>\n" if captions else ""
    return f"<table>\n{caption}{''.join(rows)}</table>\n"
