"""When the soft-404 probe is sent, and where to."""

import pytest

from windrow import origin
from windrow.config import Config, ExtractOptions, QualityOptions
from windrow.origin import soft404
from windrow.origin.soft404 import Probes
from windrow.records import FileState, Kind, Origin, OriginFile

KNOWN = Origin(name="http://site.test", stamp=1.0, fetched=1.0, expires=2.0)


def probes(after: int = 3, **sections: object) -> Probes:
    return Probes(Config(quality=QualityOptions(probe_after=after), **sections), origin.SOFT_404)  # type: ignore[arg-type]


def test_a_probe_is_due_after_some_pages_and_only_once() -> None:
    known = probes()
    for pages in range(3):
        assert not known.due(KNOWN), pages
        known.count(KNOWN)
    assert known.due(KNOWN)
    known.sent(KNOWN)
    assert not known.due(KNOWN), "it is under way"
    known.postpone(KNOWN)
    assert known.due(KNOWN), "it did not arrive"
    known.sent(KNOWN)
    probed = origin.with_file(KNOWN, origin.SOFT_404, soft404.file(""), 5.0)
    for _ in range(9):
        known.count(probed)
    assert not known.due(probed), "until robots.txt is fetched again"


def test_pages_are_counted_per_origin() -> None:
    known = probes(after=1)
    known.count(KNOWN)
    other = Origin(name="https://site.test", stamp=1.0, fetched=1.0, expires=2.0)
    assert (known.due(KNOWN), known.due(other)) == (True, False)


@pytest.mark.parametrize(
    "options",
    [
        Config(extract=ExtractOptions(extractor="none")),
        Config(quality=QualityOptions(soft_404=0.0)),
        Config(quality=QualityOptions(probe_after=0)),
    ],
)
def test_no_probe_is_sent_if_its_answer_is_not_needed(options: Config) -> None:
    known = Probes(options, origin.SOFT_404)
    for _ in range(100):
        known.count(KNOWN)
    assert not known.due(KNOWN)
    assert origin.SOFT_404 not in origin.before_pages(options)


def test_the_path_is_always_the_same_for_one_origin_and_differs_between_origins() -> None:
    task = origin.task(origin.SOFT_404, "http://site.test")
    assert (task.kind, task.file, task.url.host) == (Kind.FILE, "soft404", "site.test")
    assert task == origin.task(origin.SOFT_404, "http://site.test")
    assert task.url.text.startswith("http://site.test/") and "no-such-page" in task.url.text
    assert soft404.path("http://site.test") != soft404.path("https://site.test")


def test_a_sketch_is_kept_and_an_honest_not_found_page_leaves_none() -> None:
    assert soft404.file("abc") == OriginFile(FileState.PRESENT, "abc")
    assert soft404.file("") == OriginFile(FileState.ABSENT)
