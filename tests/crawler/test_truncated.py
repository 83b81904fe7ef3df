"""A page that was cut is visible: in the log, in `status` and `why`, in the corpus and in exports."""

import gzip
import json
from pathlib import Path

from tests import crashing, truth, web
from tests.world import TEXTS
from windrow import config


def test_a_page_that_was_cut_is_marked_from_the_log_to_the_exports(tmp_path: Path) -> None:
    options = ["fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.hosts_file=hosts"]
    options += ["fetch.max_bytes=4000", "quality.min_characters=0", "extract.extractor=paragraphs"]
    with web.serve() as site:
        short, long = ("".join(f"<p>{text}</p>" for text in TEXTS["en"][part]) for part in (slice(3), slice(3, None)))
        assert len(long) > 4000
        site.page("a.test", "/", f'<html><body>{short}<a href="/long">x</a></body></html>'.encode())
        site.page("a.test", "/long", f"<html><body>{long}</body></html>".encode())
        site.hosts_file(tmp_path / "hosts")
        (tmp_path / "seeds.txt").write_text("http://a.test/\n")
        (tmp_path / "crawl.toml").write_text(config.dump(config.make(options, tmp_path), changed=True))
        result = crashing.run(["crawl", str(tmp_path)])
        assert result.code == 0, result.err
    lines = {line["url"]: line for frame in truth.frames(tmp_path) for line in frame[1:]}
    assert lines["http://a.test/long"]["truncated"] == "length" and "truncated" not in lines["http://a.test/"]
    status = crashing.run(["status", str(tmp_path), "--json"]).json
    assert status["truncated"] == {"length": 1}
    assert "Truncated captures" in crashing.run(["status", str(tmp_path)]).out
    story = crashing.run(["why", str(tmp_path), "http://a.test/long", "--json"]).json
    assert any(event["what"].endswith("; not complete, cut by length") for event in story["events"])
    documents = {document["url"]: document for document in truth.documents(tmp_path)}
    assert documents["http://a.test/long"]["truncated"] == "length"
    assert "truncated" not in documents["http://a.test/"]
    truth.assert_corpus(tmp_path)
    for format, name in (("jsonl", "out.jsonl.gz"), ("prevertical", "out.prevert.gz")):
        made = crashing.run(["export", str(tmp_path), "--format", format, "-o", str(tmp_path / name)])
        assert made.code == 0, made.err
    exported = [json.loads(line) for line in gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()]
    found = {one["metadata"]["url"]: one["metadata"]["truncated"] for one in exported}
    assert found == {"http://a.test/": "", "http://a.test/long": "length"}
    marked = gzip.decompress((tmp_path / "out.prevert.gz").read_bytes()).count(b' truncated="length">')
    assert marked == 1
