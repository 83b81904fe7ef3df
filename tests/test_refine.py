"""Extract, then the rules: which links come out, and what is said of the others."""

from windrow import config, urls
from windrow.data import Capture, Page, Task
from windrow.refine import Refined, Refiner

PAGE = b"<title>t</title><a href=one><a href=two.pdf><a href=http://other.test/><a href=three rel=nofollow><a href=mailto:x>"


def capture(body: bytes, *fields: bytes) -> Capture:
    url = urls.parse("http://site.test/")
    assert url
    head = b"\r\n".join((b"HTTP/1.1 200 OK", b"Content-Type: text/html", *fields, b"", b""))
    return Capture(Task(url), 200, b"", head, body, 0.0, 0.0, "127.0.0.1", "http/1.1")


def refine(body: bytes, *fields: bytes, **scope: object) -> Refined:
    return Refiner(config.Config(scope=config.Scope(**scope)))(capture(body, *fields))  # type: ignore[arg-type]


def texts(refined: Refined) -> list[str]:
    return [link.url.text for link in refined.links]


def test_links_that_a_rule_refuses_are_counted_and_the_others_kept() -> None:
    refined = refine(PAGE, domains=("site.test",))
    assert texts(refined) == ["http://site.test/one"]
    assert refined.refused == {"suffix": 1, "domain": 1, "nofollow": 1}
    assert refined.page.title == "t"


def test_the_same_link_is_judged_alike_on_every_page() -> None:
    refiner = Refiner(config.Config(scope=config.Scope(domains=("site.test",))))
    assert refiner(capture(PAGE)) == refiner(capture(PAGE))


def test_a_page_marked_nofollow_keeps_no_link() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow")
    assert (texts(refined), refined.refused) == ([], {"nofollow": 4})
    assert refined.page.nofollow


def test_only_the_crawler_that_is_addressed_obeys() -> None:
    body = b"<meta name=windrow content=nofollow><a href=x>"
    assert refine(body).refused == {"nofollow": 1}
    other = Refiner(config.Config(crawler=config.Crawler(name="other")))
    assert texts(other(capture(body))) == ["http://site.test/x"]


def test_nofollow_is_not_obeyed_where_the_operator_says_so() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow", follow_nofollow=True)
    assert texts(refined) == ["http://site.test/one", "http://other.test/", "http://site.test/three"]
    assert refined.refused == {"suffix": 1}


def test_what_is_no_page_has_nothing_to_refuse() -> None:
    assert refine(b"") == Refined(Page(), {})


def test_no_more_links_are_read_than_the_option_says() -> None:
    body = b"".join(b"<a href=%d>" % number for number in range(20))
    assert len(Refiner(config.Config(extract=config.Extract(max_links=5)))(capture(body)).links) == 5
