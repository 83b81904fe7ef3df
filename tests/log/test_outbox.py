"""Links to other shards are read again from the log, from any frame on."""

from pathlib import Path

import msgspec
import pytest

from tests.logs import frame, ok, task, url, write
from windrow import log, sharding
from windrow.log import writer
from windrow.log.outbox import SPACING
from windrow.records import Frame, Task

COUNT = 4
HOSTS = [f"host{number}.org" for number in range(40)]


def sending(number: int, *hosts: str) -> Frame:
    """Return a frame with one page that links to these hosts."""
    page = ok(number, str(number), "own")
    via = page.report.task.url.text
    links = tuple(Task(url(f"{number}", host), depth=1, via=via, hints=b"\x01\x02") for host in hosts)
    full = msgspec.structs.replace(page, sent=links)
    return msgspec.structs.replace(frame(number, full), receivers=tuple(sorted(sharding.split(links, COUNT))))


def of(shard: int) -> list[str]:
    return [host for host in HOSTS if sharding.shard_of(host, COUNT) == shard]


def read(directory: Path, after: int, until: int, receiver: int, box: log.Outbox | None = None) -> list[log.SentLinks]:
    start = (box or log.Outbox(directory)).start(after)
    return list(log.sent(directory, start, (after, until), receiver, COUNT))


def test_the_links_of_one_receiver_come_back_as_they_were_sent(tmp_path: Path) -> None:
    frames = [sending(1, of(1)[0], of(2)[0]), sending(2, of(2)[1]), sending(3, of(1)[1], of(1)[2])]
    write(tmp_path, *frames)
    found = read(tmp_path, 0, 3, 1)
    assert [(links.frame, links.tasks) for links in found] == [
        (1, frames[0].entries[0].sent[:1]),
        (3, frames[2].entries[0].sent),
    ]


def test_frames_outside_the_span_are_left_out_because_later_ones_may_not_be_durable(tmp_path: Path) -> None:
    write(tmp_path, *[sending(number, of(1)[0]) for number in range(1, 6)])
    assert [links.frame for links in read(tmp_path, 2, 4, 1)] == [3, 4]


def test_reading_begins_in_the_file_of_the_frame_and_at_a_remembered_position(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LONGEST", 1000)
    frames = [sending(number, of(1)[0]) for number in range(1, 2 * SPACING + 10)]
    positions = write(tmp_path, *frames)
    assert len(log.names(tmp_path)) > 3
    box = log.Outbox(tmp_path)
    for after in (0, 1, 7, SPACING, len(frames) - 1):
        name, offset = box.start(after)
        assert (name, offset) <= positions[after] and offset == 0
        assert [links.frame for links in read(tmp_path, after, len(frames), 1)] == list(
            range(after + 1, len(frames) + 1)
        )
    for written, position in zip(frames, positions, strict=True):
        box.note(written.number, position)
    assert positions[SPACING] <= box.start(SPACING + 2) <= positions[SPACING + 1]
    assert [links.frame for links in read(tmp_path, SPACING + 3, SPACING + 5, 1, box)] == [SPACING + 4, SPACING + 5]


def test_an_empty_log_has_nothing_to_send(tmp_path: Path) -> None:
    assert read(tmp_path, 0, 9, 1) == []
    write(tmp_path, frame(1, seeds=(task("a"),)))
    assert read(tmp_path, 0, 1, 1) == []
