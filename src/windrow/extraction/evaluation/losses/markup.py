"""The pages of the site as HTML: no network, no frames, and scripts only in the index."""

from collections.abc import Iterable, Sequence
from html import escape

from windrow.extraction.evaluation.losses import style
from windrow.extraction.evaluation.losses.columns import MarkedText, TextRow
from windrow.extraction.evaluation.losses.view import Block, LossPage
from windrow.extraction.evaluation.score import PageScore

_FILTERS = ("dataset", "kind", "language")
_TITLES = {"dataset": "data set", "kind": "page type", "language": "language"}
_TEXT = 600  # characters of a block that are shown
_MARKS = {"missing": "del", "extra": "ins", "moved": "i"}


def index(pages: Sequence[LossPage], peers: Sequence[str]) -> str:
    """Return the table of the pages, with filters."""
    against = f"the best of {', '.join(peers)}" if peers else "a perfect text"
    name = pages[0].loss.ours.extractor if pages else ""
    head = f"Where {name} loses" if pages else "Nothing is lost"
    intro = f"{len(pages)} pages on which {name} loses F1 to {against}; the greatest loss first." if pages else ""
    rows = "\n".join(_index_row(number, page) for number, page in enumerate(pages, 1))
    other = "<th>best peer</th><th class=n>its F1</th>" if peers else ""
    heads = (
        "<th class=n></th><th class=n>lost</th><th class=n>F1</th>"
        f"{other}<th class=n>P</th><th class=n>R</th><th class=n>gold words</th>"
        "<th class=n>dropped</th><th class=n>kept</th><th>page</th><th>data set</th><th>type</th><th>lang</th>"
    )
    note = (
        "<p class=note><b>dropped</b>: blocks of the gold text that were dropped. <b>kept</b>: blocks that were kept "
        "and are not in the gold text.</p>"
    )
    filters = f"<p class=filters>{''.join(_filter(one, pages) for one in _FILTERS)}<span id=shown></span></p>"
    body = (
        f"<header><h1>{escape(head)}</h1><p>{escape(intro)}</p></header>{filters}{note}"
        f"<div class=wide><table class=index><thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
        f"<script>{style.SCRIPT}</script>"
    )
    return _document(head, body, scripts=True)


def page(made: LossPage, rows: Iterable[TextRow], blocks: Sequence[Block], names: tuple[str, str, str]) -> str:
    """Return the page of one loss; `names` are those of this page, the one before and the next."""
    ours, other = made.loss.ours, made.loss.other
    own, before, after = names
    links = [
        '<a href="../index.html">all pages</a>',
        f'<a href="{before}.html" rel=prev>← before</a>' if before else "",
        f'<a href="{after}.html" rel=next>next →</a>' if after else "",
        f'<a href="{own}.txt">source as text</a>',
    ]
    facts = [ours.dataset, ours.kind, ours.language, f"{ours.words:,} words of gold", made.url]
    heads = ["<th>gold</th>", f"<th>{_score(ours)}</th>", f"<th>{_score(other)}</th>" if other else ""]
    lines = "\n".join(_text_row(row, other is not None) for row in rows)
    body = (
        f"<nav>{' '.join(filter(None, links))}</nav>"
        f'<header><h1 dir="auto">{escape(made.title)}</h1>'
        f"<p>{escape(' · '.join(filter(None, facts)))} · <b>{_per_cent(made.loss.lost)} lost</b></p></header>"
        "<p class=note><del>missing</del> in our text, <ins>extra</ins> in a text, <i>moved</i>: at another place.</p>"
        f"<table class=texts><thead><tr>{''.join(heads)}</tr></thead><tbody>\n{lines}\n</tbody></table>"
        f"{_blocks(blocks)}"
    )
    return _document(made.title, body, scripts=False)


