"""The limit of the body that a crawl passes to the client, by kind of file."""

from pathlib import Path

from tests import crashing, truth, web
from windrow import config


def test_a_robots_txt_is_read_up_to_its_own_limit_even_if_pages_have_a_smaller_one(tmp_path: Path) -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    rules = b"User-agent: *\n" + filler * 5200 + b"Disallow: /beyond\n"  # 520 kB
    rules = rules[:100_000].rpartition(b"\n")[0] + b"\nDisallow: /inside\n" + rules[100_000:].partition(b"\n")[2]
    with web.serve() as site:
        site.page("a.test", "/robots.txt", rules)
        for path in ("/inside", "/beyond"):
            site.page("a.test", path, b"<p>text")
        site.hosts_file(tmp_path / "hosts")
        (tmp_path / "seeds.txt").write_text("http://a.test/inside\nhttp://a.test/beyond\n")
        options = ["fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.hosts_file=hosts"]
        options += ["fetch.max_bytes=5000", "fetch.robots_max_bytes=512000", "extract.extractor=none"]
        made = config.make([*options, "scope.homepages=false"], tmp_path)
        (tmp_path / "crawl.toml").write_text(config.dump(made, changed=True))
        result = crashing.run(["crawl", str(tmp_path)])
        assert result.code == 0, result.err
        assert len(site.requests("a.test", "/inside")) == 0
        assert len(site.requests("a.test", "/beyond")) == 1
    (kept,) = [line for frame in truth.frames(tmp_path) for line in frame[1:] if line["url"].endswith("/robots.txt")]
    assert 512_000 <= kept["downloaded"] < 600_000
