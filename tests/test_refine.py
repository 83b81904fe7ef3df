"""Extract and judge: the links that may be followed, the refused ones by rule, and the text that remains."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.judge import declarations
from windrow import config, dedup, urls
from windrow.dedup import ngrams
from windrow.extraction import EXTRACTORS
from windrow.extraction.page import anchors
from windrow.frontier.policy import hints
from windrow.judge import Facts, Ruling
from windrow.records import Capture, Link, ListedUrl, Listing, Page, Reason, Task, Url, Verdict
from windrow.refine import Refined, Refiner

PAGE = (
    b"<title>t</title><a href=one><a href=two.pdf><a href=http://other.test/>"
    b"<a href=three rel=nofollow><a href=mailto:x>"
)


def capture(body: bytes, *fields: bytes) -> Capture:
    url = urls.parse("http://site.test/")
    assert url
    head = b"\r\n".join((b"HTTP/1.1 200 OK", b"Content-Type: text/html", *fields, b"", b""))
    return Capture(Task(url), 200, b"", head, body, 0.0, 0.0, "127.0.0.1", "http/1.1")


def refine(body: bytes, *fields: bytes, **scope: object) -> Refined:
    return Refiner(config.Config(scope=config.ScopeOptions(**scope)))(capture(body, *fields))  # type: ignore[arg-type]


def texts(refined: Refined) -> list[str]:
    return [link.url.text for link in refined.links]


def test_links_that_a_rule_refuses_are_counted_and_the_others_kept() -> None:
    refined = refine(PAGE, domains=("site.test",))
    assert texts(refined) == ["http://site.test/one"]
    assert refined.refused == {"suffix": 1, "domain": 1, "nofollow": 1}


def test_the_same_page_gives_the_same_result_twice() -> None:
    refiner = Refiner(config.Config(scope=config.ScopeOptions(domains=("site.test",))))
    assert refiner(capture(PAGE)) == refiner(capture(PAGE))


def test_a_page_marked_nofollow_keeps_no_link() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow")
    assert (texts(refined), refined.refused) == ([], {"nofollow": 4})


def test_only_the_addressed_crawler_obeys_a_nofollow() -> None:
    body = b"<meta name=windrow content=nofollow><a href=x>"
    assert refine(body).refused == {"nofollow": 1}
    other = Refiner(config.Config(identity=config.IdentityOptions(name="other")))
    assert texts(other(capture(body))) == ["http://site.test/x"]


def test_nofollow_is_ignored_if_the_option_says_so() -> None:
    refined = refine(PAGE, b"X-Robots-Tag: nofollow", follow_nofollow=True)
    assert texts(refined) == ["http://site.test/one", "http://other.test/", "http://site.test/three"]
    assert refined.refused == {"suffix": 1}


def test_an_empty_body_has_no_links_and_no_text() -> None:
    assert refine(b"") == Refined((), 0, {}, Verdict(Reason.NO_TEXT))


TEXT = (
    "Am Rand des Dorfes steht ein altes Haus, in dem seit vielen Jahren niemand mehr wohnt. ",
    "Die Kinder erzählen sich, dass dort nachts ein Licht brennt, und keines von ihnen geht allein daran vorbei.",
)
PROSE = f"<title>Das Haus</title><p>{TEXT[0]}{TEXT[1]}</p><p>{TEXT[1]}{TEXT[0]}</p>".encode()


def judged(body: bytes, *fields: bytes, **sections: object) -> Refined:
    return Refiner(config.Config(**sections))(capture(body, *fields))  # type: ignore[arg-type]


def test_a_page_of_prose_gives_a_draft_its_language_and_its_n_grams() -> None:
    refined = judged(PROSE, language=config.LanguageOptions(accepted=("deu",)))
    assert refined.verdict and refined.draft and refined.ngrams
    assert (refined.verdict.reason, refined.verdict.language) == (Reason.OK, "deu")
    assert [json.loads(paragraph)["text"] for paragraph in refined.draft.paragraphs] == [
        f"{TEXT[0]}{TEXT[1]}",
        f"{TEXT[1]}{TEXT[0]}".strip(),
    ]
    assert refined.verdict.clean == refined.verdict.primary == sum(refined.draft.sizes)


def test_a_page_in_another_language_has_a_verdict_and_no_draft() -> None:
    refined = judged(PROSE, language=config.LanguageOptions(accepted=("ces",)))
    assert refined.verdict and (refined.verdict.reason, refined.verdict.language) == (Reason.LANGUAGE, "deu")
    assert (refined.draft, refined.ngrams, refined.verdict.primary) == (None, None, 0)
    assert refined.verdict.clean > 0


def test_a_header_that_reserves_the_page_rejects_it() -> None:
    refined = judged(PROSE, b"X-Robots-Tag: noindex")
    assert refined.verdict and refined.verdict.reason is Reason.OPTED_OUT
    assert judged(PROSE, b"X-Robots-Tag: noindex", signals=config.SignalsOptions(profile="record-only")).draft


def test_without_an_extractor_there_are_links_and_no_verdict() -> None:
    refined = judged(PROSE + PAGE, extract=config.ExtractOptions(extractor="none"))
    assert refined.links and refined.verdict is None and refined.draft is None


def test_a_result_sent_between_processes_is_equal() -> None:
    refined = judged(PROSE)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(refined), type=Refined) == refined


def test_at_most_max_links_are_read() -> None:
    body = b"".join(b"<a href=%d>" % number for number in range(20))
    assert len(Refiner(config.Config(extract=config.ExtractOptions(max_links=5)))(capture(body)).links) == 5


def emphatic(page: Page, facts: Facts) -> Ruling:
    """A user's judge that reads a header and the URL."""
    return Ruling(scores={"emphatic": float(dict(facts.headers).get("X-Emphasis", 0)), "length": len(facts.url)})