def _index_row(number: int, made: LossPage) -> str:
    ours, other = made.loss.ours, made.loss.other
    data = " ".join(f'data-{name}="{escape(getattr(ours, name))}"' for name in _FILTERS)
    best = f"<td>{escape(other.extractor)}</td><td class=n>{_per_cent(other.f1)}</td>" if other else ""
    link = f'<a href="pages/{number:04}.html" dir="auto">{escape(made.title)}</a>'
    return (
        f"<tr {data}><td class=n>{number}</td><td class=n><b>{_per_cent(made.loss.lost)}</b></td>"
        f"<td class=n>{_per_cent(ours.f1)}</td>{best}"
        f"<td class=n>{_per_cent(ours.overlap.precision)}</td><td class=n>{_per_cent(ours.overlap.recall)}</td>"
        f"<td class=n>{ours.words:,}</td><td class=n>{made.dropped or ''}</td><td class=n>{made.kept or ''}</td>"
        f"<td class=title>{link}</td><td>{escape(ours.dataset)}</td><td>{escape(ours.kind)}</td>"
        f"<td>{escape(ours.language)}</td></tr>"
    )


def _filter(name: str, pages: Sequence[LossPage]) -> str:
    values = sorted({getattr(page.loss.ours, name) for page in pages})
    options = "".join(f'<option value="{escape(value)}">{escape(value) or "unknown"}</option>' for value in values)
    return (
        f'<label>{_TITLES[name]} <select data-filter="{name}"><option value="*">all</option>{options}</select></label>'
    )


def _text_row(row: TextRow, other: bool) -> str:
    cells = [row.gold, row.ours, *([row.other] if other else [])]
    return "<tr>" + "".join(f'<td dir="auto">{"".join(map(_piece, cell))}</td>' for cell in cells) + "</tr>"


def _piece(piece: MarkedText) -> str:
    text = "<br>".join(escape(line) for line in piece.text.split("\n") if line.strip())
    tag = _MARKS.get(piece.mark)
    return f"<{tag}>{text}</{tag}>" if tag else text


def _blocks(blocks: Sequence[Block]) -> str:
    if not blocks:
        return "<p class=note>The extractor gives no blocks.</p>"
    wrong = sum(bool(block.wrong) for block in blocks)
    rows = "\n".join(_block(number, block) for number, block in enumerate(blocks, 1))
    heads = "<th class=n></th><th>class</th><th>first stage</th><th class=n>in gold</th><th>text</th><th>path</th>"
    return (
        f"<h2>Blocks: {len(blocks):,}, {wrong:,} wrong</h2>"
        "<input type=checkbox id=only><label for=only>only the wrong ones</label>"
        f"<table class=blocks><thead><tr>{heads}</tr></thead><tbody>\n{rows}\n</tbody></table>"
    )


def _block(number: int, block: Block) -> str:
    text = block.text if len(block.text) <= _TEXT else f"{block.text[:_TEXT]} …"
    share = "" if block.share is None else f"{100 * block.share:.0f} %"
    kind = (
        f"{block.kind}: {'not in the gold' if block.wrong == 'kept' else 'in the gold'}" if block.wrong else block.kind
    )
    path = ".".join(block.path.split(".")[-4:])
    return (
        f'<tr class="{block.wrong or "right"} {escape(block.kind)}"><td class=n>{number}</td><td>{escape(kind)}</td>'
        f'<td>{escape(block.own)}</td><td class=n>{share}</td><td dir="auto">{escape(text)}</td>'
        f'<td class=path title="{escape(block.path)}">{escape(path)}</td></tr>'
    )


def _score(score: PageScore) -> str:
    found = score.overlap
    scores = f"F1 {_per_cent(found.f1)} · P {_per_cent(found.precision)} · R {_per_cent(found.recall)}"
    return f"{escape(score.extractor)} <small>{scores}{' · failed' if score.error else ''}</small>"


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}"


def _document(title: str, body: str, scripts: bool) -> str:
    allowed = "script-src 'unsafe-inline'; " if scripts else ""
    policy = f"default-src 'none'; {allowed}style-src 'unsafe-inline'"
    text = style.PAGE.format(title=escape(title), policy=policy, style=style.STYLE, body=body)
    return "".join(one if one.isprintable() or one in "\n\t" else " " for one in text)
