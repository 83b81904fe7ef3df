"""The rules that refuse links."""

from pathlib import Path

import pytest

from tests.frontier.simulation import task
from windrow import config, takedown, urls
from windrow.frontier.policy.scope import Scope
from windrow.records import Task
from windrow.takedown import Takedown


def refuses(text: str, **rules: object) -> str:
    url = urls.parse(text)
    assert url is not None
    return Scope(config.ScopeOptions(**rules)).refuses(url)  # type: ignore[arg-type]


def test_without_rules_ordinary_pages_are_admitted() -> None:
    for text in (
        "http://example.org/",
        "https://www.example.co.uk/a/b.html?x=1",
        "http://example.org:8080/",
        "https://[2001:db8::1]/",
    ):
        assert refuses(text) == ""


@pytest.mark.parametrize(
    ("text", "rules", "rule"),
    [
        ("http://a.cz/", {"tlds": ("cz",)}, ""),
        ("http://a.sk/", {"tlds": ("cz",)}, "tld"),
        ("http://a.co.uk/", {"tlds": ("co.uk",)}, ""),
        ("http://notcz/", {"tlds": ("cz",)}, "tld"),
        ("http://a.ru/", {"tlds_denied": ("ru",)}, "tld-denied"),
        ("http://x.a.org/", {"domains": ("a.org",)}, ""),
        ("http://ba.org/", {"domains": ("a.org",)}, "domain"),
        ("http://x.a.org/", {"domains_denied": ("a.org",)}, "domain-denied"),
        ("http://x.a.org/", {"hosts": ("a.org",)}, "host"),
        ("http://x.a.org/", {"hosts_denied": ("x.a.org",)}, "host-denied"),
        ("http://a.org/news/1", {"allow": ("/news/",)}, ""),
        ("http://a.org/blog/1", {"allow": ("/news/", "/texts/")}, "allow"),
        ("http://a.org/print/1", {"deny": ("/print/",)}, "deny"),
        ("http://a.org:81/", {}, "port"),
        ("https://[2001:db8::1]:81/", {}, "port"),
        ("http://a.org/" + "x" * 2048, {}, "length"),
        ("http://a.org/" + "a/" * 30, {}, "segments"),
        ("http://a.org/1/2/3", {"max_segments": 2}, "segments"),
        ("http://a.org/a/b/a/b/a/b/a/b", {}, "repeats"),
        ("http://a.org/a/b/a/b/a/b", {}, ""),
        ("http://a.org/?" + "&".join(f"k{n}=1" for n in range(12)), {}, ""),
        ("http://a.org/?" + "&".join(f"k{n}=1" for n in range(13)), {}, "parameters"),
        ("http://a.org/x.PDF", {}, "suffix"),
        ("http://a.org/x.pdf?download=1", {}, "suffix"),
        ("http://a.org/?file=x.pdf", {}, ""),
        ("http://a.org/pdf", {}, ""),
        ("http://a.org/v1.2/zip", {}, ""),
        ("http://a.org/x.torrent", {"skip_suffixes": ("torrent",)}, "suffix"),
        ("http://a.org/x.pdf", {"skip_suffixes": ()}, ""),
    ],
)
def test_a_link_is_refused_by_the_rule_that_says_so(text: str, rules: dict[str, object], rule: str) -> None:
    assert refuses(text, **rules) == rule


@pytest.mark.parametrize(
    ("text", "rules", "rule"),
    [
        ("http://a.org/x.json", {}, ""),
        ("http://a.org/x.zip", {"allow": ("/news/",)}, ""),
        ("https://a.org:8443/", {}, ""),
        ("http://a.org:22/", {}, "port"),
        ("http://a.org/", {"hosts_denied": ("a.org",)}, "host-denied"),
        ("http://a.org/", {"domains": ("b.org",)}, "domain"),
    ],
)
def test_only_rules_on_hosts_and_ports_refuse_an_origin(text: str, rules: dict[str, object], rule: str) -> None:
    url = urls.parse(text)
    assert url is not None
    assert Scope(config.ScopeOptions(**rules)).refuses_origin(url) == rule  # type: ignore[arg-type]


