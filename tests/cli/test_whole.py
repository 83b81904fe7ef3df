"""Commands on a crawl with shards as a whole: its lists, archive, index, corpus and takedown list."""

import gzip
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from tests import crashing, truth
from tests.redisserver import needs_redis
from tests.world import World
from windrow import sharding, takedown, urls

pytestmark = needs_redis


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with World(seed=67, pages=24, hosts=6, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path_factory.mktemp("whole") / "crawl", world, *truth.TEXT)
        assert crashing.run(["crawl", str(directory), "--shards", "2"]).code == 0
    assert all(truth.pages(place) for place in sharding.places(directory)), "both shards have pages"
    return directory


@pytest.fixture
def crawl(crawled: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


def pages(directory: Path) -> Counter[str]:
    """Return the URLs of all archived pages, of all shards."""
    found = [record for place in sharding.places(directory) for record in truth.archive(place)]
    return Counter(record.url for record in found if record.type == "response")


def test_a_list_has_the_urls_of_all_shards(crawled: Path) -> None:
    rows = crashing.run(["list", str(crawled), "--json", "--reason", "ok"]).out.splitlines()
    alone = [crashing.run(["list", str(place), "--json", "--reason", "ok"]).out for place in sharding.places(crawled)]
    assert rows == "".join(alone).splitlines() and all(alone)
    assert len(crashing.run(["list", str(crawled), "--limit", "2", "--urls"]).out.split()) == 2
    assert crashing.run(["list", str(crawled), "--waiting"]).out == ""
    assert crashing.run(["list", str(crawled), "--refused-seeds"]).code == 0


def test_an_index_names_the_files_of_all_shards_and_can_be_queried(crawl: Path) -> None:
    pytest.importorskip("duckdb")
    done = crashing.run(["index", str(crawl), "--json"])
    assert done.code == 0, done.err
    found = crashing.run(
        ["query", str(crawl), "SELECT url, warc_filename FROM ccindex WHERE subset = 'warc'", "--format", "json"]
    )
    rows = json.loads(found.out)
    assert Counter(row["url"] for row in rows) == pages(crawl)
    assert {row["warc_filename"].split("/")[1] for row in rows} == {"000", "001"}
    assert all((crawl / row["warc_filename"]).is_file() for row in rows)


def test_one_published_file_has_the_archive_of_all_shards(crawled: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.wacz"
    done = crashing.run(["publish", str(crawled), "--wacz", "-o", str(target), "--json"])
    assert done.code == 0, done.err
    with zipfile.ZipFile(target) as packed:
        names = [name for name in packed.namelist() if name.startswith("archive/")]
        lines = gzip.decompress(packed.read("indexes/index.cdx.gz")).splitlines()
    files = [path for place in sharding.places(crawled) for path in place.glob("*/*.warc.gz")]
    assert sorted(names) == sorted(f"archive/{path.name}" for path in files if path.stat().st_size)
    listed = Counter(json.loads(line.split(b" ", 2)[2])["url"] for line in lines)
    assert listed.keys() >= pages(crawled).keys() > set()


def test_the_folders_of_common_crawl_have_the_files_of_all_shards(crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = crashing.run(["publish", str(crawled), str(tmp_path / "bucket"), "--json"])
    assert done.code == 0, done.err
    there = sorted(path.name for path in (tmp_path / "bucket/crawl-data").rglob("*.warc.gz"))
    assert there == sorted(path.name for place in sharding.places(crawled) for path in place.glob("*/*.warc.gz"))


def test_derived_files_are_made_of_all_shards(crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = crashing.run(["derive", str(crawled), "--wet", "-o", str(tmp_path / "derived"), "--json"])
    assert done.code == 0 and done.json["wet"] > 0, done.err
    assert done.json["files"] == sum(len(list(place.glob("warc/*.warc.gz"))) for place in sharding.places(crawled))


def test_duplicates_are_removed_over_all_shards(crawled: Path, tmp_path: Path) -> None:
    done = crashing.run(["dedup", str(crawled), "-o", str(tmp_path / "out.jsonl"), "--json"])
    assert done.code == 0, done.err
    assert done.json["documents_in"] == sum(len(truth.documents(place)) for place in sharding.places(crawled))


def test_the_state_of_every_shard_is_rebuilt(crawl: Path) -> None:
    before = crashing.run(["status", str(crawl), "--json"]).json
    for place in sharding.places(crawl):
        shutil.rmtree(place / "state")
    done = crashing.run(["rebuild", str(crawl), "--json"])
    assert done.code == 0 and done.json.keys() == {"000", "001"}, done.err
    assert not (crawl / "state").exists()
    assert crashing.run(["status", str(crawl), "--json"]).json["finished"] == before["finished"]


@pytest.mark.parametrize("option", ["--corpus", "--output"])
def test_the_corpus_of_every_shard_is_made_again(crawled: Path, tmp_path: Path, option: str) -> None:
    done = crashing.run(["rebuild", str(crawled), option, str(tmp_path / "again"), "--json"])
    assert done.code == 0, done.err
    counts = {name: part["documents"] for name, part in done.json.items()}
    assert counts == {place.name: len(truth.documents(place)) for place in sharding.places(crawled)}
    assert all((tmp_path / "again" / name / "corpus").is_dir() for name in counts)


def test_the_takedown_list_of_a_crawl_holds_for_its_shards(crawl: Path, tmp_path: Path) -> None:
    victims = [truth.documents(place)[0]["url"] for place in sharding.places(crawl)]
    (crawl / takedown.FILE).write_text("".join(f"{url}\n" for url in victims))
    for url in victims:
        assert crashing.run(["why", str(crawl), url, "--json"]).json["takedown"].startswith("takedown.txt, line ")
    exported = crashing.run(["export", str(crawl), "--format", "jsonl", "-o", str(tmp_path / "out.jsonl")])
    assert exported.code == 0, exported.err
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert len(lines) == sum(len(truth.documents(place)) for place in sharding.places(crawl)) - 2
    assert not [line for line in lines if any(f'"{url}"' in line for url in victims)]
    assert crashing.run(["status", str(crawl), "--json"]).json["listed"] == 2


def test_a_purge_removes_listed_pages_from_every_shard(crawl: Path) -> None:
    victims = [truth.documents(place)[0]["url"] for place in sharding.places(crawl)]
    (crawl / takedown.FILE).write_text("".join(f"{url}\n" for url in victims))
    planned = crashing.run(["purge", str(crawl), "--dry-run", "--json"])
    assert planned.code == 0 and planned.json["pages"] == planned.json["documents"] == 2, planned.err
    assert pages(crawl).keys() >= set(victims)
    done = crashing.run(["purge", str(crawl), "--json"])
    assert done.code == 0 and done.json == {**planned.json, "dry_run": False}
    assert {name.split("/")[1] for name in done.json["files"]} == {"000", "001"}
    assert not pages(crawl).keys() & set(victims)
    assert crashing.run(["status", str(crawl), "--json"]).json["purged"] == 2


def test_shards_request_nothing_of_the_list_of_the_crawl(tmp_path: Path) -> None:
    with World(seed=68, pages=12, hosts=4, domains=True, kinds=()) as world:
        directory = truth.prepare(tmp_path / "crawl", world, *truth.TEXT)
        seeds = (directory / "seeds.txt").read_text().split()
        host = min({urls.host_of(url) for url in world.expected.must_have} - set(map(urls.host_of, seeds)))
        (directory / takedown.FILE).write_text(f"{host}\n")
        assert crashing.run(["crawl", str(directory), "--shards", "2"]).code == 0
        asked = {request.host for request in world.requests()}
    assert len(asked) > 1 and host not in asked
