"""Read a long log: `windrow status` and `windrow why`, the first time and after that.

    python benchmarks/follow.py make DIR --entries 10000000    write the log of a crawl that never was
    python benchmarks/follow.py more DIR --entries 5000        continue it, as a crawl does
    python benchmarks/follow.py measure DIR                    run the commands: seconds, CPU, bytes of the views

The log is written with the records and the writer of a crawl. URL n is admitted by the page of URL (n - 1) // 2, and
the URLs are requested in the order of their numbers, so half of them still wait. Hosts follow a power law; they have
look-ups, files of robots.txt, and pages of all reasons that a crawl of the web has. `measure` removes the views first,
and asks each question twice; `--keep` leaves them. The peer is the version of Windrow in PYTHONPATH.
"""

import argparse
import base64
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from windrow import log, urls
from windrow.log.writer import Log
from windrow.records import Access, Entry, Frame, Kind, Origin, Place, Reason, Report, Task, Url

HOSTS = 300_000
SKEW = 3.0  # of the power law
PER_FRAME = 128  # entries
START = 1_780_000_000.0  # epoch seconds of the first commit
PACE = 100.0  # entries per second
LANGUAGES = ("ces", "deu", "eng", "fra", "pol", "spa")
# reason, weight, status; those before NO_TEXT have text
REASONS = (
    (Reason.OK, 42, 200),
    (Reason.QUALITY, 12, 200),
    (Reason.LANGUAGE, 8, 200),
    (Reason.DUPLICATE, 5, 200),
    (Reason.NEAR_DUPLICATE, 3, 200),
    (Reason.NO_TEXT, 8, 200),
    (Reason.REDIRECT, 8, 301),
    (Reason.NOT_FOUND, 6, 404),
    (Reason.FORBIDDEN, 1, 403),
    (Reason.SERVER_ERROR, 1, 500),
    (Reason.TIMEOUT, 2, 0),
    (Reason.ROBOTS, 2, 0),
    (Reason.LOW_YIELD, 2, 0),
)
_CHOICES = [(reason, status) for reason, weight, status in REASONS for _ in range(weight)]


def url(number: int) -> Url:
    """Return URL n. Its host is the same in every run."""
    mixed = number * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
    host = int(HOSTS * (mixed / 2**64) ** SKEW)
    name = f"www.site-{host}.example"
    text = f"https://{name}/{mixed % 97}/articles/{number:x}-{mixed:x}.html"
    return Url(text, name, f"site-{host}.example", mixed)


def outcome(number: int) -> tuple[Reason, int]:
    """Return the reason and the status of page n."""
    return _CHOICES[(number * 0x9E3779B97F4A7C15 >> 24 & 0xFFFFFF) % len(_CHOICES)]