def test_a_link_is_one_deeper_and_keeps_the_rank() -> None:
    scope = Scope(config.ScopeOptions())
    page = task("http://a.org/1", depth=2, distance=1, redirects=3, priority=9)
    assert scope.follow(page, task("http://x.a.org/2").url) == task(
        "http://x.a.org/2", depth=3, distance=1, priority=9, via="http://a.org/1"
    )


def test_a_redirect_is_no_deeper_but_counts_its_hops() -> None:
    scope = Scope(config.ScopeOptions(max_depth=2))
    page = task("http://a.org/1", depth=2, redirects=3)
    assert scope.follow(page, task("http://b.org/2").url, redirect=True) == task(
        "http://b.org/2", depth=2, distance=1, redirects=4, via="http://a.org/1"
    )


def test_depth_and_distance_have_limits() -> None:
    scope = Scope(config.ScopeOptions(max_depth=2, max_distance=0))
    assert scope.follow(task("http://a.org/1", depth=2), task("http://a.org/2").url) == "depth"
    assert scope.follow(task("http://a.org/1"), task("http://b.org/2").url) == "distance"
    assert not isinstance(scope.follow(task("http://a.org/1", depth=1), task("http://x.a.org/2").url), str)


def test_a_page_of_the_takedown_list_is_refused_by_its_own_rule(tmp_path: Path) -> None:
    (tmp_path / "takedown.txt").write_text("a.org\nhttp://b.org/private/*\n")
    scope = Scope(config.ScopeOptions(), takedown.of(tmp_path))
    found = [scope.refuses(task(url).url) for url in ("http://x.a.org/", "https://b.org/private/1", "http://b.org/")]
    assert found == ["takedown", "takedown", ""]
    assert scope.refuses_origin(task("http://x.a.org/robots.txt").url) == "takedown"
    assert scope.refuses_origin(task("http://b.org/private/x").url) == "", "other pages of the host are not listed"
    scope.obey(Takedown())
    assert scope.refuses(task("http://x.a.org/").url) == ""


REQUISITES = [
    ("http://cdn.other/a.png", {"domains": ("a.test",), "tlds": ("test",), "hosts": ("a.test",)}, ""),
    ("http://cdn.other/a.png", {"allow": ("html$",), "max_segments": 1}, ""),
    ("http://cdn.other/a.png", {"hosts_denied": ("cdn.other",)}, "host-denied"),
    ("http://cdn.other/a.png", {"domains_denied": ("cdn.other",)}, "domain-denied"),
    ("http://cdn.other/a.png", {"tlds_denied": ("other",)}, "tld-denied"),
    ("http://cdn.other/a.png", {"deny": ("png$",)}, "deny"),
    ("http://cdn.other/a.png", {"max_length": 16}, "length"),
    ("http://cdn.other:22/a.png", {}, "port"),
]


@pytest.mark.parametrize(("text", "rules", "rule"), REQUISITES)
def test_a_requisite_may_lie_anywhere_but_where_a_rule_refuses(text: str, rules: dict[str, object], rule: str) -> None:
    url = urls.parse(text)
    assert url is not None
    scope = Scope(config.ScopeOptions(**rules))  # type: ignore[arg-type]
    assert scope.refuses_requisite(url) == rule
    assert scope.refuses_task(Task(url, embed=1)) == rule


def test_requisites_of_requisites_have_a_limit_and_are_no_deeper() -> None:
    scope, url = Scope(config.ScopeOptions(max_distance=0, max_depth=1)), urls.parse("http://b.test/x")
    assert url is not None
    page = task("http://a.test/", depth=1)
    first = scope.embed(page, url)
    assert isinstance(first, Task)
    assert (first.embed, first.depth, first.distance, first.via) == (1, 1, 0, "http://a.test/")
    moved = scope.embed(first, url, redirect=True)
    assert isinstance(moved, Task) and (moved.embed, moved.redirects) == (1, 1)
    assert scope.embed(Task(url, embed=3), url) == "embeds"
