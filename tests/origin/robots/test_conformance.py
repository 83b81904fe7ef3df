"""Test suites of other projects.

Each disagreement is listed with its number in the suite and its reason. The tests also fail if one disappears.
"""

import json
from typing import Any
from urllib.parse import urlsplit

from tests.origin.robots.support import read
from tests.shared import shared

Case = dict[str, Any]


NOT_GOOGLE = {
    36: "GoogleOnly: our name `Foo Bar` is not a product token; we use `Foo`, and the options refuse such a name",
    59: "RFC 9309 §2.2.2: octets outside ASCII are percent-encoded before the comparison, also in the URL",
    61: "the same",
    62: "RFC 9309 §2.2.2: %62%61%7A is unreserved and decoded before the comparison, as in an example of the RFC",
    74: "GoogleOnly: in RFC 9309, `Allow: /index.html` does not apply to `/`",
}


A_PHRASE = "our name is a phrase of three words; RFC 9309 §2.2.1 compares only a product token, the start of the phrase"


NOT_CRAWLER_COMMONS = {
    276: A_PHRASE,
    277: A_PHRASE,
    278: A_PHRASE,
    281: A_PHRASE,
    309: "crawler-commons disallows everything after a long Crawl-delay; we cut the delay to fetch.max_crawl_delay",
    322: "a file in UTF-16 has no rules: RFC 9309 requires UTF-8, and Google's parser finds none",
    323: "the same, in the other byte order",
    341: "in RFC 9309 `Allow: /index.html` does not apply to `/`; `Disallow: /*` is the longest match",
}


def cases(path: str) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = json.loads(shared(path).read_text(encoding="utf-8"))
    return found


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + ("?" + parts.query if parts.query else "")


def agrees(case: Case) -> bool:
    found = read(case["robots"].encode(case.get("robots_encoding", "utf-8")), case["agent"])
    if "crawl_delay_ms" in case:
        return bool(found.delay == case["crawl_delay_ms"] / 1000)
    return bool(found.decide(path_of(case["url"]))[0] is case["allowed"])


def test_google_agrees_except_where_rfc_9309_differs() -> None:
    numbered = cases("conformance/google-robotstxt/cases.json")["allow_cases"]
    assert len(numbered) == 145
    assert {number for number, case in enumerate(numbered) if not agrees(case)} == NOT_GOOGLE.keys()


def test_google_finds_the_same_sitemaps() -> None:
    for case in cases("conformance/google-robotstxt/cases.json")["sitemap"]:
        assert list(read(case["robots"]).sitemaps) == case["sitemaps"]


def test_the_examples_of_rfc_9309_have_the_results_of_the_rfc() -> None:
    found = cases("conformance/rfc9309/cases.json")
    assert [case for case in found["examples"] + found["escaping"] if not agrees(case)] == []


def test_crawler_commons_agrees_except_for_named_reasons() -> None:
    numbered = cases("conformance/crawler-commons/robots_cases.json")["cases"]
    strict = {number: case for number, case in enumerate(numbered) if not case.get("lenient_ua")}
    assert len(strict) == 244
    assert {number for number, case in strict.items() if not agrees(case)} == NOT_CRAWLER_COMMONS.keys()
