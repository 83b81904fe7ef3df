"""`windrow.init`, `crawl` and `status`, on the web of the demo."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import windrow
from tests.judge.focus import subjects
from windrow import config
from windrow.demo import directory as demos
from windrow.demo import web
from windrow.demo.web import Web


@pytest.fixture(scope="module")
def site() -> Iterator[Web]:
    with web.serve() as found:
        yield found


@pytest.fixture
def crawl(tmp_path: Path, site: Web) -> Path:
    demos.write(tmp_path / "crawl", site)
    return tmp_path / "crawl"


def test_a_crawl_runs_and_continues(crawl: Path) -> None:
    seen: list[windrow.CrawlProgress] = []
    ending = windrow.crawl(crawl, max_pages=20, progress=seen.append)
    assert ending.why == "pages" and ending.tally.captures >= 20
    assert seen[-1].tally == ending.tally and seen[-1].seconds > 0
    documents = {document.url for document in windrow.documents(crawl)}
    assert documents
    windrow.crawl(crawl, max_pages=20)
    assert documents < {document.url for document in windrow.documents(crawl)}
    found = windrow.status(crawl)
    assert found.frames and not found.running and found.finished["ok"] >= len(documents)
    assert sum(1 for _ in windrow.captures(crawl)) >= found.finished["ok"]


def test_a_crawl_ends_when_its_corpus_is_large_enough(crawl: Path) -> None:
    ending = windrow.crawl(crawl, max_tokens=400, settings={"crawl.in_flight": 2})
    assert ending.why == "tokens" and ending.counts.tokens == windrow.status(crawl).tokens >= 400
    assert windrow.crawl(crawl, max_documents=1).why == "documents"


def test_a_crawl_runs_where_an_event_loop_runs_already(crawl: Path) -> None:
    async def cell() -> windrow.Ending:
        return windrow.crawl(str(crawl), max_pages=5)

    assert asyncio.run(cell()).why == "pages"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt: a shell starts programs in the background with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_crawl_cleanly(crawl: Path, interruptible: None) -> None:
    calls: list[int] = []

    def interrupt(progress: windrow.CrawlProgress) -> None:
        calls.append(progress.tally.captures)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    # A delay of a minute: the crawl is certainly not over when the signal comes.
    ending = windrow.crawl(crawl, settings={"fetch.delay": 60.0}, progress=interrupt)
    assert ending.why == "stopped" and len(calls) == 2
    assert not [thread for thread in threading.enumerate() if thread.name == "windrow crawl"]
    assert windrow.crawl(crawl, max_pages=5).why == "pages"


def test_an_exception_of_the_callback_stops_the_crawl_and_is_raised(crawl: Path) -> None:
    def fail(progress: windrow.CrawlProgress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        windrow.crawl(crawl, settings={"fetch.delay": 60.0}, progress=fail)
    assert not windrow.status(crawl).running
    assert windrow.crawl(crawl, max_pages=5).why == "pages"


def test_an_error_of_the_crawl_is_raised_in_the_thread_of_the_caller(crawl: Path, tmp_path: Path) -> None:
    (crawl / "seeds.txt").write_text("not a URL\n")
    with pytest.raises(windrow.Error, match="is not an http or https URL"):
        windrow.crawl(crawl)
    with pytest.raises(windrow.Error, match="did you mean"):
        windrow.crawl(crawl, settings={"fetch.dely": 1.0})
    with pytest.raises(windrow.Error, match=r"has no crawl\.toml; make one with windrow\.init"):
        windrow.crawl(tmp_path / "none")


def test_init_makes_a_directory_from_urls_or_from_a_file(tmp_path: Path) -> None:
    made = windrow.init(
        tmp_path / "a",
        ["http://b.example/", "http://a.example/#top", "http://b.example/"],
        contact="ada@a.example",
        language=["cs", "Slovak"],
        tld="example",
        settings={"fetch.delay": 7.5},
    )
    assert made == tmp_path / "a"
    assert (made / "seeds.txt").read_text() == "http://b.example/\nhttp://a.example/\n"
    written = (made / "crawl.toml").read_text()
    for line in ('accepted = ["ces", "slk"]', 'tlds = ["example"]', "delay = 7.5", 'contact = "ada@a.example"'):
        assert line in written
    again = windrow.init(str(tmp_path / "b"), made / "seeds.txt", language="ces")
    assert (again / "seeds.txt").read_text() == (made / "seeds.txt").read_text()
    single = windrow.init(tmp_path / "c", "http://a.example/")
    assert (single / "seeds.txt").read_text() == "http://a.example/\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": ["a b"]}, "seeds, line 1: 'a b' is not an http or https URL"),
        ({"seeds": []}, "holds no URL"),
        ({"seeds": "none.txt"}, "there is no seed list"),
        ({"language": "germn"}, "unknown language 'germn'"),
        ({"settings": {"fetch.delay": "soon"}}, "fetch.delay"),
        ({"settings": ["fetch.delay=1"]}, "is not a dict"),
    ],
)
def test_init_writes_nothing_if_an_argument_is_wrong(
    tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(windrow.Error, match=message):
        windrow.init(tmp_path / "new", **{"seeds": ["http://a.example/"], **arguments})  # type: ignore[arg-type]
    assert not (tmp_path / "new").exists()


def test_init_keeps_an_existing_crawl(tmp_path: Path) -> None:
    windrow.init(tmp_path / "a", ["http://a.example/"])
    with pytest.raises(windrow.Error, match=r"already has a crawl\.toml"):
        windrow.init(tmp_path / "a", ["http://b.example/"])


def test_a_new_crawl_gets_a_topic_from_files_of_text(tmp_path: Path) -> None:
    text = tmp_path / "cats.txt"
    text.write_text("\n".join(subjects.text("cats", 300)))
    made = windrow.init(tmp_path / "a", ["http://a.example/"], language="eng", topic=text)
    focus = config.load(made / "crawl.toml").focus
    assert (focus.model, focus.by) == (str(made.absolute() / "topic.bin"), "odds")
    assert (made / "topic.words").is_file()
    with pytest.raises(windrow.Error, match=r"cats\.txt is English"):
        windrow.init(tmp_path / "b", ["http://a.example/"], language="deu", topic=[text])
    assert not (tmp_path / "b").exists()
