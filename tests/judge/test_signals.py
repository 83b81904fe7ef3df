"""Signals are read from headers, meta elements and robots.txt, and applied by profile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.config import SignalsOptions
from windrow.judge import signals
from windrow.judge.signals import Signal

RESEARCH, TRAINING, RECORD = SignalsOptions("research"), SignalsOptions("training"), SignalsOptions("record-only")


def names(found: tuple[Signal, ...]) -> list[tuple[str, str]]:
    return [(signal.name, signal.value) for signal in found]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("noindex", ["noindex"]),
        ("NOINDEX, NoFollow", ["noindex", "nofollow"]),
        ("noai,noimageai", ["noai", "noimageai"]),
        ("googlebot: noindex", []),
        ("windrow: noindex, noai", ["noindex", "noai"]),
        ("Windrow: noarchive", ["noarchive"]),
        ("googlebot: noindex, nofollow, windrow: noai", ["noai"]),
        ("noindex, googlebot: nofollow", ["noindex"]),
        ("*: noindex", ["noindex"]),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST", ["unavailable_after"]),
        ("max-snippet: 20, nosnippet", ["max-snippet", "nosnippet"]),
        ("gibberish, noindexing", []),
        ("", []),
    ],
)
def test_x_robots_tag_is_read_for_all_agents_and_for_ours(value: str, found: list[str]) -> None:
    assert [signal.name for signal in signals.read([("X-Robots-Tag", value)], [], "windrow")] == found


def test_a_signal_keeps_its_source() -> None:
    assert signals.read([("x-robots-tag", "windrow: noai")], [("ROBOTS", "noindex")], "Windrow") == (
        Signal("header", "noai", "", "X-Robots-Tag", "windrow"),
        Signal("meta", "noindex", "", "robots"),
    )


def test_meta_elements_are_read_if_they_address_robots_or_our_agent() -> None:
    metas = [("robots", "NOAI, follow"), ("googlebot", "noindex"), ("windrow", "noarchive"), ("keywords", "noindex")]
    assert names(signals.read([], metas, "windrow")) == [("noai", ""), ("follow", ""), ("noarchive", "")]


@pytest.mark.parametrize(
    ("value", "uses"),
    [
        ("train-ai=n", [("train-ai", "n")]),
        ("train-ai=n, search=y", [("train-ai", "n"), ("search", "y")]),
        ("Train-AI = N ;x=1,search=Y", [("train-ai", "n"), ("search", "y")]),
        ("train-ai=y, train-ai=n", [("train-ai", "n")]),
        ("train-ai=?0", [("train-ai", "n")]),
        ("train-ai=maybe, search", []),
        ("train-ai", []),
        (",,,=n", []),
    ],
)
def test_content_usage_is_read_as_a_structured_field(value: str, uses: list[tuple[str, str]]) -> None:
    assert names(signals.read([("Content-Usage", value)], [])) == uses


def test_of_robots_lines_the_one_with_the_longest_matching_path_counts() -> None:
    lines = [
        "content-usage: train-ai=y",
        "content-usage: /private/ train-ai=n",
        "content-usage: /private/open train-ai=y, search=y",
    ]
    assert names(signals.robots(lines, "/about")) == [("train-ai", "y")]
    assert names(signals.robots(lines, "/private/a")) == [("train-ai", "n")]
    assert names(signals.robots(lines, "/private/open.html")) == [("train-ai", "y"), ("search", "y")]
    assert names(signals.robots(["Content-Usage: /*.pdf$ train-ai=n"], "/a/b.pdf")) == [("train-ai", "n")]
    assert signals.robots(["Content-Usage: /*.pdf$ train-ai=n"], "/a/b.pdf?x") == ()


def test_content_signal_and_license_lines_of_robots_txt_are_read() -> None:
    lines = [
        "content-signal: search=yes, ai-input=no, ai-train=no",
        "license: https://example.org/rsl.xml",
        "disallow: /x",
    ]
    assert signals.robots(lines) == (
        Signal("robots.txt", "license", "https://example.org/rsl.xml", "license"),
        Signal("robots.txt", "search", "y", "content-signal"),
        Signal("robots.txt", "ai-input", "n", "content-signal"),
        Signal("robots.txt", "ai-train", "n", "content-signal"),
    )


def test_licence_links_are_read_from_headers_and_pages() -> None:
    links = (("l", "license"), ("x", "next"), ("m", "copyright license"))
    header = ", ".join(f'<https://a.example/{target}>; rel="{relation}"' for target, relation in links)
    assert names(signals.read([("Link", header)], [])) == [
        ("license", "https://a.example/l"),
        ("license", "https://a.example/m"),
    ]
    assert signals.licences(["https://creativecommons.org/licenses/by/4.0/", ""]) == (
        Signal("meta", "license", "https://creativecommons.org/licenses/by/4.0/", "rel=license"),
    )


def test_a_tdm_reservation_is_zero_or_one_and_the_later_step_counts() -> None:
    header = signals.read([("tdm-reservation", "1"), ("tdm-policy", "https://a.example/policy")], [])
    assert names(header) == [("tdm-reservation", "1"), ("tdm-policy", "https://a.example/policy")]
    assert signals.read([("tdm-reservation", "yes"), ("tdm-policy", "javascript:1")], []) == ()
    meta = signals.read([], [("tdm-reservation", "0")])
    assert ("tdm-reservation", "0") in names(signals.effective(header + meta))
    assert ("tdm-reservation", "0") in names(signals.effective(meta + header))
    assert ("tdm-reservation", "1") in names(signals.effective(header))


def test_the_tdm_file_is_the_first_step() -> None:
    said = (
        Signal("tdmrep.json", "tdm-reservation", "1", "tdm-reservation"),
        Signal("tdmrep.json", "tdm-policy", "https://a.example/p", "tdm-policy"),
    )
    for later in (signals.read([("tdm-reservation", "0")], []), signals.read([], [("tdm-reservation", "0")])):
        for order in (said + later, later + said):
            assert set(names(signals.effective(order))) == {
                ("tdm-reservation", "0"),
                ("tdm-policy", "https://a.example/p"),
            }
            assert signals.refuses(order, TRAINING) == ""
    assert signals.refuses(said, TRAINING) == "tdm-reservation=1 (tdmrep.json: tdm-reservation)"
    assert signals.refuses(said, RESEARCH) == ""


@pytest.mark.parametrize(
    ("headers", "metas", "robots", "research", "training"),
    [
        ([], [], [], False, False),
        ([("X-Robots-Tag", "noindex")], [], [], True, True),
        ([("X-Robots-Tag", "none")], [], [], True, True),
        ([("X-Robots-Tag", "nofollow, noarchive, noimageai")], [], [], False, False),
        ([], [("robots", "noai")], [], True, True),
        ([("tdm-reservation", "1")], [], [], False, True),
        ([("tdm-reservation", "0")], [], [], False, False),
        ([("tdm-reservation", "1")], [("tdm-reservation", "0")], [], False, False),
        ([("Content-Usage", "train-ai=n")], [], [], False, True),
        ([("Content-Usage", "train-ai=y")], [], ["content-usage: train-ai=n"], False, True),  # the more restrictive one
        ([("Content-Usage", "search=n")], [], [], False, False),
        ([], [], ["content-signal: ai-train=no, search=yes"], False, True),
        ([], [], ["content-signal: ai-train=yes, ai-input=no"], False, False),
        ([("Content-Usage", "tdm=n")], [], [], False, True),
    ],
)
def test_a_profile_decides_what_a_signal_does(
    headers: list[tuple[str, str]], metas: list[tuple[str, str]], robots: list[str], research: bool, training: bool
) -> None:
    found = signals.read(headers, metas, "windrow") + signals.robots(robots)
    assert bool(signals.refuses(found, RESEARCH)) is research
    assert bool(signals.refuses(found, TRAINING)) is training
    assert signals.refuses(found, RECORD) == ""


def test_a_rejection_names_the_signal_and_its_source() -> None:
    found = signals.read([("Content-Usage", "train-ai=n")], [])
    assert signals.refuses(found, TRAINING) == "train-ai=n (header: Content-Usage)"


def test_blocks_of_other_ai_crawlers_count_for_training_unless_switched_off() -> None:
    found = signals.peers(["GPTBot", "CCBot"])
    assert found == (Signal("robots.txt", "ai-agents", "CCBot GPTBot", "disallow"),)
    assert signals.refuses(found, TRAINING)
    assert not signals.refuses(found, RESEARCH)
    assert not signals.refuses(found, SignalsOptions("training", honour_peer_ai_blocks=False))
    assert signals.peers([]) == ()
    assert signals.robots(["ai-agents: gptbot ccbot"], "/a") == signals.peers(["ccbot", "gptbot"])


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_header_or_meta_element_makes_the_reader_fail(value: str, content: str) -> None:
    headers = [
        (name, value) for name in ("x-robots-tag", "content-usage", "tdm-reservation", "tdm-policy", "link", value)
    ]
    found = signals.read(headers, [("robots", content), ("tdm-policy", content), (content, value)], "windrow")
    found += signals.robots([value, f"content-usage: {value}", f"content-signal:{content}"], "/" + content)
    for options in (RESEARCH, TRAINING, RECORD):
        assert isinstance(signals.refuses(found, options), str)


def test_a_page_cannot_fill_the_log_with_signals() -> None:
    found = signals.read([("Content-Usage", ",".join(f"use{number}=n" for number in range(5000)))], [])
    assert len(found) <= 64


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/", "/a", True),
        ("/a", "/b", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/*.pdf$", "/x.pdf.pdf", True),
        ("/*.pdf$", "/x.pdfs", False),
        ("*", "/anything", True),
        ("*$", "/anything", True),
        ("/a*b*c", "/a-c-b-c", True),
        ("/a*b*c", "/a-c-b", False),
        ("/ab*b$", "/ab", False),
        ("/**x", "/x", True),
        ("/" + "*a" * 400 + "c$", "/" + "a" * 2000, False),
    ],
)
def test_a_path_matches_a_pattern_with_stars(pattern: str, path: str, matches: bool) -> None:
    assert bool(signals.robots([f"content-usage: {pattern} train-ai=n"], path)) is matches


def test_values_of_a_million_characters_take_linear_time() -> None:
    for value in ("a" * 10**6, "," * 10**6, "<" * 10**6, '"' * 10**6, "a:" * 10**6):
        headers = [(name, value) for name in ("x-robots-tag", "content-usage", "link", "tdm-policy")]
        assert len(signals.read(headers, [("robots", value)], "windrow")) <= 64


def test_a_path_and_a_pattern_match_in_their_canonical_forms() -> None:
    assert names(signals.robots(["content-usage: /%7Euser/ train-ai=n"], "/~user/a")) == [("train-ai", "n")]
    assert names(signals.robots(["content-usage: /caf%c3%a9 train-ai=n"], "/caf%C3%A9")) == [("train-ai", "n")]
