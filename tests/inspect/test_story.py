"""Each URL has a story."""

import shutil
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.finished import Finished
from tests.logs import entry, frame, page, task, write
from tests.logs import url as parsed
from windrow import urls
from windrow.records import Reason


def why(finished: Finished, url: str) -> dict[str, object]:
    result = crashing.run(["why", str(finished.directory), url, "--json"])
    assert result.code == 0, result.err
    story: dict[str, object] = result.json
    return story


def host(finished: Finished, kind: str) -> str:
    return next(name for name, found in finished.world.graph.kinds.items() if found == kind)


def events(story: dict[str, object]) -> list[str]:
    found = story["events"]
    assert isinstance(found, list)
    assert [event["time"] for event in found] == sorted(event["time"] for event in found)
    return [event["what"] for event in found]


def test_a_page_that_is_archived_is_found_at_its_place(finished: Finished) -> None:
    url = sorted(finished.world.expected.must_have - set(finished.world.seeds))[0]
    story = why(finished, url)
    assert (story["state"], story["reason"]) == ("finished", "ok")
    found, requested, archived = events(story)
    assert (
        found.startswith("found on http://")
        and requested.startswith("requested")
        and archived.startswith("archived in warc/")
    )
    file, offset, length = str(story["place"]).split()
    data = (finished.directory / file).read_bytes()[int(offset) : int(offset) + int(length)]
    record = truth.record(truth.members(data)[0][0])
    assert (record.type, record.url) == ("response", url)


def test_a_seed_is_named_as_one(finished: Finished) -> None:
    assert events(why(finished, finished.world.seeds[0]))[0].startswith("given as a seed")


def test_a_url_can_be_given_as_it_stands_in_a_page(finished: Finished) -> None:
    seed = finished.world.seeds[0]
    assert why(finished, f"{seed};jsessionid={'a' * 32}#part")["url"] == seed


def test_each_reason_comes_with_the_rule_that_decided(finished: Finished) -> None:
    world = finished.world
    plain = world.graph.plain[0]
    ends = {
        sorted(world.expected.redirects)[0]: "redirect",
        sorted(world.expected.missing)[0]: "not-found",
        sorted(world.expected.unresolved)[0]: "no-such-host",
        f"http://{plain}/private/1.html": "robots",
        f"http://{host(finished, 'broken')}/": "robots-unreachable",
        f"http://{host(finished, 'silent')}/": "robots-unreachable",
    }
    for url, reason in ends.items():
        story = why(finished, url)
        assert (story["state"], story["reason"]) == ("finished", reason), url
    assert "disallow: /private/" in events(why(finished, f"http://{plain}/private/1.html"))[-1].lower()


def test_every_attempt_is_an_event(finished: Finished) -> None:
    url = next(
        url
        for url, place in finished.world.graph.places.items()
        if place.fails == 2 and url in finished.world.expected.must_have
    )
    happened = events(why(finished, url))
    assert sum("status 503" in event and "waits for another attempt" in event for event in happened) == 2
    assert sum("requested" in event for event in happened) == 3


def test_a_page_that_no_allowed_page_links_to_is_not_admitted(finished: Finished) -> None:
    story = why(finished, f"http://{finished.world.graph.plain[0]}/hidden/1.html")
    assert (story["state"], story["events"]) == ("not admitted", [])
    assert "no page that the crawl has read links to it" in str(story["reason"]) and "allows it" in str(story["reason"])


def test_the_cutoff_of_a_topic_is_named_among_what_refuses_links(finished: Finished, tmp_path: Path) -> None:
    url = f"http://{finished.world.graph.plain[0]}/hidden/1.html"
    assert "cutoff" not in str(why(finished, url)["reason"])
    shutil.copytree(finished.directory, tmp_path / "crawl")
    with (tmp_path / "crawl" / "crawl.toml").open("a") as file:
        file.write("\n[focus]\ncutoff = 40.0\n")
    result = crashing.run(["why", str(tmp_path / "crawl"), url, "--json"])
    assert "by the cutoff of the topic" in result.json["reason"]


def test_a_link_that_the_scope_refuses_names_the_rule(finished: Finished) -> None:
    story = why(finished, f"http://{finished.world.graph.plain[0]}/picture.jpg")
    assert story["reason"] == "the rule 'suffix' of [scope] refuses it"
    assert "scope.skip_suffixes = [" in str(story["explanation"])


