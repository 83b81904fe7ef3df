"""From the source of a page to its text lines: what is deleted, what is counted; hostile pages take linear time."""

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spent import cpu_seconds
from windrow.extraction.main.lines import source

TABLE_I = (
    *("a", "script", "noscript", "style", "meta", "!--", "param", "button", "select", "optgroup", "option", "label"),
    *("textarea", "fieldset", "legend", "input", "image", "map", "area", "form", "iframe", "embed", "object"),
)


def page(*lines: str) -> str:
    return "\n".join(("<html><head><title>Title</title></head>", "<body>", *lines, "</body></html>"))


def texts(html: str, anchors: bool = False) -> list[str]:
    return source.texts(source.lines(html), anchors)


def counts(html: str) -> list[tuple[int, int]]:
    return [(int(row[source.LINKS]), int(row[source.IMAGES])) for row in source.lines(html).features]


def test_the_worked_example_of_the_paper_is_reproduced() -> None:
    line = '<p class="texts" id=287>' + "x" * 170 + "</p>"
    assert len(line) == 198
    found = source.lines(page(*(f"line {number}" for number in range(1, 287)), line)).features
    assert found[286].round(2).tolist() == [287, 198, 170, 0.86, 0, 0]


def test_lengths_are_bytes() -> None:
    row = source.lines(page("<p>青岛</p>")).features[0]
    assert row.tolist() == [1, 13, 6, 6 / 13, 0, 0]


def test_entities_count_as_they_are_written() -> None:
    assert source.lines(page("<b>&lt;</b>")).features[0].tolist() == [1, 11, 4, 4 / 11, 0, 0]
    assert texts(page("<b>&lt;</b>")) == ["<"]


def test_only_the_text_between_the_body_tags_is_read() -> None:
    assert texts("before<html><head><title>T</title></head><BODY class=x>in</BODY>after") == ["in"]


@pytest.mark.parametrize(
    "html", ["<title>T</title>in", "<head><title>T</title></head>in", "in", "<body>in", "<body>in</body></body>"]
)
def test_a_page_without_one_of_the_body_tags_is_read_from_its_head_or_to_its_end(html: str) -> None:
    assert texts(html) == ["in"]


def test_blank_lines_and_redundant_white_space_are_deleted() -> None:
    found = source.lines(page("", "  one \t  two\u3000three&nbsp;&emsp; ", " \t", "&nbsp;", "four"))
    assert source.texts(found, False) == ["one two three", "four"]
    assert found.features[0].tolist() == [1, 13, 13, 1, 0, 0]


@pytest.mark.parametrize("tag", TABLE_I)
def test_each_of_the_23_useless_tags_is_deleted_with_its_content(tag: str) -> None:
    assert len(TABLE_I) == 23
    if tag == "!--":
        element = "<!-- <p>gone</p>\n gone -->"
    elif tag in source.VOID:
        element = f"<{tag} value='gone'>"
    else:
        element = f"<{tag} value='gone'>gone\n<b>gone</b></{tag.upper()}>"
    assert texts(page(f"text{element} goes on for some time, so that no element holds most of the page")) == [
        "text goes on for some time, so that no element holds most of the page"
    ]


def test_links_and_images_are_counted_before_links_are_deleted() -> None:
    html = page('text <a href="1">one</a> and <a href="2"><img src="2"></a> more <img src="3">', "<p>next</p>")
    assert texts(html) == ["text and more", "next"]
    assert counts(html) == [(2, 2), (0, 0)]


def test_links_in_other_useless_elements_are_counted_too() -> None:
    assert counts(
        page(
            "text <form><a>x</a> <select><option>y</select></form> that is longer than what the form holds, much longer"
        )
    ) == [(1, 0)]


def test_links_of_lines_without_text_count_in_the_next_text_line() -> None:
    html = page("<p>one</p>", "<li><a>x</a></li>", "<li><a>y</a><img></li>", "<p>two</p>", "<a>z</a>")
    assert texts(html) == ["one", "two"]
    assert counts(html) == [(0, 0), (2, 1)]


def test_the_text_of_links_can_be_restored() -> None:
    html = page("<p>read <a href=x>the\n <b>news</b></a> today</p>", "<p><a>menu</a></p>")
    assert texts(html, anchors=True) == ["read the news today"]
    assert texts(html, anchors=False) == ["read today"]
    assert source.pieces(source.lines(html).marked[0]) == ["read ", " today"]


def test_a_line_of_the_source_is_a_line() -> None:
    assert texts(page("<p>one", "two <b>three</b>", "four</p>")) == ["one", "two three", "four"]


def test_a_long_source_line_is_broken_around_its_blocks() -> None:
    html = "<body><div><h1>one</h1><p>two <i>three</i></p>four<br>five<br/><ul><li>six<li>seven</ul>eight</div></body>"
    assert texts(html) == ["one", "two three", "four", "five", "six", "seven", "eight"]


