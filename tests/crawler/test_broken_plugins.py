"""Code of the user that is broken stops the crawl and costs no page; code that fails on an odd page costs that one."""

from pathlib import Path
from typing import Any

import pytest

from tests import crashing, truth, web

TEXT = "The wind came from the sea all day, and in the evening the wind was still there, warm and full of salt."
FETCH = '[fetch]\ndelay = 0.01\nip_delay = 0\nallow_private = true\nhosts_file = "hosts"\n'
QUALITY = "[quality]\nmin_characters = 20\nprobe_after = 0\n[dedup]\nnear_duplicates = false\n"
JUDGE = '[judge]\njudges = ["mine:judge"]\n'
EXTRACTOR = '[extract]\nextractor = "mine:extract"\n'
SHORT = "[workers]\nseconds = 0.3\n"


class Crawl:
    """A crawl of a small site, with code of the user beside it."""

    def __init__(self, directory: Path, site: web.Site, pages: int) -> None:
        self.directory, self.site, self.pages = directory, site, pages
        links = "".join(f'<a href="/{page}">{page}</a>' for page in range(1, pages))
        for page in range(pages):
            body = f"<title>{page}</title>{links if not page else ''}<p>{TEXT} This is the page number {page}."
            site.page("a.test", f"/{page}" if page else "/", body.encode())
        site.hosts_file(directory / "hosts")
        (directory / "seeds.txt").write_text("http://a.test/\n")

    def run(self, code: str, options: str = JUDGE, *arguments: str) -> crashing.Result:
        (self.directory / "mine.py").write_text(code)
        (self.directory / "crawl.toml").write_text(FETCH + QUALITY + options)
        return crashing.run(["crawl", str(self.directory), "--json", *arguments])

    def lines(self) -> list[dict[str, Any]]:
        return [line for frame in truth.frames(self.directory) for line in frame[1:] if not line.get("kind")]

    def reasons(self) -> dict[str, str]:
        return {line["url"][13:]: line["reason"] for line in self.lines()}


HEAD = "from windrow.judge import Ruling\n\ndef judge(page, facts):\n"


@pytest.mark.parametrize("pages", [1, 3, 40])
def test_a_judge_that_fails_on_every_page_stops_the_crawl_and_costs_no_page(tmp_path: Path, pages: int) -> None:
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, pages)
        ended = crawl.run(HEAD + "    return Ruling(scores={'x': facts.nowhere})\n")
        assert ended.code == 2
        assert f"{tmp_path}/mine:judge failed at {tmp_path}/mine.py, line 4: AttributeError" in ended.err
        assert "return Ruling(scores={'x': facts.nowhere})" in ended.err, "the line itself"
        assert crawl.reasons() == {}
        done = crawl.run(HEAD + "    return Ruling(scores={'x': 1.0})\n")
        assert done.code == 0, done.err
        assert set(crawl.reasons().values()) == {"ok"} and len(crawl.reasons()) == pages


BROKEN = {
    "returns nothing": (
        HEAD + "    pass\n",
        "mine.py, line 3: WrongResult: the judge '{0}/mine:judge' returned NoneType",
    ),
    "gives a score of ours": (
        HEAD + "    return Ruling(scores={'letters': 1})\n",
        "two judges give the score 'letters'",
    ),
    "ends the process": ("import sys\n" + HEAD + "    sys.exit('enough')\n", "mine.py, line 5: SystemExit: enough"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_whatever_a_judge_does_wrong_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    code, said = BROKEN[name]
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 20)
        ended = crawl.run(code)
    assert (ended.code, crawl.reasons()) == (2, {})
    assert said.format(tmp_path) in ended.err


def test_an_extractor_that_fails_in_a_library_is_named_by_its_own_line(tmp_path: Path) -> None:
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 20)
        ended = crawl.run("import json\n\ndef extract(capture):\n    return json.loads(capture.body)\n", EXTRACTOR)
    assert (ended.code, crawl.reasons()) == (2, {})
    assert "mine:extract failed at" in ended.err and "mine.py, line 4: JSONDecodeError" in ended.err


def test_a_judge_that_fails_on_an_odd_page_costs_that_page_alone(tmp_path: Path) -> None:
    code = HEAD + "    if facts.url.endswith('/7'): raise KeyError('odd')\n    return Ruling(scores={'x': 1.0})\n"
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 40)
        ended = crawl.run(code)
        assert ended.code == 0, ended.err
        reasons = crawl.reasons()
    assert {path for path, reason in reasons.items() if reason != "ok"} == {"/7"} and len(reasons) == 40
    assert reasons["/7"] == "parse-crash"
    assert next(line for line in crawl.lines() if line["url"].endswith("/7"))["detail"] == "KeyError: 'odd'"


def test_a_judge_that_fails_on_the_last_page_ends_with_the_crawl(tmp_path: Path) -> None:
    code = HEAD + "    return Ruling(scores={'x': 1 / (not facts.url.endswith('/9'))})\n"
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 10)
        assert crawl.run(code).code == 0
    assert [path for path, reason in crawl.reasons().items() if reason == "parse-crash"] == ["/9"]


