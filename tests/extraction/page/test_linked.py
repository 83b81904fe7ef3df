"""Linked data of a page: the things that it is about and the body of its story, whatever the scripts hold."""

import json

import pytest

from tests.extraction.readers.test_html import capture
from windrow.extraction.page import linked
from windrow.extraction.readers import html

STORY = {"@type": "NewsArticle", "articleBody": "First line.\n\nSecond line."}


@pytest.mark.parametrize(
    "script",
    [
        json.dumps(STORY),
        json.dumps([{"@type": "WebSite", "articleBody": "no"}, STORY]),
        json.dumps({"@graph": [{"@type": "Organization"}, STORY]}),
        json.dumps({"@type": "WebPage", "mainEntity": STORY}),
        f"<!-- {json.dumps(STORY)} -->",
        f"//<![CDATA[\n{json.dumps(STORY)}\n//]]>",
        json.dumps(STORY)[:-1] + ",}",
        json.dumps(STORY).replace("\\n", "\n"),
    ],
)
def test_the_body_of_a_story_is_given_beside_the_page(script: str) -> None:
    found = html.read(capture(f"<script type=application/ld+json>{script}</script>"), 10)
    assert found.body == STORY["articleBody"]
    assert linked.lines(found.body) == ["First line.", "Second line."]


def test_only_stories_have_a_body() -> None:
    assert linked.read([json.dumps({"@type": "Product", "text": "words", "articleBody": "words"})]).body == ""


def test_a_body_with_tags_and_entities_becomes_plain_lines() -> None:
    body = "<p>Tom &amp; <b>Ann</b> met.</p><p class=x>They\ntalked.<br/>5 < 6</p><!-- no -->"
    assert linked.lines(body) == ["Tom & Ann met.", "They", "talked.", "5 < 6"]


def test_a_body_is_cut_after_a_million_characters() -> None:
    script = json.dumps({"@type": "Article", "articleBody": "x" * 1_500_000})
    assert len(linked.read([script]).body) == 1 << 20
