"""What a page needs to be shown: each form in which HTML and CSS name a file."""

import pytest

from windrow import urls
from windrow.extraction.page import requisites
from windrow.records import Capture, Task


def found(body: str, kind: str = "text/html; charset=utf-8", most: int = 100, charset: str = "utf-8") -> list[str]:
    url = urls.parse("http://a.test/dir/page")
    assert url is not None
    capture = Capture(
        task=Task(url),
        status=200,
        request=b"",
        head=f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode(),
        body=body.encode(charset),
        time=0.0,
        seconds=0.0,
        ip="",
        protocol="http/1.1",
    )
    return [one.text.removeprefix("http://a.test/dir/") for one in requisites.find(capture, most)]


SETS = {
    "a.png": ["a.png"],
    "a.png 1x, b.png 2x": ["a.png", "b.png"],
    "a.png 100w,b.png 200w": ["a.png", "b.png"],
    "a,b.png 1x, c.png": ["a,b.png", "c.png"],
    "a.png, b.png": ["a.png", "b.png"],
    " , a.png 2x ,": ["a.png"],
    "": [],
    "data:image/png;base64,xx 1x, b.png 2x": ["b.png"],
}


@pytest.mark.parametrize("text", SETS)
def test_a_set_of_images_is_taken_apart(text: str) -> None:
    assert found(f'<img srcset="{text}">') == SETS[text]


STYLES = {
    "a { background: url(a.png) }": ["a.png"],
    "a { background: url( 'a b.png' ) , url(\"c.png\") }": ["a%20b.png", "c.png"],
    "@import 'x.css'; @import \"y.css\" screen; @import url(z.css);": ["x.css", "y.css", "z.css"],
    "/* url(no.png) */ a { b: URL(A.png) }": ["A.png"],
    r"a { b: url(a\28 1\29.png) }": ["a(1).png"],
    r"a { b: url(\e9.png) }": ["%C3%A9.png"],
    "a { b: url(data:image/png;base64,x) url(#id) }": [],
    "a { b: url() url('') }": [],
}


@pytest.mark.parametrize("text", STYLES)
def test_a_style_names_files(text: str) -> None:
    assert found(text, "text/css") == STYLES[text]
    assert found(f"<style>{text}</style>") == STYLES[text]


ELEMENTS = {
    "<script src=a.js></script>": ["a.js"],
    "<link rel='preload stylesheet' href=a.css>": ["a.css"],
    "<link rel=canonical href=a><link rel=alternate href=b>": [],
    "<a href=b><area href=c></a>": [],
    "<input type=image src=a.png>": ["a.png"],
    "<table background=a.png><tr><td background=b.png></table>": ["a.png", "b.png"],
    "<svg><image xlink:href=a.png /><use href='s.svg#x' /></svg>": ["a.png", "s.svg"],
    "<p style='background: url(&quot;a.png&quot;)'>": ["a.png"],
    "<base href=/other/><img src=a.png>": ["http://a.test/other/a.png"],
    "<img src=a.png><img src=a.png#x><img src='./a.png'>": ["a.png"],
    "<img src=page>": [],
    "<img data-src=lazy.png src='data:x'>": ["lazy.png"],
    "<img src='javascript:x'><img src='about:blank'>": [],
}


@pytest.mark.parametrize("text", ELEMENTS)
def test_an_element_names_files(text: str) -> None:
    assert found(text) == ELEMENTS[text]


def test_at_most_so_many_are_taken() -> None:
    assert found("".join(f"<img src={number}.png>" for number in range(50)), most=3) == ["0.png", "1.png", "2.png"]


def test_a_query_is_in_the_charset_of_the_page_or_style() -> None:
    assert found("<img src='a?é'>", "text/html; charset=windows-1252", charset="cp1252") == ["a?%E9"]
    assert found("a { b: url('a?é') }", "text/css; charset=windows-1252", charset="cp1252") == ["a?%E9"]


@pytest.mark.parametrize("kind", ["image/png", "text/plain", "application/json", ""])
def test_another_file_has_none(kind: str) -> None:
    assert found("url(a.png) body", kind) == []


@pytest.mark.parametrize(
    "text",
    [
        "<img srcset='" + "a," * 200_000 + "'>",
        "<img srcset='" + " " * 200_000 + "'>",
        "<style>" + "url(" * 200_000 + "</style>",
        "<style>" + "/* " * 200_000 + "</style>",
        "<style>url(a" + " " * 200_000 + "</style>",
        "<p style='" * 100_000,
        '<p style="' + "url(" * 200_000,
        "<style>" + "@import" * 100_000 + "</style>",
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    found(text)  # the time limit of the test run ends a quadratic search
