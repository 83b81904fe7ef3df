"""Extract, then the rules and the judges: which links come out, what is said of the others, and what is left of the text."""

import json

import msgspec

from windrow import config, urls
from windrow.data import Capture, Reason, Task, Verdict
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


def test_the_same_link_is_judged_alike_on_every_page() -> None:
    refiner = Refiner(config.Config(scope=config.Scope(domains=("site.test",))))
    assert refiner(capture(PAGE)) == refiner(capture(PAGE))


def test_a_page_marked_nofollow_keeps_no_link() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow")
    assert (texts(refined), refined.refused) == ([], {"nofollow": 4})


def test_only_the_crawler_that_is_addressed_obeys() -> None:
    body = b"<meta name=windrow content=nofollow><a href=x>"
    assert refine(body).refused == {"nofollow": 1}
    other = Refiner(config.Config(identity=config.Identity(name="other")))
    assert texts(other(capture(body))) == ["http://site.test/x"]


def test_nofollow_is_not_obeyed_where_the_operator_says_so() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow", follow_nofollow=True)
    assert texts(refined) == ["http://site.test/one", "http://other.test/", "http://site.test/three"]
    assert refined.refused == {"suffix": 1}


def test_what_is_no_page_has_nothing_to_refuse() -> None:
    assert refine(b"") == Refined((), 0, {}, Verdict(Reason.NO_TEXT))


TEXT = (
    "Am Rand des Dorfes steht ein altes Haus, in dem seit vielen Jahren niemand mehr wohnt. ",
    "Die Kinder erzählen sich, dass dort nachts ein Licht brennt, und keines von ihnen geht allein daran vorbei.",
)
PROSE = f"<title>Das Haus</title><p>{TEXT[0]}{TEXT[1]}</p><p>{TEXT[1]}{TEXT[0]}</p>".encode()


def judged(body: bytes, *fields: bytes, **sections: object) -> Refined:
    return Refiner(config.Config(**sections))(capture(body, *fields))  # type: ignore[arg-type]


def test_a_page_of_prose_is_a_draft_with_its_language_and_its_n_grams() -> None:
    refined = judged(PROSE, language=config.Language(accepted=("deu",)))
    assert refined.verdict and refined.draft and refined.ngrams
    assert (refined.verdict.reason, refined.verdict.language) == (Reason.OK, "deu")
    assert [json.loads(paragraph)["text"] for paragraph in refined.draft.paragraphs] == [
        f"{TEXT[0]}{TEXT[1]}",
        f"{TEXT[1]}{TEXT[0]}".strip(),
    ]
    assert refined.verdict.clean == refined.verdict.primary == sum(refined.draft.sizes)


def test_a_page_in_another_language_has_a_verdict_and_no_draft() -> None:
    refined = judged(PROSE, language=config.Language(accepted=("ces",)))
    assert refined.verdict and (refined.verdict.reason, refined.verdict.language) == (Reason.LANGUAGE, "deu")
    assert (refined.draft, refined.ngrams, refined.verdict.primary) == (None, None, 0)
    assert refined.verdict.clean > 0


def test_a_header_that_reserves_the_page_is_heard() -> None:
    refined = judged(PROSE, b"X-Robots-Tag: noindex")
    assert refined.verdict and refined.verdict.reason is Reason.OPTED_OUT
    assert judged(PROSE, b"X-Robots-Tag: noindex", signals=config.Signals(profile="record-only")).draft


def test_without_an_extractor_there_are_links_and_no_verdict() -> None:
    refined = judged(PROSE + PAGE, extract=config.Extract(extractor="none"))
    assert refined.links and refined.verdict is None and refined.draft is None


def test_what_travels_between_processes_comes_back_equal() -> None:
    refined = judged(PROSE)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(refined), type=Refined) == refined


def test_no_more_links_are_read_than_the_option_says() -> None:
    body = b"".join(b"<a href=%d>" % number for number in range(20))
    assert len(Refiner(config.Config(extract=config.Extract(max_links=5)))(capture(body)).links) == 5