def test_a_users_judge_sees_url_and_headers_and_its_scores_reach_the_verdict() -> None:
    refined = judged(PROSE, b"X-Emphasis: 3", judge=config.JudgeOptions(judges=(f"{__name__}:emphatic",)))
    assert refined.verdict and refined.verdict.reason is Reason.OK
    assert (refined.verdict.scores["emphatic"], refined.verdict.scores["length"]) == (3.0, len("http://site.test/"))


def test_the_text_key_and_the_n_grams_are_those_of_the_kept_paragraphs() -> None:
    refined = judged(PROSE)
    assert refined.verdict and refined.draft
    texts = [json.loads(paragraph)["text"] for paragraph in refined.draft.paragraphs]
    assert (refined.verdict.digest, refined.ngrams) == (dedup.text_key(texts), ngrams.of(texts))
    assert judged(PROSE, dedup=config.DedupOptions(near_duplicates=False)).ngrams is None
    assert judged(PROSE, dedup=config.DedupOptions(ngram=3)).ngrams == ngrams.of(texts, 3)


def test_a_page_similar_to_the_sketch_of_its_origin_is_a_soft_404() -> None:
    refiner = Refiner(config.Config())
    sketch = refiner.sketch(capture(PROSE))
    refined = refiner(capture(PROSE), sketch)
    assert refined.verdict and (refined.verdict.reason, refined.verdict.digest) == (Reason.SOFT_404, 0)
    assert (refined.draft, refined.ngrams) == (None, None)
    assert refiner.sketch(capture(b"")) == ""


def test_the_document_is_encoded_in_the_language_of_its_kept_text() -> None:
    english, german = declarations.shipped("en")[3:13], declarations.shipped("de")[3:9]
    body = "".join(f"<p>{text}</p>" for text in (*english, *german)).encode()
    wanted = config.LanguageOptions(accepted=("ces", "deu"), min_share=0.2)
    refined = Refiner(config.Config(language=wanted))(capture(b"<meta charset=utf-8><body>" + body))
    assert refined.verdict is not None and refined.draft is not None
    assert (refined.verdict.language, refined.verdict.page_language) == ("deu", "eng")
    assert not any("language" in json.loads(one) for one in refined.draft.paragraphs)  # each is in the document's


def test_the_draft_of_a_document_has_the_structure_lines_and_marks_of_its_paragraphs() -> None:
    german = " ".join(declarations.shipped("de")[2:6])
    body = (
        f"<html lang=de><meta charset=utf-8><main><p>{german}</p><p>{german}<br>{german}</p><ol><li>"
        f"<li>{german} <b>Ende</b> <a href=/x>der Liste</a>.</ol><p>{german}</p></main>"
    ).encode()
    options = config.Config(extract=config.ExtractOptions(marks=True), dedup=config.DedupOptions(near_duplicates=False))
    draft = Refiner(options)(capture(body)).draft
    assert draft is not None
    first, second, third, _ = (json.loads(one) for one in draft.paragraphs)
    assert first.keys() == {"text", "class", "own"}
    assert second["lines"] == f"{german}\n{german}" and "structure" not in second
    assert third["structure"] == "ol:1 li:2" and "lines" not in third
    ends = [(third["text"][start:end], kind, target) for start, end, kind, target in third["marks"]]
    assert ends == [("Ende", "strong", ""), ("der Liste", "link", "http://site.test/x")]


