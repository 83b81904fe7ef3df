"""The pool: every page gets its answer, and a page that kills its worker costs that page alone."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from windrow import records as data
from windrow import urls
from windrow.config import Config, ConfigError, ExtractOptions, JudgeOptions, WorkersOptions
from windrow.crawler.workers import pool as pools
from windrow.crawler.workers import process, wire, worker
from windrow.crawler.workers.pool import Pool
from windrow.crawler.workers.wire import Lost, ReadRequest
from windrow.crawler.workers.worker import Job
from windrow.records import Capture, Link, Reason, Task, Verdict
from windrow.refine import Refined, Refiner

# The real program of a worker, except that some bodies make it misbehave. The kernel kills it, or the pool must.
WORKER = """
import ctypes, os, signal, time
from windrow.crawler.workers import process
refine = process.Refiner.__call__
def misbehave(self, capture, sketch="", reader=None):
    body = capture.body
    if b"SPIN" in body:
        while True: pass
    if b"HANG" in body: time.sleep(1000)
    if b"SEGFAULT" in body: ctypes.string_at(0)
    if b"EXHAUST" in body: bytearray(1 << 40)
    if b"KILLED" in body: os.kill(os.getpid(), signal.SIGKILL)
    if b"RAISE" in body: raise ValueError("a bug")
    if b"RECURSE" in body: misbehave(self, capture)
    if b"MAD" in body: os.write(int(process.sys.argv[2]), b"\\x05\\0\\0\\0\\0\\0\\0\\0MADMA")
    if b"CONFUSED" in body: return process.wire.Sketched("a sketch")
    if b"ONCE" in body:
        marker = body.split(b"ONCE ")[1].split(b">")[0]
        if not os.path.exists(marker):
            open(marker, "w").close()
            ctypes.string_at(0)
    return refine(self, capture, sketch, reader)
