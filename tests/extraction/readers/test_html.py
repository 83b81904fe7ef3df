"""Links, directives, language and shape of a page; hostile pages take linear time."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared import shared
from windrow import urls
from windrow.extraction import walk
from windrow.extraction.page import anchors
from windrow.extraction.readers import html
from windrow.records import Capture, Page, Task

HOME = "http://site.test/dir/page.html"


def capture(body: bytes | str, *fields: str, url: str = HOME, encoded: bool = False) -> Capture:
    known = urls.parse(url)
    assert known
    lines = fields or ("Content-Type: text/html; charset=utf-8",)
    head = "\r\n".join(("HTTP/1.1 200 OK", *lines, "", "")).encode("latin-1")
    body = body if isinstance(body, bytes) else body.encode()
    return Capture(Task(known), 200, b"", head, body, 0.0, 0.0, "127.0.0.1", "http/1.1", encoded=encoded)


def read(body: bytes | str, *fields: str, url: str = HOME) -> Page:
    return html.extract(capture(body, *fields, url=url), 10000, "Windrow")


def linked(body: bytes | str, *fields: str, url: str = HOME) -> list[str]:
    return [link.url.text for link in read(body, *fields, url=url).links]


def test_links_are_canonical_once_each_and_in_order() -> None:
    page = "<a href=b>1</a><a href='../c'>2</a><a href=//other.test/d>3</a><a href='b#part'>4</a><a href=/dir/b>5</a>"
    assert linked(page) == ["http://site.test/dir/b", "http://site.test/c", "http://other.test/d"]


def test_white_space_around_and_inside_a_url_is_removed() -> None:
    assert linked('<a href="  /a\n b\t">') == ["http://site.test/a%20b"]


def test_a_page_does_not_link_to_itself() -> None:
    assert linked("<a href='#top'><a href=''><a href=page.html><a href='http://SITE.test:80/dir/page.html#x'>") == []


def test_a_url_of_another_scheme_is_not_a_link() -> None:
    assert (
        linked(
            "<a href=mailto:a@b.test><a href=javascript:x><a href=ftp://a.test/><a href=data:,x><a href='http://'>"
            "<a name=x>"
        )
        == []
    )


def test_frames_areas_and_a_refresh_are_links() -> None:
    page = "<meta http-equiv=Refresh content=\"5; URL='next.html'\"><map><area href=a></map><iframe src=i></iframe>"
    assert linked(page) == [f"http://site.test/dir/{name}" for name in ("a", "i", "next.html")]
    assert linked("<frameset><frame src=left><frame src=right></frameset>") == [
        "http://site.test/dir/left",
        "http://site.test/dir/right",
    ]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=x", "x"),
        ("0; URL = x", "x"),
        ("0,x", "x"),
        (' 1.5 ; url="x" y', "x"),
        ("3 x", "x"),
        ("0;", None),
        ("5", None),
        ("x", None),
        ("; url=x", None),
    ],
)
def test_a_refresh_is_read_as_browsers_read_it(content: str, target: str | None) -> None:
    expected = [f"http://site.test/dir/{target}"] if target else []
    assert linked(f"<meta http-equiv=refresh content='{content}'>") == expected


def test_link_elements_name_related_pages_but_not_feeds_and_styles() -> None:
    page = read(
        "<link rel=Canonical href=/c><link rel=next href=n><link rel=prev href=p><link rel=stylesheet href=s>"
        "<link rel=icon href=i>"
        "<link rel='alternate stylesheet' href=as><link rel=alternate hreflang=cs href=cs>"
        "<link rel=alternate type=application/rss+xml href=rss>"
    )
    assert [(link.url.text.removeprefix("http://site.test/"), link.rel) for link in page.links] == [
        ("c", "canonical"),
        ("dir/n", "next"),
        ("dir/p", "prev"),
        ("dir/cs", "alternate"),
    ]
    assert page.canonical == "http://site.test/c"


def test_urls_are_relative_to_the_first_base_element_with_an_href() -> None:
    assert linked("<base target=x><base href=/other/><base href=/third/><a href=a><a href='#x'>") == [
        "http://site.test/other/a",
        "http://site.test/other/",
    ]


def test_links_in_the_tree_are_made_absolute_on_request() -> None:
    body = "<base href=/other/><a href='a?b=1&amp;c'>1<a href='#x'>2<a href=mailto:x@y.test>3<a>4<a href='b#part'>5"
    for absolute, hrefs in (
        (False, ["a?b=1&c", "#x", "mailto:x@y.test", None, "b#part"]),
        (True, ["http://site.test/other/a?b=1&c", "", "", None, "http://site.test/other/b"]),
    ):
        tree = html.read(capture(body), 0, absolute=absolute).tree
        assert tree is not None
        assert [element.attr("href") for element in tree.find_all("a")] == hrefs


def test_a_base_of_another_scheme_is_ignored() -> None:
    assert linked("<base href='javascript:x'><a href=a>") == ["http://site.test/dir/a"]


def test_links_in_templates_and_noscript_count_and_those_in_comments_and_scripts_do_not() -> None:
    assert linked("<noscript><a href=a></a></noscript><!-- <a href=b> --><script>'<a href=c>'</script>") == [
        "http://site.test/dir/a"
    ]


def test_a_link_keeps_its_rel() -> None:
    page = read("<a href=a rel='NoFollow ugc'><a href=b><a href=c rel=next>")
    assert [link.rel for link in page.links] == ["nofollow ugc", "", "next"]


def test_one_link_to_follow_overrides_others_with_nofollow() -> None:
    for page in (
        "<a href=a rel=nofollow><a href=a#b>",
        "<a href=a><a href=a rel=nofollow>",
        "<a href=a rel=nofollow><a href=/dir/a>",
    ):
        assert [link.rel for link in read(page).links] == [""]
    assert [link.rel for link in read("<a href=a rel=nofollow><a href=a rel=nofollow>").links] == ["nofollow"]


def described(page: str) -> list[tuple[str, str, str]]:
    return [(link.anchor, link.context, link.language) for link in html.extract(capture(page), 10, known=()).links]


def test_what_a_page_says_of_its_links_is_read_on_request() -> None:
    page = "<p>Before <a href=a hreflang=DE-at> some\n <b>text</b></a> behind<a href=b>" + "x" * 500 + "</a>"
    long = "x" * 128
    assert described(page) == [
        ("some text", "Before behind" + "x" * 93, "de-at"),
        (long, "Before some text behind", ""),
    ]
    assert [(link.anchor, link.context, link.language) for link in read(page).links] == [("", "", "")] * 2


def test_links_to_one_url_have_the_first_anchor_that_there_is() -> None:
    page = "<a href=a><img></a><p>one <a href=/dir/a#x>two</a></p><a href=//site.test/dir/a>three</a>"
    assert described(page) == [("two", "one", "")]
    refused = "<p>one <a href=a rel=nofollow>two</a><p><a href=/dir/a></a>"
    assert [(link.anchor, link.rel) for link in html.extract(capture(refused), 9, known=()).links] == [("two", "")]


def test_a_link_that_is_no_anchor_has_the_title_and_the_language_that_its_element_names() -> None:
    page = (
        "<link rel=alternate hreflang=CS-cz href=a title=' In Czech '><link rel=next href=b><map><area href=c alt=Room>"
        "<area href=c alt=Other></map><iframe src=d title=Frame></iframe><p>text <a href=b>anchor</a>"
    )
    assert described(page) == [
        ("anchor", "text", ""),
        ("In Czech", "", "cs-cz"),
        ("Room", "", ""),
        ("Frame", "", ""),
    ]


def test_links_that_are_known_are_not_described_again(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "<p>some <a href=a>first</a> words <a href=b>second</a>"
    keys = [link.url.key for link in read(body).links]
    found = html.extract(capture(body), 10, known={keys[0]}).links
    assert [(link.anchor, link.context) for link in found] == [("", ""), ("second", "some first words")]
    monkeypatch.setattr(anchors, "describe", None)  # to call it would fail
    assert html.extract(capture(body), 10, known=keys).links == read(body).links


def test_links_are_described_in_a_tree_whose_links_are_absolute_too() -> None:
    body = "<base href=/other/><p>one <a href='a?b=1&amp;c#x'>two</a><p>a <a href='http://b.test/ü'>three</a>"
    expected = [("two", "one"), ("three", "a")]
    for absolute in (False, True):
        page = html.read(capture(body), 10, known=(), absolute=absolute).page
        assert [(link.anchor, link.context) for link in page.links] == expected


def test_the_markup_is_written_once_for_links_and_walk() -> None:
    page = html.read(capture("<title>t</title><p>text <a href=a>b</a>"), 10, known=())
    assert page.tree is not None
    assert (page.markup, page.page.title) == (walk.markup(page.tree), "t")
    assert html.read(capture("<a href=a>b</a>"), 10).markup == ""


def test_at_most_max_links_are_taken() -> None:
    assert len(html.extract(capture("".join(f"<a href={n}>" for n in range(50))), 7).links) == 7


@pytest.mark.parametrize(
    ("content", "nofollow", "noindex"),
    [
        ("nofollow", 1, 0),
        ("NOINDEX, NoFollow", 1, 1),
        ("none", 1, 1),
        ("all", 0, 0),
        ("noindex nofollow", 1, 1),
        ("max-snippet:-1, noindex", 0, 1),
    ],
)
def test_a_meta_element_gives_directives_to_robots(content: str, nofollow: int, noindex: int) -> None:
    page = read(f"<meta name=Robots content='{content}'>")
    assert (page.nofollow, page.noindex) == (nofollow, noindex)


def test_a_meta_element_may_address_us_alone_and_cannot_revoke_another() -> None:
    page = read(
        "<meta name=robots content=noindex><meta name=windrow content='index, nofollow'>"
        "<meta name=otherbot content=none>"
    )
    assert page.nofollow and page.noindex
    assert not read("<meta name=otherbot content=none>").nofollow


@pytest.mark.parametrize(
    ("values", "nofollow", "noindex"),
    [
        (["nofollow"], 1, 0),
        (["NoIndex", "nofollow"], 1, 1),
        (["otherbot: none"], 0, 0),
        (["otherbot: noindex, nofollow"], 0, 0),
        (["windrow: nofollow"], 1, 0),
        (["*: noindex"], 0, 1),
        (["noindex, otherbot: nofollow"], 0, 1),
        (["otherbot: noindex, WINDROW: nofollow"], 1, 0),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow"], 1, 0),
        (["max-snippet: 20, noindex"], 0, 1),
        (["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", "none"], 1, 1),
    ],
)
def test_a_header_gives_directives_to_robots(values: list[str], nofollow: int, noindex: int) -> None:
    fields = ["Content-Type: text/html", *(f"X-Robots-Tag: {value}" for value in values)]
    page = read("<p>", *fields)
    assert (page.nofollow, page.noindex) == (nofollow, noindex)


def test_the_directives_of_a_header_also_apply_if_the_body_is_not_html() -> None:
    assert read(b"%PDF-1.7", "Content-Type: application/pdf", "x-robots-tag: noindex") == Page(noindex=True)


def test_title_language_and_charset_are_as_declared() -> None:
    page = read("<html lang=' cs-CZ '><title> A\n <b>title</b> &amp; \x01more</title><svg><title>no</title></svg>")
    assert (page.title, page.language, page.charset) == ("A <b>title</b> & more", "cs-CZ", "UTF-8")
    assert read("<svg><title>no</title></svg>").title == ""
    assert read("<html xml:lang=de>").language == "de"
    assert read("<html lang='<script>'>").language == ""


def test_a_page_may_declare_its_language_in_a_meta_element() -> None:
    locale = "<meta property=og:locale content=nn_NO>"
    pragma = "<meta http-equiv=Content-Language content=gl>"
    assert read(f"<html lang=sr>{pragma}{locale}").language == "sr"
    assert read(f"<html>{locale}{pragma}").language == "gl"
    assert read(f"<html lang=''>{locale}").language == "nn_NO"
    assert read("<html><meta http-equiv=content-language content='de, en'>").language == ""


def test_directives_to_robots_and_traces_of_translators_are_kept_for_the_judges() -> None:
    page = read(
        "<html lang=cs-x-mtfrom-en class='a translated-ltr' data-gt-lang=cs data-theme=dark>"
        "<meta name=Robots content='noai, noindex'><meta name=windrow content=nofollow>"
        "<meta name=TDM-Reservation content=1>"
        "<meta name=generator content='WordPress 6'><meta name=generator content='GTranslate, a translator'>"
        "<meta name=viewport content=x>"
        "<meta name=translated-by content='a\x01b'><meta name=robots>"
    )
    assert page.metas == (
        ("robots", "noai, noindex"),
        ("windrow", "nofollow"),
        ("tdm-reservation", "1"),
        ("generator", "GTranslate, a translator"),
        ("translated-by", "ab"),
        ("robots", ""),
        ("html lang", "cs-x-mtfrom-en"),
        ("html class", "a translated-ltr"),
        ("html data-gt-lang", "cs"),
    )
    assert page.noindex and page.nofollow
    assert read("<html lang=en class=no-js><meta charset=utf-8><meta name=viewport content=x>").metas == ()


def test_the_shape_of_a_text_ignores_digits_white_space_scripts_and_markup() -> None:
    first = read("<p>Week 12 of <b>2024</b></p><script>nonce = 'a'</script>").shape
    assert first == read("<div>Week 3 of\n 2031</div><style>b {}</style><a href=x></a>").shape
    assert first != read("<p>Weak 12 of 2024</p>").shape
    assert first != 0


def test_the_shape_ignores_the_digits_of_other_scripts() -> None:
    for digits in ("٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "๐๑๒๓๔๕๖๗๘๙", "０１２３４５６７８９"):
        assert len({read(f"<p>Seite {digit}</p>").shape for digit in digits}) == 1
    assert read("<p>Съешь ещё этих булок").shape != read("<p>Съешь ещё тех булок").shape


def test_long_texts_that_differ_at_either_end_differ_in_shape() -> None:
    menu = "<p>" + "the same menu " * 200 + "</p>"
    assert len({read(menu + text + menu).shape for text in ("<p>one</p>", "<p>two</p>")}) == 2
    long = "<p>" + "long text " * 5000
    assert len({read(text).shape for text in (long, "x" + long, long + "x")}) == 3


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (["Content-Type: application/json"], b"<a href=x>"),
        (["Content-Type: text/plain"], b"<a href=x>"),
        (["Content-Type: application/rss+xml"], b"<a href=x>"),
        (["Content-Type: text/html"], b"%PDF-1.7 <a href=x>"),
        (["Content-Type: text/html"], b"\x89PNG\r\n\x1a\n <a href=x>"),
        (["Content-Type: text/html"], bytes(range(256)) * 4 + b"<a href=x>"),
        (["Content-Type: text/html"], b""),
        (
            ["Content-Type: application/xml"],
            b"<?xml version='1.0'?><urlset><url><loc>http://a.test/</loc></url></urlset>",
        ),
        (["Server: x"], b"just text, <b>almost</b> none of it marked up"),
        (["Server: x"], b"<?xml version='1.0'?><rss><channel><title>t</title></channel></rss>"),
    ],
)
def test_a_body_that_is_not_html_gives_an_empty_page(fields: list[str], body: bytes) -> None:
    assert read(body, *fields) == Page()


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (["content-type: TEXT/HTML"], b"<a href=x>"),
        (["Content-Type: text/html"], b"\0<a href=x>"),
        (["Content-Type: application/xhtml+xml"], b"<html><a href=x/></html>"),
        (
            ["Content-Type: text/xml"],
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><a href='x'/></html>",
        ),
        (["Server: x"], b" \n<!DOCTYPE html><a href=x>"),
        (["Server: x"], b"<p>a fragment</p><a href=x>"),
        (["Content-Type:"], b"\xef\xbb\xbf<HTML><a href=x>"),
        (["Server: x"], "\ufeff<html><a href=x>".encode("utf-16-le")),
    ],
)
def test_a_body_that_is_html_by_type_or_by_content_is_read(fields: list[str], body: bytes) -> None:
    assert [url.rstrip("/") for url in linked(body, *fields)] == ["http://site.test/dir/x"]


def test_a_body_that_could_not_be_decoded_gives_an_empty_page() -> None:
    assert html.extract(capture("<a href=x>", encoded=True), 10) == Page()


def test_a_script_closed_in_its_own_tag_does_not_swallow_an_xhtml_page() -> None:
    page = "<html><head><script src='a.js' /><title/></head><body><a href='x'>x</a></body></html>"
    assert linked(page, "Content-Type: application/xhtml+xml") == ["http://site.test/dir/x"]
    assert linked(page) == ["http://site.test/dir/x"]


def test_a_frame_closed_in_its_own_tag_does_not_swallow_the_links_after_it() -> None:
    assert linked("<a href=a>a</a><iframe title='b' /><p><a href=b>b</a>") == [
        "http://site.test/dir/a",
        "http://site.test/dir/b",
    ]


def test_lone_surrogates_and_nulls_become_valid_text() -> None:
    page = read("<title>&#xD800;\0\x01x</title><a href='&#xDFFF;'><a href='\0'>")
    assert "x" in page.title
    assert "\0" not in page.title
    repr(page).encode()
    assert [link.url.text for link in page.links] == ["http://site.test/dir/%EF%BF%BD"]


@given(st.binary(max_size=300))
def test_any_bytes_give_a_valid_page(body: bytes) -> None:
    repr(read(b"<html>" + body)).encode()
    repr(read(body, "Server: x")).encode()


@given(st.text(max_size=60))
def test_any_attribute_values_give_valid_records(value: str) -> None:
    escaped = value.encode("utf-8", "replace").decode().replace("&", "&amp;").replace('"', "&quot;")
    page = f'<a href="{escaped}" rel="{escaped}"><base href="{escaped}"><meta name=robots content="{escaped}">'
    page += f'<meta http-equiv=refresh content="{escaped}"><html lang="{escaped}"><link rel=canonical href="{escaped}">'
    repr(read(page)).encode()


@pytest.mark.parametrize(
    "start", ["<div>", "<b>", "<table><tr><td>", "<a href=x><b>", "<svg>", "<ul><li>", "<span a=1 b=2>"]
)
def test_the_last_link_is_found_below_two_hundred_thousand_elements(start: str) -> None:
    assert linked(start * 200_000 + "<a href=deep>")[-1] == "http://site.test/dir/deep"


@pytest.mark.parametrize(
    "page",
    [
        lambda: "<a " + " ".join(f"a{n}=1" for n in range(500_000)) + " href=x>",
        lambda: "x" * 8_000_000 + "<a href=x>",
        lambda: "<a href=x>" + "<" * 2_000_000,
        lambda: "<meta http-equiv=refresh content='" + "1" * 4_000_000 + "'><a href=x>",
        lambda: "<meta http-equiv=refresh content='1" + " " * 4_000_000 + "'><a href=x>",
        lambda: "<a href=x><table><td colspan=9007199254740991>",
        lambda: "<a href=x rel='" + "nofollow " * 400_000 + "'>",
        lambda: "<!-- " * 500_000 + "--><a href=x>",
        lambda: "<title>" + "<title>" * 500_000 + "</title><a href=x>",
    ],
    ids=["attributes", "line", "brackets", "digits", "blanks", "colspan", "rel", "comments", "titles"],
)
def test_an_extreme_page_is_read_like_any_other(page: Callable[[], str]) -> None:
    assert linked(page()) == ["http://site.test/dir/x"]


def test_of_half_a_million_links_the_first_max_links_are_taken() -> None:
    page = "".join(f"<a href={n}>" for n in range(500_000))
    assert [link.url.text for link in html.extract(capture(page), 3).links] == [
        f"http://site.test/dir/{n}" for n in range(3)
    ]


def test_naughty_strings_give_valid_records() -> None:
    strings = shared("conformance/blns/blns.json").read_text(encoding="utf-8", errors="surrogatepass")
    repr(read(strings.encode("utf-8", "replace"))).encode()
    repr(read(f"<title>{strings}</title>".encode("utf-8", "replace"))).encode()