SAYING = b"<p>fish of the <a href=one hreflang=cs rel=next>river Vltava</a> in colour</p><a href=two.pdf>two</a>"


def hinted(body: bytes = SAYING, *given: str) -> tuple[Link, ...]:
    return Refiner(config.make(given, Path()))(capture(body)).links


def test_links_travel_with_hints_and_without_the_words_they_come_from() -> None:
    [link] = hinted()
    said = Link(link.url, "river Vltava", "next", "fish of the in colour", "cs")
    assert link == Link(link.url, hints=hints.of(said))
    assert len(hints.features(link.hints)) == 2 + 4 + 1


@pytest.mark.parametrize("extractor", [name for name in EXTRACTORS if name != "none"])
def test_every_extractor_gives_the_same_hints(extractor: str) -> None:
    assert hinted(SAYING, f"extract.extractor={extractor}") == hinted()


@pytest.mark.parametrize(
    "setting",
    [
        "frontier.order=breadth",
        "frontier.order=yield",
        "extract.extractor=none",
        "extract.link_context=false",
        "extract.max_links=0",
    ],
)
def test_a_crawl_that_does_not_use_hints_does_not_read_what_links_say(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("descriptions were read")

    monkeypatch.setattr(anchors, "describe", never)
    monkeypatch.setattr(hints, "of", never)
    links = hinted(SAYING, setting)
    assert links == tuple(Link(link.url) for link in links)


def test_a_link_is_described_by_the_first_page_that_has_it() -> None:
    refiner = Refiner(config.Config())
    [first] = refiner(capture(SAYING)).links
    assert refiner(capture(b"<p><a href=one>other words</a>")).links == (first,)
    assert refiner(capture(b"<p><a href=one rel=nofollow>x</a>")).links == ()


def test_a_topic_scores_the_words_of_a_link_and_of_its_url() -> None:
    asked: list[str] = []

    def score(text: str) -> float:
        asked.append(text)
        return 0.9

    refiner = Refiner(config.Config(), score)
    first, again = (refiner(capture(SAYING)) for _ in range(2))
    [link] = first.links
    assert again == first
    assert asked == ["river Vltava fish of the in colour one"]
    said = Link(link.url, "river Vltava", context="fish of the in colour", language="cs")
    assert link.hints == hints.of(said, 0.9) != hints.of(said)


SITEMAP = b"""<urlset><url><loc>http://site.test/one</loc><lastmod>2024-05-01</lastmod></url>
<url><loc>http://other.test/</loc><lastmod>2024-05-02</lastmod></url><url><loc>http://site.test/two.pdf</loc></url>
<url><loc>http://site.test/two</loc></url><url><loc>http://site.test/one</loc><lastmod>2024</lastmod></url></urlset>"""


def mapped(*fields: bytes, **sections: object) -> Refined:
    extract = sections.pop("extract", config.ExtractOptions(readers=("sitemap",)))
    scoped = config.ScopeOptions(domains=("site.test",), **sections)  # type: ignore[arg-type]
    return Refiner(config.Config(scope=scoped, extract=extract))(capture(SITEMAP, *fields))  # type: ignore[arg-type]


def test_the_links_of_a_listing_are_followed_like_those_of_a_page_and_keep_their_dates() -> None:
    refined = mapped()
    assert texts(refined) == ["http://site.test/one", "http://site.test/two"]
    assert refined.changed == (1704067200.0, 0.0)
    assert refined.refused == {"domain": 1, "suffix": 1}
    assert refined.verdict == Verdict(Reason.NO_TEXT)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(refined), type=Refined) == refined


def test_a_listing_marked_nofollow_keeps_no_link() -> None:
    refined = mapped(b"X-Robots-Tag: nofollow")
    assert (refined.links, refined.changed, refined.refused) == ((), (), {"nofollow": 4})
    assert len(mapped(b"X-Robots-Tag: nofollow", follow_nofollow=True).links) == 2


def test_a_crawl_reads_no_sitemap_unless_its_options_say_so() -> None:
    refined = mapped(extract=config.ExtractOptions())
    assert (refined.links, refined.changed, refined.refused) == ((), (), {})
    page = capture(SITEMAP.replace(b"<urlset>", b"<urlset><a href=/link>"))
    assert texts(Refiner(config.Config())(page)) == ["http://site.test/link"], "sent as HTML it is HTML, as it was"


def test_a_listing_of_millions_is_cut() -> None:
    listing = Listing(
        tuple(ListedUrl(Url(f"http://site.test/{n}", "site.test", "site.test", n)) for n in range(60_000))
    )
    refiner = Refiner(config.Config())
    assert len(refiner._listed(capture(b""), listing, "").links) == 50_000