process.Refiner.__call__ = misbehave
process.main()
"""


def capture(body: bytes, name: str = "", kind: bytes = b"text/html; charset=utf-8") -> Capture:
    url = urls.parse(f"http://site.test/{name}")
    assert url
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n"
    return Capture(Task(url, depth=3), 200, b"GET", head, body, 1.0, 2.0, "127.0.0.1", "http/1.1")


def options(count: int = 1, seconds: float = 5.0, megabytes: int = 1024) -> Config:
    return Config(
        workers=WorkersOptions(count=count, seconds=seconds, megabytes=megabytes),
        extract=ExtractOptions(extractor="none"),
    )


@pytest.fixture
def misbehaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    monkeypatch.setattr(worker, "PROGRAM", (sys.executable, str(script)))


def refine(bodies: list[bytes], config: Config | None = None) -> list[Refined | Lost]:
    async def run() -> list[Refined | Lost]:
        pool = Pool(config or options())
        await pool.start()
        try:
            return await asyncio.gather(
                *[pool.refine(capture(body, str(number))) for number, body in enumerate(bodies)]
            )
        finally:
            await pool.close()

    return asyncio.run(run())


def links(answer: Refined | Lost) -> list[str]:
    assert isinstance(answer, Refined), answer
    return [link.url.text.removeprefix("http://site.test/") for link in answer.links]


def reason(answer: Refined | Lost) -> Reason | None:
    return answer.reason if isinstance(answer, Lost) else None


def good(number: int) -> bytes:
    return b"<a href=page-%d>" % number


def test_a_worker_gives_the_same_answer_as_the_function() -> None:
    bodies = [
        b"<title>\xc5\xbe</title><html lang=cs><a href=a rel=next><a href=b.pdf><a href=http://other.test/c>",
        b"",
        b"\0\1\2",
        good(1),
    ]
    expected = [Refiner(options())(capture(body, str(number))) for number, body in enumerate(bodies)]
    assert refine(bodies) == expected


def test_every_page_gets_its_own_answer_whatever_the_number_of_workers_and_pages() -> None:
    for count in (1, 3):
        answers = refine([good(number) for number in range(200)], options(count))
        assert [links(answer) for answer in answers] == [[f"page-{number}"] for number in range(200)]


def test_a_page_larger_than_any_buffer_goes_through() -> None:
    answers = refine(
        [good(1), b"<a href=x>" + b"y" * 6_000_000, b"".join(b"<a href=x%d>" % n for n in range(20_000)), good(2)]
    )
    assert [len(links(answer)) for answer in answers] == [1, 1, 10_000, 1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"SPIN", Reason.PARSE_TIMEOUT),
        (b"SEGFAULT", Reason.PARSE_CRASH),
        (b"EXHAUST", Reason.PARSE_MEMORY),
        (b"KILLED", Reason.PARSE_MEMORY),
        (b"RAISE", Reason.PARSE_CRASH),
        (b"RECURSE", Reason.PARSE_CRASH),
        (b"MAD", Reason.PARSE_CRASH),
    ],
)
@pytest.mark.usefixtures("misbehaving")
def test_the_page_that_kills_its_worker_gets_the_reason_and_no_other_page_is_lost(
    body: bytes, expected: Reason
) -> None:
    bodies = [good(number) for number in range(40)]
    bodies[5] = bodies[37] = body
    answers = refine(bodies, options(seconds=0.2))
    assert [reason(answer) for answer in answers] == [expected if number in (5, 37) else None for number in range(40)]
    assert all(links(answer) == [f"page-{number}"] for number, answer in enumerate(answers) if number not in (5, 37))


@pytest.mark.usefixtures("misbehaving")
def test_a_bug_is_named() -> None:
    assert refine([b"RAISE"]) == [Lost(Reason.PARSE_CRASH, "ValueError: a bug")]


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "_GRACE", 1.0)
    monkeypatch.setattr(pools, "_TICK", 0.05)
    monkeypatch.setattr(pools, "_STARTING", 5000)
    answers = refine([good(0), b"HANG", good(2)], options(seconds=0.01))
    assert [reason(answer) for answer in answers] == [None, Reason.PARSE_TIMEOUT, None]


@pytest.mark.usefixtures("misbehaving")
def test_a_page_whose_worker_died_by_chance_is_read_again(tmp_path: Path) -> None:
    answers = refine([b"<a href=x><!-- ONCE " + str(tmp_path / "once").encode() + b"> -->"])
    assert [links(answer) for answer in answers] == [["x"]]


def test_the_limits_are_those_of_the_options() -> None:
    page = b"<svg><a href=x><title>t</title>" * 100_000
    assert [reason(answer) for answer in refine([page, good(1)], options(seconds=0.05))] == [Reason.PARSE_TIMEOUT, None]
    assert [reason(answer) for answer in refine([page, good(1)], options(megabytes=60))] == [Reason.PARSE_MEMORY, None]
    assert [reason(answer) for answer in refine([page, good(1)])] == [None, None]


GREEDY = """
from windrow import urls
from windrow.extraction.readers import Reader
from windrow.records import Link, Page
PAGE = Page(links=(Link(urls.parse("http://site.test/read")),))
def read(capture):
    for _ in range(int(capture.body) << 20): pass
    return PAGE
def spend(capture):
    memory = bytearray(int(capture.body) << 20)
    return PAGE
