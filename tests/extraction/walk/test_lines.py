"""The lines of blocks: code with its indents, text with its line breaks, and nothing where they add nothing."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from tests.extraction.walk.pages import by_kernel, by_reference, written
from tests.extraction.walk.test_walk import PIECES, st
from windrow.extraction.walk import Walk


@pytest.fixture(params=[by_kernel, by_reference], ids=["kernel", "reference"])
def walked(request: pytest.FixtureRequest) -> Callable[..., Walk]:
    return lambda page, stock=False: request.param(written(page, stock), stock)


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<pre>def f():\n    return 1\n</pre>", {0: "def f():\n    return 1"}),
        ("<pre>\n\n  a  \n\n\tb\t\n \n</pre>", {0: "  a\n\n\tb"}),
        ("<pre>  indented</pre>", {0: "  indented"}),
        ("<pre>one line</pre><pre>two  blanks</pre>", {1: "two  blanks"}),
        ("<listing>a\n b</listing>", {0: "a\n b"}),
        ("<pre>a<br>  b<br><br> c</pre>", {0: "a\n  b", 1: " c"}),
        ("<pre><b>if</b> x:\n  <i>y</i></pre>", {0: "if x:\n  y"}),
        ("<pre><div>  a</div><div>    b</div></pre>", {0: "  a", 1: "    b"}),
        ("<pre>a\1\n\2 b&#13;c\u2003d&nbsp;e&lt;\u2028f</pre>", {0: "a\n b c d e< f"}),
        ("<pre>\ud800a\n \udfffb</pre>", {0: "a\n b"}),
        ("<pre>a\n<script>x\ny</script>\n b</pre>", {0: "a\n\n b"}),
        ("<div>a\n  b<pre>c\n d</pre>e\n  f</div>", {1: "c\n d"}),
        ("<p>one<br>two<br>three", {0: "one\ntwo\nthree"}),
        ("<p>one<br> <i>two  three</i>\nfour", {0: "one\ntwo three four"}),
        ("<p><br>one<br></p><p>two<br><b></b></p>", {}),
        ("<p>one<br><b></b><br>two", {0: "one\ntwo"}),
        ("one<br>two<br><br>three<br>four", {0: "one\ntwo", 1: "three\nfour"}),
        ("<p>\1<br>\2a<br>\3b", {0: "a\nb"}),
        ("<p>a  b\n c", {}),
    ],
)
def test_lines_are_kept_where_the_page_shows_them(
    page: str, lines: dict[int, str], walked: Callable[..., Walk]
) -> None:
    assert walked(page).lines == lines


def test_stock_has_no_lines(walked: Callable[..., Walk]) -> None:
    assert walked("<pre>a\n  b</pre>c<br>d", stock=True).lines == {}


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_lines_are_the_text_with_other_white_space(page: str) -> None:
    found = by_kernel("<pre>" + page)
    for block, lines in found.lines.items():
        assert " ".join(lines.split()) == found.texts[block] != lines
        assert not re.search(r"[ \t](\n|\Z)|\A\n|\n\Z|[^\S\n\t ]|[\0-\x08\x0e-\x1f]", lines)
