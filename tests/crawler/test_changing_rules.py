"""Rules that change while pages are being read: each page is judged by the rules under which it was requested."""

from pathlib import Path

import pytest

from tests import crashing, truth, web
from tests.crawler.test_soft404 import PROSE, WORDS, page
from tests.crawler.test_tdmrep import PATH
from windrow import config

SLOW = 8000  # paragraphs: reading them takes longer than the crawl waits before it fetches the new rules
FIRST, LATER = "Content-Signal: ai-train=no", "Content-Signal: ai-train=yes"


def slow() -> bytes:
    """Return a page without equal paragraphs, so that each one is judged."""
    texts = (" ".join(text.format(part, WORDS[part % len(WORDS)]) for text in PROSE) for part in range(SLOW))
    return f"<title>Viele Häuser</title>{''.join(f'<p>{text}</p>' for text in texts)}".encode()


@pytest.mark.parametrize("profile", ["research", "training"])
def test_a_page_is_judged_by_the_rules_under_which_it_was_requested(tmp_path: Path, profile: str) -> None:
    with web.serve() as site:
        rules = [f"User-agent: *\nDisallow: /secret\n{signal}\n".encode() for signal in (FIRST, LATER)]
        site.script("a.test", "/robots.txt", [web.Reply(text) for text in rules])
        site.script("a.test", PATH, [web.Reply(b'[{"location": "/", "tdm-reservation": 1}]'), web.Reply(b"[]")])
        site.page("a.test", "/0", slow())
        for number in range(1, 4):
            site.page("a.test", f"/{number}", page(number).encode())
        site.hosts_file(tmp_path / "hosts")
        (tmp_path / "seeds.txt").write_text("".join(f"http://a.test/{number}\n" for number in range(4)))
        options = [
            "fetch.delay=0.3",
            "fetch.ip_delay=0",
            "fetch.allow_private=true",
            "fetch.hosts_file=hosts",
            "fetch.robots_ttl=0.04",
        ]
        options += [
            "extract.extractor=paragraphs",
            "quality.soft_404=0",
            "frontier.yield_threshold=off",
            "scope.homepages=false",
        ]
        options += [
            "dedup.near_duplicates=false",
            "scope.allow=['/[0-3]$']",
            "frontier.order=breadth",
            f"signals.profile={profile}",
        ]
        (tmp_path / "crawl.toml").write_text(config.dump(config.make(options, tmp_path), changed=True))
        result = crashing.run(["crawl", str(tmp_path)])
        assert result.code == 0, result.err
        assert [request.path for request in site.requests()].count("/robots.txt") > 1
    truth.assert_corpus(tmp_path)
    lines = [line for frame in truth.frames(tmp_path) for line in frame[1:]]
    ends = {line["url"][-1]: line["reason"] for line in lines if line.get("kind", truth.PAGE) == truth.PAGE}
    assert ends == {"0": "ok" if profile == "research" else "opted-out"} | dict.fromkeys("123", "ok")
    said = {
        document["url"][-1]: {entry["name"]: entry["value"] for entry in document["signals"]}
        for document in truth.documents(tmp_path)
    }
    first = {"0": {"ai-train": "n", "tdm-reservation": "1"}} if profile == "research" else {}
    assert said == first | {number: {"ai-train": "y"} for number in "123"}