def page(number: int, now: float, chance: random.Random) -> Entry:
    """Return the line of a page. A duplicate has the text of page n // 3."""
    own = url(number)
    reason, status = outcome(number)
    via = url((number - 1) // 2).text if number else ""
    task = Task(own, depth=number.bit_length(), via=via, hints=chance.randbytes(20))
    text = chance.randrange(400, 9000) if status == 200 and reason is not Reason.NO_TEXT else 0
    fields: dict[str, object] = {}
    if status:
        file = f"warc/WINDROW-n0-20260601{number >> 17:06}-{number >> 17:05}.warc.gz"
        digest = base64.b32encode(chance.randbytes(20)).decode()
        place = Place(file, chance.randrange(1 << 30), 9000)
        fields = {"status": status, "seconds": round(chance.random(), 3), "place": place, "digest": digest}
    if text:
        names = ("language", "characters", "words", "letters", "digits", "symbols", "sentences", "good")
        fields["scores"] = {name: round(chance.random(), 4) for name in names}
        fields["language"] = LANGUAGES[chance.randrange(len(LANGUAGES))]
    if reason in (Reason.OK, Reason.DUPLICATE):
        fields["text"] = (number if reason is Reason.OK else number // 3) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF
    kept = text if reason is Reason.OK else 0
    report = Report(
        seq=number,
        task=task,
        reason=reason,
        detail="short" if reason is Reason.QUALITY else "",
        time=now,
        downloaded=chance.randrange(2000, 60_000) if status else 0,
        clean=text,
        primary=text,
        kept=kept,
        tokens=kept // 6,
        shape=chance.getrandbits(32),
        rules=now - 5000,
        **fields,  # type: ignore[arg-type]
    )
    links = (2 * number + 1, 2 * number + 2)
    admitted = [Task(url(link), depth=task.depth + 1, via=own.text, hints=chance.randbytes(24)) for link in links]
    return Entry(report, tuple(admitted), {"length": 2, "suffix": 3} if status == 200 else {})


def around(number: int, now: float) -> Iterator[Entry]:
    """Yield the look-up and the robots.txt of a host, every now and then."""
    if number % 12:
        return
    own = url(number)
    name = urls.origin(own.text)
    base = Url(f"{name}/", own.host, own.domain, 1)
    yield Entry(Report(0, Task(base, kind=Kind.RESOLVE), reason=Reason.OK, detail="", time=now, address="192.0.2.1"))
    file = Task(Url(f"{name}/robots.txt", own.host, own.domain, 2), kind=Kind.FILE, file="robots", priority=0)
    rules = "user-agent: *\ndisallow: /private/"
    origin = Origin(name, stamp=now, fetched=now, expires=now + 86400, access=Access.OPEN, rules=rules)
    yield Entry(
        Report(1, file, reason=Reason.OK, detail="", time=now, seconds=0.1, status=200, downloaded=400, origin=origin)
    )


def write(directory: Path, first: int, pages: int) -> None:
    """Append so many pages to a log, in whole frames; the first has this number."""
    directory.mkdir(exist_ok=True)
    (directory / "crawl.toml").touch()
    names = log.names(directory / "log")
    journal = Log(directory / "log", (names[-1] if names else "", 0))
    chance = random.Random(first)
    for start in range(first, first + pages, PER_FRAME):
        now = START + start / PACE
        lines = [entry for n in range(start, start + PER_FRAME) for entry in (*around(n, now), page(n, now, chance))]
        file = f"warc/WINDROW-n0-20260601{start >> 17:06}-{start >> 17:05}.warc.gz"
        lengths = {file: (start & 0x1FFFF) * 9000}
        seeds = (Task(url(0)),) if not start else ()
        frame = Frame(start // PER_FRAME + 1, now + 1, tuple(lines), lengths, seeds=seeds, in_flight=200)
        journal.append(log.encode(frame))
    journal.close()


def written(directory: Path) -> int:
    """Return how many pages a log has."""
    *_, (head, _, _) = log.raw_frames(directory / "log", (log.names(directory / "log")[-1], 0))
    return PER_FRAME * int(head.frame)


def questions(pages: int) -> dict[str, list[str]]:
    """Return the commands to measure, behind the directory: one page of each kind of story, from the last tenth."""
    last = range(pages - 1, pages * 9 // 10, -1)
    copies = (n for n in last if outcome(n)[0] is Reason.DUPLICATE and outcome(n // 3)[0] is Reason.OK)
    asked = {
        "why, a page that was fetched": next(n for n in last if outcome(n)[0] is Reason.OK),
        "why, a URL that waits": 2 * pages - 9,
        "why, a duplicate": next(copies),
        "why, a retired domain": next(n for n in last if outcome(n)[0] is Reason.LOW_YIELD),
    }
    stories = {name: ["why", url(number).text] for name, number in asked.items()}
    nowhere = {"why, a URL that was not admitted": ["why", "https://www.site-1.example/nowhere"]}
    return {"status": ["status"], "status, metrics": ["status", "--format", "prometheus"], **stories, **nowhere}


def timed(command: list[str], directory: Path) -> tuple[float, float]:
    """Run a command of Windrow; return its seconds and its CPU seconds."""
    verb, *others = command
    before, began = os.times(), time.monotonic()
    program = [sys.executable, "-m", "windrow.cli"]
    subprocess.run([*program, verb, directory, *others], check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.monotonic() - began, os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def measure(directory: Path, pages: int, keep: bool) -> None:
    if not keep:
        shutil.rmtree(directory / "views", ignore_errors=True)
    print(f"{pages:,} pages, {log.length(directory) / 1e6:,.0f} MB of log", flush=True)
    for name, command in questions(pages).items():
        first, second = timed(command, directory), timed(command, directory)
        times = "   then ".join(f"{seconds:7.2f} s, CPU {cpu:6.2f} s" for seconds, cpu in (first, second))
        print(f"{name:32}  first {times}", flush=True)
    sizes: dict[str, int] = {}
    for path in (directory / "views").glob("*"):
        kind = path.suffix.lstrip(".") or path.name
        sizes[kind] = sizes.get(kind, 0) + path.stat().st_size
    for kind, size in sorted(sizes.items()):
        print(f"views, {kind:12} {size / 1e6:8.1f} MB, {size / pages:5.1f} bytes per page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["make", "more", "measure"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--entries", type=int, default=10_000_000, help="pages to write")
    parser.add_argument("--pages", type=int, default=0, help="measure: that the log has; default: they are counted")
    parser.add_argument("--keep", action="store_true", help="measure: leave the views as they are")
    given = parser.parse_args()
    if given.verb == "measure":
        measure(given.directory, given.pages or written(given.directory), given.keep)
    else:
        write(given.directory, 0 if given.verb == "make" else written(given.directory), given.entries)


if __name__ == "__main__":
    main()
