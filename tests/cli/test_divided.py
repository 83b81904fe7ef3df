"""Commands on a crawl of which only some shards are here, as on a node with a disk of its own."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

import windrow
from tests import crashing, truth
from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from tests.world import QUICK, World
from windrow import sharding as shards
from windrow import urls
from windrow.crawler import recover


def divide(directory: Path, shards: int, **places: Path) -> Path:
    """Make the directory of a job with these shards, named s0, s1 and so on, from crawls."""
    record = {"name": "news", "id": "1234", "shards": shards, "options": "", "created": 1.0}
    (directory / "shards").mkdir(parents=True)
    (directory / "job.json").write_text(json.dumps({"job": record}))
    for name, place in places.items():
        shutil.copytree(place, directory / "shards" / f"{int(name[1:]):03}")
    return directory


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with World(seed=62, pages=10, hosts=2, kinds=QUICK) as world:
        directory = truth.prepare(tmp_path_factory.mktemp("divided") / "crawl", world)
        assert crashing.run(["crawl", str(directory)]).code == 0
    return directory


def test_status_and_report_work_on_the_shards_that_are_here_and_name_the_others(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 5, s1=crawled, s3=crawled)
    (job / "shards" / "aside").mkdir()
    missing = "of the 5 shards of news, these are not here: 0, 2, 4; they are on other machines, or have not begun\n"
    one = crashing.run(["status", str(crawled), "--json"]).json
    both = crashing.run(["status", str(job), "--json"])
    assert both.code == 0 and both.err == missing
    assert both.json["finished"]["ok"] == 2 * one["finished"]["ok"] > 0
    assert "2 shards" in crashing.run(["status", str(job)]).out
    report = crashing.run(["report", str(job)])
    assert report.code == 0 and report.err.startswith(missing) and (job / "report" / "index.html").exists()
    numbers = crashing.run(["report", str(job), "--json"]).json
    assert numbers["name"] == "news" and numbers["seen"] == both.json["seen"]


def test_a_job_whose_shards_are_all_here_gets_no_note(crawled: Path, tmp_path: Path) -> None:
    done = crashing.run(["status", str(divide(tmp_path / "news", 2, s0=crawled, s1=crawled))])
    assert (done.code, done.err) == (0, "")


def test_a_job_without_a_shard_or_with_a_damaged_record_is_refused(crawled: Path, tmp_path: Path) -> None:
    none = crashing.run(["status", str(divide(tmp_path / "none", 2))])
    assert none.code == 2 and "has none of its shards" in none.err
    job = divide(tmp_path / "news", 1, s0=crawled)
    (job / "job.json").write_text("{")
    damaged = crashing.run(["status", str(job)])
    assert damaged.code == 2 and "job.json cannot be read" in damaged.err and damaged.err.count("\n") == 1


def test_a_merge_wants_all_shards_which_may_be_in_several_directories(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    parts = [samples.crawl(tmp_path / f"part{number}", SAMPLES[number : number + 1]) for number in range(2)]
    here, there = divide(tmp_path / "here", 2, s0=parts[0]), divide(tmp_path / "there", 2, s1=parts[1])
    refused = crashing.run(["merge", str(here), "-o", str(tmp_path / "refused")])
    assert (
        refused.code == 2
        and "these are not here: 1; name the directories of all nodes, or add --partial" in refused.err
    )
    assert not (tmp_path / "refused").exists()
    part = crashing.run(["merge", str(here), "-o", str(tmp_path / "part"), "--partial", "--json"])
    assert part.code == 0 and part.json["documents_out"] == 1 and "these are not here: 1" in part.err
    whole = crashing.run(["merge", str(here), str(there), "-o", str(tmp_path / "whole"), "--json"])
    assert whole.code == 0 and whole.json["documents_in"] == 2 and "not here" not in whole.err


def test_a_merge_counts_a_shard_that_is_named_itself_and_refuses_one_that_is_named_twice(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    parts = [samples.crawl(tmp_path / f"part{number}", SAMPLES[number : number + 1]) for number in range(2)]
    here, there = divide(tmp_path / "here", 2, s0=parts[0]), divide(tmp_path / "there", 2, s1=parts[1])
    record = json.loads((there / "job.json").read_text())
    (there / "shards" / "001" / "job.json").write_text(json.dumps({**record, "shard": 1}))
    whole = crashing.run(["merge", str(here), str(there / "shards" / "001"), "-o", str(tmp_path / "whole"), "--json"])
    assert (whole.code, whole.err) == (0, "") and whole.json["documents_in"] == 2
    twice = crashing.run(["merge", str(here), str(there), str(there), "-o", str(tmp_path / "twice")])
    assert twice.code == 2 and "001 is named twice" in twice.err and twice.err.count("\n") == 1
    (tmp_path / "file").touch()
    file = crashing.run(["merge", str(tmp_path / "file"), "-o", str(tmp_path / "none")])
    assert file.code == 2 and "file does not exist, or is not a directory" in file.err and file.err.count("\n") == 1


def test_an_export_of_some_shards_says_which_are_missing(tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 3, s2=samples.crawl(tmp_path / "part", [SAMPLES[0]]))
    done = crashing.run(["export", str(job), "--format", "jsonl", "-o", str(tmp_path / "out.jsonl")])
    assert done.code == 0 and "these are not here: 0-1" in done.err, done.err


def empty(directory: Path) -> Path:
    """Make a shard whose domains gave no text."""
    record = {"name": "news", "id": "1234", "shards": 2, "options": "", "created": 1.0}
    directory.mkdir(parents=True)
    (directory / "crawl.toml").write_text("")
    (directory / "job.json").write_text(json.dumps({"job": record, "shard": 1}))
    return directory


def test_a_shard_without_documents_does_not_stop_an_export(tmp_path: Path) -> None:
    part = samples.crawl(tmp_path / "part", [SAMPLES[0]])
    job = divide(tmp_path / "news", 2, s0=part, s1=empty(tmp_path / "empty"))
    done = crashing.run(["export", str(job), "--format", "jsonl", "-o", str(tmp_path / "out.jsonl")])
    assert done.code == 0 and "1 of 1 documents" in done.out, done.err
    none = divide(tmp_path / "none", 2, s1=tmp_path / "empty")
    refused = crashing.run(["export", str(none), "--format", "jsonl", "-o", str(tmp_path / "none.jsonl")])
    assert refused.code == 2 and "none of these shards has documents yet" in refused.err


def test_a_program_reads_a_crawl_with_shards_as_one(tmp_path: Path) -> None:
    pages = [msgspec.structs.replace(sample, digest=f"{number:040}") for number, sample in enumerate(SAMPLES[:2])]
    parts = [samples.crawl(tmp_path / f"part{number}", [page]) for number, page in enumerate(pages)]
    job = divide(tmp_path / "news", 2, s0=parts[0], s1=parts[1])
    shutil.copy(parts[0] / "crawl.toml", job)
    assert [document.url for document in windrow.documents(job)] == [page.url for page in pages]
    with pytest.raises(windrow.Error, match="divided into shards"):
        windrow.crawl(job)


def test_the_status_that_a_program_gets_counts_all_shards(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 2, s0=crawled, s1=crawled)
    assert windrow.status(job).pages == 2 * windrow.status(crawled).pages > 0


def test_the_story_of_a_url_is_found_in_its_shard(crawled: Path, tmp_path: Path) -> None:
    url = (crawled / "seeds.txt").read_text().split()[0]
    parsed = urls.parse(url)
    assert parsed is not None
    places = {f"s{shards.shard_of(parsed.domain, 3)}": crawled}
    job = divide(tmp_path / "news", 3, **places)
    found = crashing.run(["why", str(job), url])
    assert found.out == crashing.run(["why", str(crawled), url]).out != ""
    assert f"the shard {job}/shards/00{next(iter(places))[1:]}" in found.err, "warc/ of the story is there"
    other = next(
        f"http://{name}.test/" for name in "abcdefgh" if f"s{shards.shard_of(f'{name}.test', 3)}" not in places
    )
    refused = crashing.run(["why", str(job), other])
    assert refused.code == 2 and f"windrow cluster why news {other}" in refused.err
    assert crashing.run(["why", str(job), "mailto:a"]).code == 2


def test_an_order_goes_to_every_shard_that_it_is_for(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 2, s0=crawled, s1=crawled)
    shutil.copy(crawled / "crawl.toml", job)
    paused = crashing.run(["pause", str(job)])
    assert paused.code == 0 and all(f"{job}/shards/{name}: paused" in paused.out for name in ("000", "001"))
    assert crashing.run(["pause", str(job), "--json"]).json.keys() == {"000", "001"}
    for number in range(2):
        assert len(list((job / "shards" / f"{number:03}" / "orders").glob("*.json"))) == 2
    url = (crawled / "seeds.txt").read_text().split()[0] + "new.html"
    parsed = urls.parse(url)
    assert parsed is not None
    added = crashing.run(["add", str(job), url, "--json"]).json
    assert added.keys() == {f"{shards.shard_of(parsed.domain, 2):03}"}
    counts = crashing.run(["retry", str(job), "--reason", "not-found", "--dry-run", "--json"]).json
    alone = crashing.run(["retry", str(crawled), "--reason", "not-found", "--dry-run", "--json"]).json
    assert counts == {reason: 2 * count for reason, count in alone.items()} != {}
    (job / "state.json").write_text("{}")
    refused = crashing.run(["stop", str(job)])
    assert refused.code == 2 and "windrow cluster" in refused.err


def test_a_purge_of_a_page_of_one_shard_names_its_copy_in_another(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 2, s0=crawled, s1=crawled)
    url = next(iter(truth.pages(crawled)))
    (job / "shards" / "000" / "takedown.txt").write_text(f"{url}\n")
    done = crashing.run(["purge", str(job), "--json"])
    assert done.code == 0 and (done.json["pages"], done.json["copies"].count(url)) == (1, 1), done.err
    assert {name.split("/")[1] for name in done.json["files"]} == {"000"}


def test_a_shard_that_is_given_twice_is_named(crawled: Path, tmp_path: Path) -> None:
    one, two = (divide(tmp_path / name, 1, s0=crawled) for name in ("one", "two"))
    done = crashing.run(["report", str(one), str(two), "--json"])
    assert done.code == 0 and "are given twice" in done.err and ": 0\n" in done.err


def test_the_job_of_nodes_is_not_crawled_by_hand(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 1, s0=crawled)
    shutil.copy(crawled / "crawl.toml", job)
    (job / "state.json").write_text("{}")
    done = crashing.run(["crawl", str(job)])
    assert done.code == 2 and "is of a job that nodes run" in done.err


def test_a_shard_is_not_crawled_alone(crawled: Path, tmp_path: Path) -> None:
    job = divide(tmp_path / "news", 2, s0=crawled, s1=crawled)
    shutil.copy(crawled / "crawl.toml", job)
    one = job / "shards" / "001"
    record = json.loads((job / "job.json").read_text())
    (one / "job.json").write_text(json.dumps({**record, "shard": 1}))
    before = sorted((path.name, path.stat().st_size) for path in one.rglob("*"))
    refused = crashing.run(["crawl", str(one)])
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert f"{one} is shard 1 of news, and shards run together; run: windrow crawl {job}\n" in refused.err
    with pytest.raises(windrow.Error, match="is shard 1 of news, and shards run together"):
        windrow.crawl(one)
    assert sorted((path.name, path.stat().st_size) for path in one.rglob("*")) == before
    moved = shutil.copytree(one, tmp_path / "moved")
    assert f"windrow shard {moved} --redis URL" in crashing.run(["crawl", str(moved)]).err
    (job / "state.json").write_text("{}")
    assert "windrow node" in crashing.run(["crawl", str(one)]).err


@pytest.mark.parametrize("number", ["0", "-1", "257"])
def test_a_number_of_shards_that_makes_no_sense_is_refused(number: str, crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("redis")
    new = tmp_path / "new"
    new.mkdir()
    for name in ("crawl.toml", "seeds.txt"):
        shutil.copy(crawled / name, new)
    refused = crashing.run(["crawl", str(new), "--shards", number])
    assert refused.code == 2 and f"--shards {number} cannot be used" in refused.err and refused.err.count("\n") == 1
    assert sorted(path.name for path in new.iterdir()) == ["crawl.toml", "seeds.txt"]


def test_a_crawl_is_not_divided_before_its_redis_answers(crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("redis")
    new = tmp_path / "new"
    new.mkdir()
    for name in ("crawl.toml", "seeds.txt"):
        shutil.copy(crawled / name, new)
    refused = crashing.run(["crawl", str(new), "--shards", "3", "--redis", "redis://127.0.0.1:1"])
    assert refused.code == 2 and "no Redis answers at 127.0.0.1:1" in refused.err and refused.err.count("\n") == 1
    assert sorted(path.name for path in new.iterdir()) == ["crawl.toml", "seeds.txt"]


def test_a_crawl_with_shards_that_runs_is_not_started_again(crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("redis")
    job = divide(tmp_path / "news", 2, s0=crawled, s1=crawled)
    shutil.copy(crawled / "crawl.toml", job)
    with recover.lock(job / "shards" / "001"):
        refused = crashing.run(["crawl", str(job)])
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert f"{job} is being crawled already; stop it first with: windrow stop {job}\n" in refused.err


def test_a_crawl_that_would_be_refused_is_not_divided(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").touch()
    (tmp_path / "seeds.txt").write_text("http://away.example/\n")
    done = crashing.run(["crawl", str(tmp_path), "--shards", "2"])
    assert done.code == 2 and done.err.startswith("windrow: no contact is set") and done.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl.toml", "seeds.txt"]