def seconds(options, inner): return Reader(("text/x-time",), read, seconds=0.2)
def memory(options, inner): return Reader(("text/x-memory",), spend, megabytes=100)
def free(options, inner): return Reader(("text/x-free",), spend)
"""


def test_the_limits_of_a_page_are_those_of_its_reader(tmp_path: Path) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    readers = tuple(f"{tmp_path}/greedy:{name}" for name in ("seconds", "memory", "free"))
    extract = ExtractOptions(extractor="none", readers=readers)
    config = Config(workers=WorkersOptions(count=1, seconds=60, megabytes=1500), extract=extract)
    time, memory, free = Reason.PARSE_TIMEOUT, Reason.PARSE_MEMORY, None
    pages = [
        (b"0", b"text/x-time", None),
        (b"4000", b"text/x-time", time),
        (b"10", b"text/x-memory", None),
        (b"200", b"text/x-free", free),
        (b"200", b"text/x-memory", memory),
        (b"200", b"text/x-free", free),
        (b"3000", b"text/x-free", memory),
        (b"10", b"text/x-memory", None),
        (good(1), b"text/html", None),
    ]

    async def run() -> list[Refined | Lost]:
        pool = Pool(config)
        await pool.start()
        try:
            captures = [capture(body, str(number), kind) for number, (body, kind, _) in enumerate(pages)]
            return await asyncio.gather(*[pool.refine(each) for each in captures])
        finally:
            await pool.close()

    answers = asyncio.run(run())
    assert [reason(answer) for answer in answers] == [expected for _, _, expected in pages]
    assert [links(answer) for answer in answers if isinstance(answer, Refined)] == [["read"]] * 5 + [["page-1"]]


def test_workers_that_cannot_start_end_the_crawl_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PROGRAM", (sys.executable, "-c", "raise SystemExit(7)"))
    with pytest.raises(ConfigError, match="exit code 7"):
        refine([b""])


def broken(tmp_path: Path, source: str) -> Config:
    (tmp_path / "broken.py").write_text(source)
    return Config(workers=WorkersOptions(count=2), judge=JudgeOptions(judges=(f"{tmp_path}/broken:judge",)))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nothing_like_this", "names '.*broken:judge', but its module cannot be imported .*nothing_like_this"),
        ("x = 1", "defines no 'judge'; correct the name after the colon"),
        ("raise SystemExit('no licence')", "no worker could be started: SystemExit: no licence"),
        ("raise ValueError('very long\\n' * 9999)", "ValueError: very long very long"),
    ],
)
def test_a_worker_that_cannot_start_says_why(
    source: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        refine([b""], broken(tmp_path, source))
    assert "megabytes" not in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert capfd.readouterr().err == ""


def test_a_worker_that_needs_more_memory_to_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "PROGRAM", (sys.executable, "-c", "raise SystemExit(3)"))
    with pytest.raises(
        ConfigError,
        match=r"more memory than workers\.megabytes, or its reader, allows; raise workers\.megabytes \(now 70\)",
    ):
        refine([b""], options(megabytes=70))


def test_unanswered_jobs_are_cancelled_at_the_end() -> None:
    async def run() -> None:
        pool = Pool(options())
        await pool.start()
        answer = asyncio.ensure_future(pool.refine(capture(good(1))))
        await asyncio.sleep(0)  # the task starts: its job is in the pool
        await pool.close()
        with pytest.raises(asyncio.CancelledError):
            await answer

    asyncio.run(run())


def test_a_cancelled_caller_is_no_trouble() -> None:
    async def run() -> list[Refined | Lost]:
        pool = Pool(options())
        await pool.start()
        answers = [asyncio.ensure_future(pool.refine(capture(good(number)))) for number in range(3)]
        await asyncio.sleep(0)  # the tasks start: their jobs are in the pool
        answers[1].cancel()
        try:
            return [await answers[0], await answers[2]]
        finally:
            await pool.close()

    assert [links(answer) for answer in asyncio.run(run())] == [["page-0"], ["page-2"]]


CRAWL = """
import asyncio, os
from windrow.config import Config, WorkersOptions
from windrow.crawler.workers.pool import Pool
async def run():
    pool = Pool(Config(workers=WorkersOptions(count=2)))
    await pool.start()
    with open(f"/proc/self/task/{os.getpid()}/children") as children:
        print(children.read(), flush=True)
    await asyncio.sleep(1000)