def test_robots_txt_has_a_story_too(finished: Finished) -> None:
    story = why(finished, f"http://{finished.world.graph.plain[0]}/robots.txt")
    assert (story["state"], story["reason"]) == ("finished", "ok")
    assert str(story["place"]).startswith("robotstxt/")


def test_the_story_for_people_is_the_same(finished: Finished) -> None:
    shown = crashing.run(["why", str(finished.directory), finished.world.seeds[0]])
    first, *_, last = shown.out.splitlines()
    assert (shown.code, first, last) == (0, finished.world.seeds[0], "finished: ok")


def test_a_url_cannot_send_control_codes_to_the_terminal(finished: Finished) -> None:
    shown = crashing.run(["why", str(finished.directory), f"http://{finished.world.graph.plain[0]}/\x1b[31mred[bold]"])
    assert shown.code == 0 and "\x1b" not in shown.out
    assert urls.parse(shown.out.splitlines()[0]) is not None


def test_why_wants_a_url(finished: Finished) -> None:
    result = crashing.run(["why", str(finished.directory), "not a url"])
    assert result.code == 2 and "is not an http or https URL" in result.err


@pytest.fixture
def hand_made(tmp_path: Path) -> Path:
    (tmp_path / "crawl.toml").write_text("[quality]\nmin_characters = 50\n")
    write(
        tmp_path / "log",
        frame(1, page("rejected", digest="SAME", reason=Reason.QUALITY, detail="letters"), seeds=(task(""),)),
        frame(2, page("first", digest="SAME", text=77), page("other", digest="OTHER", text=99)),
        frame(
            3,
            page("copy", reason=Reason.DUPLICATE, digest="SAME", text=78, detail="same payload as an earlier page"),
            page("retold", reason=Reason.DUPLICATE, digest="NEW", text=99, detail="same text as an earlier page"),
            page("short", reason=Reason.QUALITY, detail="short", scores={"characters": 31.0}),
            page("moved", reason=Reason.BAD_REDIRECT, detail="Location: \x1b[31m"),
        ),
    )
    return tmp_path


def test_a_duplicate_names_the_page_that_was_first_seen(hand_made: Path) -> None:
    first = crashing.run(["why", str(hand_made), parsed("copy").text, "--json"]).json
    assert first["events"][0]["duplicate_of"] == parsed("first").text  # a rejected page has no fingerprints
    assert crashing.run(["why", str(hand_made), parsed("retold").text, "--json"]).json["explanation"] == (
        "same payload or same clean text as an earlier page; first seen at http://a.example.org/other"
    )


def test_a_rule_comes_with_its_option_its_limit_and_the_figure_of_the_page(hand_made: Path) -> None:
    event = crashing.run(["why", str(hand_made), parsed("short").text, "--json"]).json["events"][0]
    found = {name: event[name] for name in ("kind", "reason", "rule", "option", "limit", "figure")}
    assert found == {
        "kind": "requested",
        "reason": "quality",
        "rule": "short",
        "option": "quality.min_characters",
        "limit": "50",
        "figure": 31.0,
    }
    shown = crashing.run(["why", str(hand_made), parsed("short").text]).out
    assert "because: its text has too few characters (quality.min_characters = 50, this page has 31)" in shown


def test_a_header_of_a_server_cannot_send_control_codes_to_the_terminal(hand_made: Path) -> None:
    shown = crashing.run(["why", str(hand_made), parsed("moved").text]).out
    assert "Location: ?[31m" in shown and "\x1b" not in shown


def test_a_retired_domain_is_shown_with_its_yield_and_the_required_one(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text('[frontier]\nyield_threshold = "normal"\n')
    poor = [page(str(number), downloaded=10_000, clean=100, kept=10) for number in range(100)]
    other = page("x", host="example.com", downloaded=10_000, kept=9_000)
    end = entry(task("last"), Reason.LOW_YIELD, detail="its domain was retired", seq=0)
    write(tmp_path / "log", frame(1, *poor, other), frame(2, end), frame(3, page("late", kept=9_000, time=5000.0)))
    story = crashing.run(["why", str(tmp_path), parsed("last").text, "--json"]).json
    assert story["events"][0]["figure"] == 0.001
    assert story["explanation"].endswith(
        'frontier.yield_threshold = "normal"); example.org gave 1.00 kB of text for 1.00 MB in 100 responses: '
        "a yield of 0.0010, and after so many responses 0.0050 are required"
    )
