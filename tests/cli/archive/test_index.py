"""`windrow index`, `query`, `records` and `seeds` as commands: output, exit codes, and errors in one sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.jobs import warcs
from tests.jobs.index import crawls
from windrow import cli
from windrow.config import ConfigError

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "src")}


def run(*words: object, given: str | None = None) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error; an error that the user can fix is raised."""
    result = CliRunner().invoke(cli.app, [str(word) for word in words], input=given, catch_exceptions=True)
    if isinstance(result.exception, ConfigError):
        raise result.exception
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    directory = crawls.write(tmp_path / "crawl")
    assert run("index", directory, "--workers", 1)[0] == 0
    return directory


def test_an_index_is_made_once_and_counts_are_printed(crawl: Path) -> None:
    code, out, _ = run("index", crawl, "--json")
    assert code == 0
    assert {name: json.loads(out)[name] for name in ("files", "read", "captures")} == {
        "files": 3,
        "read": 0,
        "captures": 6,
    }


def test_damage_is_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.warc.gz").write_bytes(b"\x1f\x8b")
    code, out, err = run("index", tmp_path, "--workers", 1)
    assert code == 2
    assert "bad.warc.gz, bytes 0 to 2: " in err
    assert "0 captures" in out


def test_a_query_is_printed_or_written(crawl: Path, tmp_path: Path) -> None:
    text = "SELECT url_host_name, fetch_status FROM ccindex WHERE subset = 'crawldiagnostics'"
    assert run("query", crawl, text, "--format", "csv")[1] == "url_host_name,fetch_status\nexample.org,404\n"
    (tmp_path / "q.sql").write_text(text)
    run("query", crawl, "--file", tmp_path / "q.sql", "-f", "json", "-o", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == [{"url_host_name": "example.org", "fetch_status": 404}]
    run("query", crawl, text, "-f", "parquet", "-o", tmp_path / "out.parquet")
    assert run("query", tmp_path / "out.parquet", "SELECT count(*) AS n FROM ccindex", "-f", "csv")[1] == "n\n1\n"


def test_an_error_in_a_file_names_the_file(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT *\nFORM ccindex\n")
    with pytest.raises(ConfigError, match=r"q\.sql, line 2, column 6: "):
        run("query", crawl, "--file", tmp_path / "q.sql")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["query", "DIR"], "either as an argument or with --file"),
        (["query", "DIR", "SELECT 1", "--format", "xml"], "no format 'xml'"),
        (["query", "DIR", "SELECT 1", "--format", "parquet"], "name it with -o"),
        (["records", "DIR", "--url", "http://a.example/"], "what to do with the records"),
        (["records", "DIR", "--extract"], "which records"),
        (["records", "--url", "http://a.example/", "--extract"], "need an index"),
        (["records", "--csv", "DIR/rows.csv", "--extract"], "--base"),
        (["records", "DIR", "--sql", "SELECT url FROM ccindex", "--extract"], "no column warc_filename"),
        (["records", "DIR", "--url", "http://example.org/", "--function", "nothing"], "not a reference"),
        (["seeds"], "where the seeds come from"),
        (["seeds", "--from-index", "DIR"], "belong together"),
    ],
)
def test_what_is_missing_is_one_sentence(crawl: Path, words: list[str], problem: str) -> None:
    (crawl / "rows.csv").write_text("url,warc_filename,warc_record_offset,warc_record_length\n")
    with pytest.raises(ConfigError, match=problem):
        run(*(word.replace("DIR", str(crawl)) for word in words))


def test_records_of_a_query_are_written_to_a_file(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.warc.gz"
    words = ["records", crawl, "--sql", "SELECT * FROM ccindex WHERE subset = 'warc'", "-o", out]
    code, shown, _ = run(*words, "--json")
    assert (code, json.loads(shown)["records"]) == (0, 4)
    with pytest.raises(ConfigError, match="already exists"):
        run(*words)
    assert run(*words, "--force")[0] == 0
    assert run("index", out, "-o", tmp_path / "again", "--workers", 1)[0] == 0
    assert len((tmp_path / "again" / "index.cdxj").read_text().splitlines()) == 4


def test_rows_of_a_query_are_piped_into_records(crawl: Path, tmp_path: Path) -> None:
    rows = run("query", crawl, "SELECT * FROM ccindex", "-f", "csv")[1] + "http://a.example/,x\n"
    code, _, err = run("records", "--csv", "-", "--base", crawl, "-o", tmp_path / "x.warc.gz", given=rows)
    assert code == 2
    assert "stdin, line 8: " in err


def test_the_text_of_a_page_is_printed(crawl: Path) -> None:
    code, out, _ = run("records", crawl, "--url", "http://www.example.org/", "--extract")
    page = json.loads(out)
    assert (code, page["url"], page["title"]) == (0, "http://www.example.org/", "Home")
    assert page["text"].startswith("The wind blows over the field.")


def test_a_function_of_the_user_reads_each_capture(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def sizes(capture):\n    yield {'url': capture.task.url.text, 'size': len(capture.body)}\n"
    (tmp_path / "users_own_function.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    _, out, _ = run("records", crawl, "--url", "http://listed.example/a", "--function", "users_own_function:sizes")
    assert json.loads(out) == {"url": "http://listed.example/a", "size": len(crawls.SITE[3].body)}


def test_seeds_are_printed_or_written(tmp_path: Path) -> None:
    path = warcs.write(tmp_path / "a.warc.gz", [warcs.record(f"http://a.example/{n}", b"x") for n in range(3)])
    code, out, err = run("seeds", path, "--per-host", 2)
    assert (code, out) == (0, "http://a.example/0\nhttp://a.example/1\n")
    assert "2 URLs" in err
    (tmp_path / "hosts.txt").write_text("b.example\nnothing\n")
    code, _, err = run("seeds", path, tmp_path / "hosts.txt", "-o", tmp_path / "seeds.txt")
    assert code == 2 and "hosts.txt, line 2" in err
    assert len((tmp_path / "seeds.txt").read_text().splitlines()) == 4


def test_an_index_without_the_language_gives_no_seeds(crawl: Path) -> None:
    code, out, _ = run("seeds", "--from-index", crawl, "--language", "mal")
    assert (code, out) == (2, "")


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("pyarrow", ["index", "DIR"], "query"),
        ("duckdb", ["query", "DIR", "SELECT 1"], "query"),
        ("fsspec", ["query", "s3://bucket/table", "SELECT 1"], "s3"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_extra(
    crawl: Path, library: str, words: list[str], extra: str
) -> None:
    script = f"import sys; sys.modules[{library!r}] = None\nfrom windrow.cli import main\nmain()"
    given = [word.replace("DIR", str(crawl)) for word in words]
    done = subprocess.run([sys.executable, "-c", script, *given], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 2
    assert f"pip install 'windrow-corpus[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1
