"""WET files: the text of Common Crawl's, and the text that a crawl keeps."""

from pathlib import Path

import pytest

from tests.jobs import warcs
from tests.jobs.derive.made import derived, documents, records, sample
from windrow import archive
from windrow.jobs.derive import limit, wet
from windrow.records import Capture


def test_the_text_of_a_real_page_is_that_of_common_crawl_byte_by_byte(tmp_path: Path) -> None:
    derived(sample(tmp_path, "whirlwind.warc.gz"), tmp_path / "out", wet="all")
    theirs = list(archive.records(sample(tmp_path, "whirlwind.warc.wet")))
    ours = records(tmp_path / "out" / "wet")
    assert ours[1].block == theirs[1].block
    own = {"WARC-Record-ID", "WARC-Identified-Payload-Type"}
    assert [(name, value) for name, value in ours[1].headers if name not in own] == [
        (name, value) for name, value in theirs[1].headers if name not in own
    ]
    copied = [
        line for line in theirs[0].block.splitlines() if not line.startswith((b"Software-Info", b"Extracted-Date"))
    ]
    assert copied == [
        line for line in ours[0].block.splitlines() if not line.startswith((b"Software-Info", b"Extracted-Date"))
    ]
    assert [name for name, _ in ours[0].headers] == [name for name, _ in theirs[0].headers]


def test_only_pages_that_were_found_have_a_text(tmp_path: Path) -> None:
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.record("http://a.example/1", b"<p>one<p>two"),
            warcs.record("http://a.example/2", b"<p>gone", status="404 Not Found"),
            warcs.record("http://a.example/3", b"plain", "text/plain"),
            warcs.record("http://a.example/4", b"<p> </p><img src=x>"),
            warcs.resource("http://a.example/5", b"<p>a file"),
        ],
    )
    account = derived(source, tmp_path / "out", wet="all")
    found = [(record.target, record.block) for record in records(tmp_path / "out" / "wet")[1:]]
    assert found == [("http://a.example/1", b"one\ntwo"), ("http://a.example/5", b"a file")]
    assert (account["wet"], account["records"]) == (2, 5)


def test_main_text_is_the_text_of_the_documents_of_the_crawl(crawled: Path, tmp_path: Path) -> None:
    texts, languages = documents(crawled)
    found = {}
    for source in sorted((crawled / "warc").iterdir()):
        derived(source, tmp_path / source.name, wet="main", crawl=str(crawled))
        found |= {
            record.header("WARC-Refers-To"): (record.block.decode(), record.header("WARC-Identified-Content-Language"))
            for record in records(tmp_path / source.name / "wet")[1:]
        }
    assert len(texts) > 20
    assert {name: found[name][0] for name in texts} == texts
    assert {name: found[name][1] for name in texts} == languages


@pytest.mark.parametrize("fault", ["endless", "crash"])
def test_a_page_that_takes_too_long_or_breaks_the_extractor_is_counted_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    text = wet.kept_text("", ("workers.seconds=0.5",))
    refine = text._refine

    def slow(capture: Capture) -> object:
        if b"crash" in capture.body:
            raise KeyError("a bug")
        while b"endless" in capture.body:
            pass
        return refine(capture)

    monkeypatch.setattr(text, "_refine", slow)
    good = "<p>" + "The wind blows over the wide field, and the mill at the brook turns slowly. " * 10
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [warcs.record("http://a.example/1", f"<p>{fault}".encode()), warcs.record("http://a.example/2", good.encode())],
    )
    account = derived(source, tmp_path / "out", wet="main", settings=("workers.seconds=0.5",))
    assert (account["failed"], account["wet"]) == (1, 1)


def test_the_limit_raises_and_is_gone_afterwards() -> None:
    with pytest.raises(limit.PageTooSlow), limit.cpu(0.01):
        while True:
            pass
    with limit.cpu(10):
        assert sum(range(1000)) == 499500