def test_the_same_page_on_one_line_or_on_many_gives_the_same_lines() -> None:
    parts = ["<div class='x'>", "<h1>one</h1>", "<p>two <a href=y>link</a></p>", "</div>", "<p>three</p>"]
    one, many = source.lines(page("".join(parts))), source.lines(page(*parts))
    assert one.marked == many.marked
    assert (one.features == many.features).all()


def test_a_tag_over_several_lines_is_one_tag() -> None:
    assert texts(page('<p\n class="a\nb"\n>text <b\n>bold</b></p>')) == ["text bold"]


def test_attributes_may_hold_what_looks_like_tags() -> None:
    assert texts(page('<p title="a > b <p>c</p>">text</p>')) == ["text"]
    assert texts(page('<p data="<a href=x>" id="<script>x</script>">text <b title="\n<br>">bold</b> text</p>')) == [
        "text bold text"
    ]


def test_of_an_element_that_never_ends_only_the_tag_is_deleted() -> None:
    assert texts(page('<a name="top">', "<p>one</p>", "<label>two", "<textarea>three", "<iframe>four <a>link</a>")) == [
        "one",
        "two",
        "three",
        "four",
    ]


def test_a_script_or_comment_that_never_ends_takes_the_rest_of_the_page() -> None:
    assert texts(page("<p>one</p>", "<script>var two;")) == ["one"]
    assert texts(page("<p>one</p>", "<!-- two")) == ["one"]


def test_a_form_around_most_of_the_page_is_not_deleted() -> None:
    assert texts(page("<form action=x>", "<p>one</p>", "<label>gone</label>", "<p>two</p>", "</form>")) == [
        "one",
        "two",
    ]


def test_a_heading_is_recognised_and_a_wrapped_paragraph_continues() -> None:
    found = source.lines(page("<h2>head</h2>", "<p>one", "", "two</p>", "three", "<br>", "four", "</div>", "five"))
    assert source.texts(found, False) == ["head", "one", "two", "three", "four", "five"]
    assert [source.heading(found, line)[:1] for line in range(6)] == ["h", "", "", "", "", ""]
    assert [source.continues(found, line) for line in range(1, 6)] == [False, True, False, False, False]


def test_text_has_no_control_characters_and_no_lone_surrogates() -> None:
    assert texts(page("a\x00b\x01c\x02d\x03e\x1bf&#1;g\ud800h\ufeffi&#xD800;j\tk")) == ["abcdefghi\ufffdj k"]


HOSTILE = {
    "open brackets": "<",
    "names": "<a",
    "quotes that open": '<a ="',
    "brackets in quotes": '<a =">" ',
    "quoted tags": '="<a" ',
    "both quotes": "<a ='\"",
    "links": "<a>",
    "forms": "<form>",
    "text areas": "<textarea>",
    "comments": "<!-->",
    "open comments": "<!--",
    "bodies": "<body>",
    "ends of bodies": "</body>",
    "blocks": "<div>x",
    "breaks": "<br ",
    "blanks": " \t",
    "lines": "x\n",
    "entities": "&#x",
    "marks": "\x01",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_take_linear_time(unit: str) -> None:
    """Eight times the length takes at most 24 times the CPU time; quadratic time would be 64 times."""

    def cost(length: int) -> float:
        text = "<body><a " + unit * (length // len(unit))
        return min(cpu_seconds(functools.partial(source.lines, text)) for _ in range(2))

    assert cost(1 << 18) < 24 * cost(1 << 15) + 0.05


def test_a_very_long_page_is_truncated() -> None:
    assert len(source.lines("x\n" * (1 << 18)).marked) == 1 << 16


PIECES = [
    *(
        "<p>",
        "</p>",
        "<a href='x'>",
        "</a>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<form>",
        "</form>",
        "<body>",
        "</body>",
        "<h1>",
    ),
    *(
        '<b title="',
        '">',
        "<",
        ">",
        "=",
        "'",
        "\n",
        " ",
        "文字",
        "word",
        "&nbsp;",
        "&#0;",
        "\x01",
        "\x03",
        "<img>",
        "<br>",
        "\ud800",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_page_gives_consistent_lines(html: str) -> None:
    found = source.lines(html)
    assert len(found.marked) == len(found.numbers) == len(found.features)
    for line, row in enumerate(found.features):
        assert 0 < row[source.OUTPUT] <= row[source.TEXT]
        assert 0 < row[source.DENSITY] <= 1
        assert row[source.INDEX] == line + 1
    for anchors in (False, True):
        for text in source.texts(found, anchors):
            text.encode()
            assert text.isprintable() or not any(ord(letter) < 32 for letter in text)
    for line in range(1, len(found.marked)):
        source.continues(found, line)