@pytest.mark.parametrize("room", [1, 4])
def test_pages_that_are_held_back_do_not_stop_a_crawl_with_little_room_in_flight(tmp_path: Path, room: int) -> None:
    code = HEAD + "    return Ruling(scores={'x': 1 / int(facts.url[-1] not in '27')})\n"
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 10)
        ended = crawl.run(code, JUDGE, "--set", f"crawl.in_flight={room}")
    assert ended.code == 0, ended.err
    assert {path for path, reason in crawl.reasons().items() if reason == "parse-crash"} == {"/2", "/7"}


def test_a_run_with_a_limit_says_too_that_the_code_is_broken(tmp_path: Path) -> None:
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 20)
        ended = crawl.run(HEAD + "    raise ValueError\n", JUDGE, "--max-pages", "3")
    assert (ended.code, crawl.reasons()) == (2, {})


DEADLY = {
    "hangs": ("    while True: pass\n", "more CPU time than workers.seconds"),
    "exhausts the memory": ("    return Ruling(scores={'x': len(bytearray(1 << 40))})\n", "workers.megabytes"),
    "kills the process": ("    import os; os._exit(9)\n", "exit code 9"),
}


@pytest.mark.parametrize("name", DEADLY)
def test_a_judge_that_no_worker_survives_stops_the_crawl_and_costs_no_page(tmp_path: Path, name: str) -> None:
    code, said = DEADLY[name]
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 40)
        ended = crawl.run(HEAD + "    if facts.url == 'http://a.test/': return Ruling()\n" + code, JUDGE + SHORT)
    assert ended.code == 2
    assert f"Your own code ran on them: {tmp_path}/mine:judge" in ended.err and said in ended.err
    assert crawl.reasons() in ({}, {"/": "ok"})


def test_a_judge_that_hangs_on_an_odd_page_costs_that_page_alone(tmp_path: Path) -> None:
    code = HEAD + "    while facts.url.endswith('/7'): pass\n    return Ruling(scores={'x': 1.0})\n"
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 20)
        ended = crawl.run(code, JUDGE + SHORT)
    assert ended.code == 0, ended.err
    assert {path: reason for path, reason in crawl.reasons().items() if reason != "ok"} == {"/7": "parse-timeout"}


@pytest.mark.parametrize("option", ["terms", "host_terms", "yield_threshold"])
def test_a_term_that_fails_stops_the_crawl_with_its_line_and_costs_no_page(tmp_path: Path, option: str) -> None:
    code = "def broken(*given):\n    return given[9]\n"
    value = '"mine:broken"' if option == "yield_threshold" else '["mine:broken"]'
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 10)
        ended = crawl.run(code, f'[frontier]\norder = "yield"\ngrace_pages = 1\ngrace_bytes = 0\n{option} = {value}\n')
        assert ended.code == 2
        assert f"{tmp_path}/mine:broken failed at {tmp_path}/mine.py, line 2: IndexError" in ended.err
        assert crawl.run("", "").code == 0
    assert set(crawl.reasons().values()) == {"ok"} and len(crawl.reasons()) == 10


def test_commands_that_read_pages_again_name_the_line_too(tmp_path: Path) -> None:
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 10)
        assert crawl.run("", "").code == 0
    (tmp_path / "mine.py").write_text(HEAD + "    return facts.nowhere\n\ndef extract(capture):\n    return 1 / 0\n")
    judge, extract = "mine.py, line 4: AttributeError", "mine.py, line 7: ZeroDivisionError"
    for said, *arguments in (
        (judge, "rebuild", str(tmp_path), "--corpus", str(tmp_path / "again"), "--set", 'judge.judges=["mine:judge"]'),
        (
            extract,
            "rebuild",
            str(tmp_path),
            "--corpus",
            str(tmp_path / "again"),
            "--set",
            "extract.extractor=mine:extract",
        ),
        (extract, "extract", str(next((tmp_path / "warc").iterdir())), "--extractor", f"{tmp_path}/mine:extract"),
    ):
        ended = crashing.run(arguments)
        assert (ended.code, said in ended.err) == (2, True), ended.err


def test_a_crawl_in_shards_stops_too_and_continues_with_the_code_corrected(tmp_path: Path) -> None:
    with web.serve() as site:
        crawl = Crawl(tmp_path, site, 20)
        ended = crawl.run(HEAD + "    raise KeyError('x')\n", JUDGE, "--shards", "2")
        assert ended.code == 2 and f"{tmp_path}/mine.py, line 4: KeyError" in ended.err
        done = crawl.run(HEAD + "    return Ruling()\n", JUDGE, "--shards", "2")
        assert done.code == 0, done.err
        finished = crashing.run(["status", str(tmp_path), "--json"]).json["finished"]
        assert finished == {"ok": 20}
