"""The commands as users see them: what they print, what they write, and one sentence for each error."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import windrow
from tests import crashing, truth
from windrow import cli, config, kernels
from windrow.demo import web
from windrow.judge.language import trigrams

LOOPBACK = '[fetch]\nallow_private = true\nhosts_file = "hosts"\n'


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A crawl directory that can be run; its only host does not answer."""
    place = tmp_path / "crawl"
    place.mkdir()
    (place / "seeds.txt").write_text("http://a.test/\n")
    (place / "hosts").write_text("a.test\t127.0.0.1:9\n")
    (place / "crawl.toml").write_text(LOOPBACK)
    return place


def contents(directory: Path) -> dict[str, bytes]:
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "lock")
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def assert_sentence(result: crashing.Result, *words: str) -> None:
    """Assert exit code 2 and one line with these words, nothing else."""
    assert (result.code, result.out) == (2, ""), result
    assert result.err.startswith("windrow: ") and result.err.count("\n") == 1 and result.err.endswith("\n")
    assert all(word in result.err for word in words), result.err


def write(name: str, text: str) -> Callable[[Path], object]:
    return lambda directory: (directory / name).write_text(text)


def remove(name: str) -> Callable[[Path], object]:
    return lambda directory: (directory / name).unlink()


WRONG: dict[str, tuple[Callable[[Path], object], list[str], list[str]]] = {
    "no crawl.toml": (remove("crawl.toml"), [], ["has no crawl.toml", "windrow init"]),
    "no directory": (shutil.rmtree, [], ["has no crawl.toml"]),
    "not TOML": (write("crawl.toml", "[fetch\n"), [], ["crawl.toml, line 1", "is not TOML"]),
    "unknown option": (
        write("crawl.toml", "[fetch]\ndely = 3\n"),
        [],
        ["unknown option 'fetch.dely'", "did you mean 'fetch.delay'?"],
    ),
    "unknown section": (
        write("crawl.toml", "[fech]\ndelay = 3\n"),
        [],
        ["unknown section [fech]", "did you mean [fetch]?"],
    ),
    "a wrong value": (write("crawl.toml", '[fetch]\ndelay = "5"\n'), [], ["option 'fetch.delay'", "must be a number"]),
    "a misspelt --set": (
        lambda _: None,
        ["--set", "fetch.dely=3"],
        ["unknown option 'fetch.dely' in --set", "did you mean 'fetch.delay'?"],
    ),
    "a --set without a value": (lambda _: None, ["--set", "fetch.delay"], ["has no value", "section.option=value"]),
    "a bad seed line": (
        write("seeds.txt", "http://a.test/\nftp://b.test/\n"),
        [],
        ["seeds.txt, line 2", "'ftp://b.test/'", "put # before"],
    ),
    "no seeds": (write("seeds.txt", "# none yet\n"), [], ["holds no URL", "write at least one"]),
    "no seed list": (remove("seeds.txt"), [], ["there is no seed list", "seeds.txt"]),
    "seeds out of scope": (lambda _: None, ["--set", 'scope.tlds=["cz"]'], ["every seed", "is refused by [scope]"]),
    "no hosts file": (remove("hosts"), [], ["fetch.hosts_file: cannot read"]),
    "a bad hosts file": (write("hosts", "a.test nowhere\n"), [], ["hosts, line 1", "host<TAB>address"]),
    "no contact": (
        write("seeds.txt", "https://example.org/\n"),
        ["--set", "fetch.hosts_file="],
        ["no contact is set", "[identity]"],
    ),
    "no contact for an address": (
        write("seeds.txt", "http://192.0.2.1/\n"),
        [],
        ["no contact is set", "http://192.0.2.1/"],
    ),
    "no contact for a listed host": (
        write("hosts", "a.test\t192.0.2.1\n"),
        [],
        ["no contact is set", "http://a.test/"],
    ),
    "a full disk": (
        lambda _: None,
        ["--set", "crawl.min_free_bytes=9000000000000000000"],
        ["MiB free", "free some space"],
    ),
    "a newer directory": (write("version", "7\n"), [], ["says '7'", "use a newer Windrow"]),
    "a wrong contact": (
        lambda _: None,
        ["--set", "identity.contact=nobody"],
        ["identity.contact", "a URL or an e-mail address"],
    ),
    "a language that no tool knows": (
        write("crawl.toml", f'{LOOPBACK}[language]\naccepted = ["hsb"]\n'),
        [],
        [
            "language.accepted: no tool can detect Upper Sorbian ('hsb')",
            "windrow language train hsb",
            "language.models",
        ],
    ),
    "an unknown language": (lambda _: None, ["--set", 'language.recognised=["cz"]'], ["language.recognised: ", "ces"]),
    "no model": (
        write("crawl.toml", f'{LOOPBACK}[language]\nmodels = ["hsb.json"]\n'),
        [],
        ["language.models: there is no model", "crawl/hsb.json", "windrow language train"],
    ),
    "a model that is a directory": (
        lambda _: None,
        ["--set", 'language.models=["."]'],
        ["language.models: cannot read the model", "Is a directory", "windrow language train"],
    ),
    "a damaged model": (
        lambda directory: (
            write("hsb.json", '{"format": "windrow')(directory),
            write("crawl.toml", f'{LOOPBACK}[language]\nmodels = ["hsb.json"]\n')(directory),
        ),
        [],
        ["language.models: ", "hsb.json is not a language model", "windrow language train"],
    ),
    "a judge that does not exist": (
        lambda _: None,
        ["--set", 'judge.judges=["nowhere:judge"]'],
        ["no worker could be started: option 'judge.judges'", "there is no module 'nowhere'", "install its package"],
    ),
    "a lock that is a directory": (lambda directory: (directory / "lock").mkdir(), [], ["lock", "Is a directory"]),
    "a log that is a file": (write("log", ""), [], ["log"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_reported_in_one_sentence_and_nothing_is_harmed(what: str, directory: Path) -> None:
    spoil, options, words = WRONG[what]
    spoil(directory)
    before = contents(directory)
    assert_sentence(crashing.run(["crawl", str(directory), *options]), *words)
    after = contents(directory)
    assert {name: after.get(name) for name in before} == before
    assert not any(name.startswith(truth.SUBSETS) for name in after)


def test_a_full_disk_at_the_start_is_reported_in_one_sentence(directory: Path) -> None:
    for first in (1, 2, 3):
        assert_sentence(
            crashing.run(["crawl", str(directory)], crashing.Plan(fail="ENOSPC", first=first)),
            "No space left on device",
        )


def test_a_directory_without_write_permission_is_named(directory: Path) -> None:
    denied = crashing.Plan(fail="EACCES", verbs=("create",))  # the super-user is never denied
    if os.getuid():
        directory.chmod(0o500)
    result = crashing.run(["crawl", str(directory)], None if os.getuid() else denied)
    directory.chmod(0o700)
    assert_sentence(result, str(directory / "lock"), "Permission denied")


@pytest.mark.parametrize(
    "arguments", [["crawl", "x", "--nonsense"], ["crawl"], ["harvest"], ["crawl", "x", "--max-pages", "many"]]
)
def test_an_unknown_command_or_argument_ends_with_code_2(arguments: list[str]) -> None:
    result = crashing.run(arguments)
    assert result.code == 2
    assert "Traceback" not in result.err and result.err


def test_init_makes_a_directory_that_can_be_crawled(tmp_path: Path) -> None:
    place = tmp_path / "new" / "crawl"
    (tmp_path / "list.txt").write_text("# two seeds\nexample.org\nhttps://example.net/page#part\n")
    arguments = [
        "init",
        str(place),
        "--seeds",
        str(tmp_path / "list.txt"),
        "--contact",
        "https://example.org/bot",
        "--tld",
        "cz",
        "--tld",
        "sk",
    ]
    result = crashing.run([*arguments, "--set", "fetch.delay=7"])
    assert result.code == 0, result.err
    assert (place / "seeds.txt").read_text() == "http://example.org/\nhttps://example.net/page\n"
    options = config.load(place / "crawl.toml")
    assert (options.identity.contact, options.scope.tlds, options.fetch.delay) == (
        "https://example.org/bot",
        ("cz", "sk"),
        7.0,
    )
    assert f"windrow crawl {place}" in result.out


def test_init_does_not_change_an_existing_crawl(directory: Path) -> None:
    before = contents(directory)
    assert_sentence(
        crashing.run(["init", str(directory), "--seeds", str(directory / "seeds.txt")]), "already has a crawl.toml"
    )
    assert contents(directory) == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seeds", "nowhere.txt"], ["there is no seed list nowhere.txt"]),
        (["--seeds", "SEEDS", "--set", "fetch.dely=1"], ["unknown option 'fetch.dely'"]),
        (["--seeds", "SEEDS", "--language", "hsb"], ["language.accepted: no tool can detect Upper Sorbian ('hsb')"]),
        (["--seeds", "SEEDS", "--set", 'language.models=["hsb.json"]'], ["language.models: there is no model"]),
        (["--seeds", "SEEDS", "--contact", "nobody"], ["identity.contact", "must be a URL or an e-mail address"]),
    ],
)
def test_init_reports_bad_input_and_makes_nothing(options: list[str], words: list[str], tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.test/\n")
    place = tmp_path / "crawl"
    result = crashing.run(
        ["init", str(place), *(str(tmp_path / "seeds") if option == "SEEDS" else option for option in options)]
    )
    assert_sentence(result, *words)
    assert not place.exists()


def test_init_takes_a_language_that_a_tool_or_a_model_knows(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.test/\n")
    model = trigrams.train("hsb", "W Budyšinje su wčera nowu knihu předstajili, kotraž serbske bajki wopřijima. " * 60)
    trigrams.write(model, tmp_path / "hsb.json")
    chosen = ["--language", "hsb", "--language", "nor", "--language", "an", "--language", "hbs"]  # an: py3langid alone
    arguments = ["init", str(tmp_path / "crawl"), "--seeds", str(tmp_path / "seeds"), *chosen]
    result = crashing.run([*arguments, "--set", f'language.models=["{tmp_path / "hsb.json"}"]'])
    assert result.code == 0, result.err
    assert config.load(tmp_path / "crawl" / "crawl.toml").language.accepted == ("hsb", "nor", "arg", "hbs")


def test_the_version_names_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "missing", lambda: [])
    shown = CliRunner().invoke(cli.app, ["--version"]).output
    named = "walk, structure, anchors, blocks, tags, records, ngrams, shape, features, query"
    assert shown == f"windrow {windrow.__version__} (kernels: {named})\n"
    monkeypatch.setattr(kernels, "missing", lambda: ["walk", "ngrams"])
    shown = CliRunner().invoke(cli.app, ["--version"]).output
    left = "structure, anchors, blocks, tags, records, shape, features, query"
    assert shown.endswith(f"(kernels: {left}; kernels that are not built: walk, ngrams)\n")
    monkeypatch.setattr(kernels, "missing", lambda: [*kernels.KERNELS])
    shown = CliRunner().invoke(cli.app, ["--version"]).output
    assert shown.endswith(f" (kernels that are not built: {named})\n")


def test_a_crawl_without_kernels_says_so_in_its_first_line(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "missing", lambda: ["walk", "shape"])
    arguments = ["crawl", str(directory), "--max-seconds", "0.1", "--set", "fetch.backoff=0.01"]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.stderr.startswith("C kernels that are not built: walk, shape; pages take more CPU time; install ")


def test_the_demo_crawls_its_own_web_and_shows_where_the_results_are(tmp_path: Path) -> None:
    place = tmp_path / "demo"
    result = crashing.run(["demo", "--dir", str(place)])
    assert result.code == 0, result.err
    with web.serve() as site:
        pages = truth.pages(place)
        assert pages.keys() >= site.pages and max(pages.values()) == 1
        assert not pages.keys() & site.disallowed
    assert "nothing is left to crawl" in result.out
    assert all(str(place / name) in result.out for name in (*truth.SUBSETS, "log"))


def test_the_demo_does_not_overwrite_other_files(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    assert_sentence(crashing.run(["demo", "--dir", str(tmp_path)]), "is not empty and not an earlier demo", "--dir DIR")
    assert (tmp_path / "precious").read_text() == "text"


def hurry(directory: Path, *options: str) -> None:
    """Make a crawl of this directory take less than a second."""
    fast = ["fetch.backoff=0.01", "fetch.delay=0", "fetch.ip_delay=0", "crawl.progress_seconds=0", *options]
    made = config.load(directory / "crawl.toml", fast)
    (directory / "crawl.toml").write_text(config.dump(made, changed=True))


def test_a_short_crawl_without_a_terminal_shows_no_progress(directory: Path) -> None:
    hurry(directory)
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0
    assert result.err == "" or kernels.missing()
    assert "\x1b" not in result.out


def test_a_crawl_without_a_terminal_prints_lines_of_progress(directory: Path) -> None:
    hurry(directory, "crawl.progress_seconds=0.01")
    result = crashing.run(["crawl", str(directory)])
    assert result.code == 0
    assert re.search(r"^[\d-]{10} [\d:]{8}  0\.\d s: \d+ requests? \(.* waiting", result.err, re.MULTILINE)
    kept = (directory / "crawl.log").read_text()
    assert "windrow " in kept and " waiting, " in kept and "ended (done) after" in kept


def test_a_verbose_crawl_prints_every_outcome_and_a_quiet_one_nothing(directory: Path) -> None:
    hurry(directory)
    quiet = crashing.run(["crawl", str(directory), "--max-seconds", "0.2", "--quiet"])
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    verbose = crashing.run(["crawl", str(directory), "-v"])
    assert re.search(r"connect +- +0 bytes .*http://a\.test/robots\.txt", verbose.err)
    assert_sentence(crashing.run(["crawl", str(directory), "-v", "-q"]), "exclude each other")


def test_refused_seeds_are_named_with_their_rule(directory: Path) -> None:
    others = "".join(f"http://a.test/{number}.jpg\n" for number in range(5))
    (directory / "seeds.txt").write_text(f"http://a.test/\nhttp://a.test:9/\n{others}")
    hurry(directory)
    result = crashing.run(["crawl", str(directory)])
    assert result.err.startswith("6 of 7 seeds are refused by [scope]: http://a.test:9/: its port is not among ")
    assert "and 3 more: windrow list DIR --refused-seeds" in result.err and result.err.count("\n") == 1


def test_an_error_that_ends_a_crawl_is_in_its_log(directory: Path) -> None:
    result = crashing.run(["crawl", str(directory), "--set", 'scope.tlds=["cz"]'])
    assert result.code == 2
    assert "ended by an error: every seed" in (directory / "crawl.log").read_text()


def test_set_holds_for_one_run_and_says_so(directory: Path) -> None:
    hurry(directory)
    before = (directory / "crawl.toml").read_text()
    result = crashing.run(["crawl", str(directory), "--set", "fetch.connections=3"])
    kept = f"--set fetch.connections=3 held for this run only; to keep it, write it into {directory / 'crawl.toml'}"
    assert result.out.splitlines()[-1] == kept
    assert "  --set fetch.connections=3\n" in (directory / "crawl.log").read_text()
    assert (directory / "crawl.toml").read_text() == before


def test_init_takes_several_languages_with_commas_and_explains_the_options(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.cz/\nhttp://b.de/\n")
    given = ["--language", "cs, de", "--language", "Slovak", "--tld", "cz,sk"]
    result = crashing.run(["init", str(tmp_path / "crawl"), "--seeds", str(tmp_path / "seeds"), *given])
    assert result.code == 0, result.err
    options = config.load(tmp_path / "crawl" / "crawl.toml")
    assert options.language.accepted == ("ces", "deu", "slk") and options.scope.tlds == ("cz", "sk")
    assert "1 of 2 seeds is refused by [scope]: http://b.de/: its top-level domain is not among" in result.out
    assert "# Seconds between the end of a request" in (tmp_path / "crawl" / "crawl.toml").read_text()