asyncio.run(run())
"""


def _crawl() -> tuple[subprocess.Popen[str], list[int]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    crawl = subprocess.Popen(
        [sys.executable, "-c", CRAWL], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert crawl.stdout
    return crawl, [int(pid) for pid in crawl.stdout.readline().split()]


async def _until_readable(descriptor: int) -> None:
    done = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, done.set)
    await done.wait()
    asyncio.get_running_loop().remove_reader(descriptor)


def test_workers_do_not_outlive_a_crawl_that_was_killed() -> None:
    crawl, pids = _crawl()
    descriptors = [os.pidfd_open(pid) for pid in pids]
    crawl.kill()
    crawl.communicate()
    assert len(pids) == 2
    for descriptor in descriptors:
        asyncio.run(_until_readable(descriptor))
        os.close(descriptor)


def test_signals_meant_for_the_crawl_do_not_end_its_workers() -> None:
    async def run() -> tuple[set[str], set[str]]:
        others = set(_children().split())  # of earlier tests in this process
        pool = Pool(options())
        await pool.start()
        before = set(_children().split()) - others
        for pid in before:
            for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(int(pid), name)
        try:
            links(await pool.refine(capture(good(1))))
            return before, set(_children().split()) - others
        finally:
            await pool.close()

    before, after = asyncio.run(run())
    assert before == after != set()


def _children() -> str:
    return Path("/proc/thread-self/children").read_text()


def test_an_answer_of_a_worker_is_a_record_or_an_error() -> None:
    answers: list[wire.Answer] = [
        Refined((), 7, {"suffix": 2}, Verdict(Reason.LANGUAGE, "eng", "eng", {"language": 0.5}, 10)),
        Lost(Reason.PARSE_CRASH, "why"),
        wire.Sketched("sketch"),
    ]
    frame = wire.answered(answers, memoryview(b""), 0)
    assert wire.answers(frame[wire.LENGTHS.size :]) == answers
    for bad in (b"", b"\xc0", msgspec.msgpack.encode([[0, 1, 2]]), msgspec.msgpack.encode([[3, "x", "y"]]), b"\x91"):
        with pytest.raises(msgspec.DecodeError):
            wire.answers(bad)


def test_answers_go_through_shared_memory_if_they_fit() -> None:
    shared = memoryview(bytearray(100))
    answers: list[wire.Answer] = [Lost(Reason.PARSE_CRASH, "why")]
    size, place = wire.LENGTHS.unpack(wire.answered(answers, shared, 60))
    assert place == 60
    assert wire.answers(bytes(shared[place : place + size])) == answers
    assert wire.answered(answers, shared, 100 - size + 1) == wire.LENGTHS.pack(size, 0) + wire.encode(answers)


def test_answers_too_large_for_shared_memory_go_through_the_socket() -> None:
    texts = [
        "".join(f"<p>Of the many paragraphs of page {page} this is number {at}.</p>" for at in range(9000))
        for page in range(3)
    ]
    pages = [good(1) + b"</a>" + text.encode() for text in texts]

    async def run() -> list[wire.Answer]:
        pool = Pool(Config())
        await pool.start()
        try:
            return list(
                await asyncio.gather(
                    *[pool.refine(capture(page, f"page{number}")) for number, page in enumerate(pages)]
                )
            )
        finally:
            await pool.close()

    for answer in asyncio.run(run()):
        assert links(answer) == ["page-1"]
        assert answer.draft is not None and len(answer.draft.paragraphs) == 9000


def test_an_answer_outside_of_the_shared_memory_is_invalid() -> None:
    async def run() -> tuple[bool, bool, bool]:
        pool = Pool(options())
        await pool.start()
        try:
            worker = pool._workers[0]
            none = wire.encode([])
            assert worker.shared is not None
            worker.shared[wire.CAPTURES : wire.CAPTURES + 1] = none
            right = pool._take(worker, wire.LENGTHS.pack(1, wire.CAPTURES))
            over = pool._take(worker, wire.LENGTHS.pack(1, wire.CAPTURES + wire.ANSWERS))
            worker.unread.clear()
            long = pool._take(worker, wire.LENGTHS.pack(1 << 31, wire.CAPTURES))
            return right, over, long
        finally:
            await pool.close()

    assert asyncio.run(run()) == (True, False, False)


def test_a_capture_travels_with_what_reading_needs() -> None:
    sent = [ReadRequest(capture(b"<p>body", "a"), "sketch"), ReadRequest(capture(b"", "b"), probe=True)]
    frame = memoryview(b"".join(wire.sent(sent)))
    plain, data = wire.LENGTHS.unpack_from(frame)
    start = wire.LENGTHS.size
    assert len(frame) == start + plain + data
    received = wire.received(frame[start : start + plain], frame[start + plain :])
    assert [travelled(one) for one in received] == [travelled(one) for one in sent]


def travelled(request: ReadRequest) -> tuple[object, ...]:
    one = request.capture
    return one.task.url, one.head, one.body, one.encoded, one.time, request.sketch, request.probe


def test_a_soft_404_probe_is_answered_with_its_sketch_and_a_lost_one_with_none() -> None:
    async def run() -> list[str]:
        pool = Pool(Config())
        await pool.start()
        try:
            text = b"<p>" + b"The page that you asked for is not here. " * 9 + b"</p>"
            return [await pool.sketch(capture(body)) for body in (text, text + b" ", b"")]
        finally:
            await pool.close()

    first, again, empty = asyncio.run(run())
    assert first == again != "" and empty == ""


@pytest.mark.parametrize(
    ("probe", "wrong"), [(False, wire.Sketched("a sketch")), (True, Refined((), 7, {}, Verdict(Reason.OK)))]
)
def test_an_answer_of_the_wrong_kind_is_invalid(probe: bool, wrong: wire.Answer) -> None:
    async def run() -> bool:
        pool = Pool(options())
        await pool.start()
        try:
            job = Job(ReadRequest(capture(good(1)), probe=probe), asyncio.get_running_loop().create_future())
            pool._workers[0].jobs.append(job)
            answer = wire.encode([wrong])
            return pool._take(pool._workers[0], wire.LENGTHS.pack(len(answer), 0) + answer) or job.answer.done()
        finally:
            await pool.close()

    assert asyncio.run(run()) is False


@pytest.mark.usefixtures("misbehaving")
def test_a_worker_that_answers_a_page_with_a_sketch_is_replaced() -> None:
    answers = refine([good(0), b"CONFUSED", good(2)])
    assert answers[1] == Lost(Reason.PARSE_CRASH, "the worker sent an invalid answer")
    assert [links(answer) for answer in (answers[0], answers[2])] == [["page-0"], ["page-2"]]


def test_hints_that_no_worker_computes_are_refused() -> None:
    url = urls.parse("http://a.test/")
    assert url is not None
    for size, valid in ((data.MOST_HINTS, True), (data.MOST_HINTS + 1, False)):
        answer = Refined((Link(url, hints=b"x" * size),), 0, {})
        with contextlib.nullcontext() if valid else pytest.raises(msgspec.ValidationError):
            wire.answers(wire.encode([answer]))


def test_a_judge_of_the_user_runs_in_a_worker(tmp_path: Path) -> None:
    source = "from windrow.judge import Ruling\ndef judge(page, facts):\n    return Ruling(scores={'own': 2.0})\n"
    (tmp_path / "own_judge.py").write_text(source)
    text = b"<p>" + b"There is an old house at the end of the village where nobody has lived for many years. " * 3
    answer, *_ = refine([text], Config(judge=JudgeOptions(judges=(f"{tmp_path}/own_judge:judge",))))
    assert isinstance(answer, Refined) and answer.verdict is not None
    assert answer.verdict.scores["own"] == 2.0


def test_what_a_judge_of_the_user_prints_is_not_mixed_with_what_the_crawl_prints_for_programs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = "from windrow.judge import Ruling\ndef judge(page, facts):\n    print('HERE')\n    return Ruling()\n"
    (tmp_path / "loud_judge.py").write_text(source)
    refine([b"<p>one page"], Config(judge=JudgeOptions(judges=(f"{tmp_path}/loud_judge:judge",))))
    printed = capfd.readouterr()
    assert printed.out == "" and "HERE" in printed.err


def test_a_mapped_model_does_not_count_as_memory_of_a_worker(tmp_path: Path) -> None:
    model = tmp_path / "topic.bin"
    with model.open("wb") as file:
        file.truncate((300 << 20) + 1)
    assert [process._mapped(name) for name in ("", str(model), str(tmp_path / "none.bin"))] == [0, 301, 0]
