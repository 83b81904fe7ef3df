"""A host with status 200 for missing pages: one probe, and pages like its response are left out."""

import json
from pathlib import Path

import pytest

from tests import crashing, truth, web
from windrow import config

PROSE = [
    (
        "Am Rand des Dorfes steht ein altes Haus mit der Nummer {0}, in dem seit vielen Jahren niemand mehr "
        "wohnt, und im Garten wächst {1}."
    ),
    (
        "Die Kinder erzählen sich von {1}, dass dort nachts ein Licht brennt, und keines von ihnen geht nach "
        "{0} Uhr allein daran vorbei."
    ),
]
MISSING = (
    "<title>Nicht gefunden</title><h1>Diese Seite gibt es leider nicht</h1><p>Wir haben die Seite, die "
    "Sie suchen, nicht gefunden. "
    "Vielleicht wurde sie verschoben oder gelöscht, oder der Link, dem Sie gefolgt sind, ist veraltet. "
    "Bitte versuchen Sie es über die Startseite.</p>"
)
WORDS = (
    "Efeu Mohn Klee Farn Moos Gras Schilf Hafer Mais Dill Senf Salbei Minze Lauch Kohl Hopfen Flachs "
    "Raps Weizen Gerste "
).split()


def page(number: int) -> str:
    links = "".join(f'<a href="/{other}">{other}</a>' for other in (*range(20), "weg", "fort"))
    texts = "".join(
        f"<p>{text.format(number, WORDS[number])} {WORDS[number - 1]} steht daneben, wie schon {number + 1900}.</p>"
        for text in PROSE
    )
    return f"<title>Haus {number}</title>{texts}{links}"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    directory = tmp_path_factory.mktemp("probe")
    with web.serve() as site:
        site.robots("a.test", "User-agent: *\nDisallow: /secret\n")
        for number in range(20):
            site.page("a.test", f"/{number}", page(number).encode())
        site.otherwise("a.test", MISSING.encode())
        site.hosts_file(directory / "hosts")
        (directory / "seeds.txt").write_text("http://a.test/0\n")
        options = [
            "fetch.delay=0",
            "fetch.ip_delay=0",
            "fetch.allow_private=true",
            "fetch.hosts_file=hosts",
            "quality.probe_after=4",
        ]
        options += [
            "extract.extractor=paragraphs",
            "dedup.near_duplicates=false",
            "frontier.yield_threshold=off",
            "scope.homepages=false",
        ]
        (directory / "crawl.toml").write_text(config.dump(config.make(options, directory), changed=True))
        result = crashing.run(["crawl", str(directory)])
        assert result.code == 0, result.err
        return directory, [request.path for request in site.requests("a.test")]


def ends(directory: Path) -> dict[str, str]:
    lines = [
        line for frame in truth.frames(directory) for line in frame[1:] if line.get("kind", truth.PAGE) == truth.PAGE
    ]
    return {line["url"].removeprefix("http://a.test/"): line["reason"] for line in lines}


def test_a_host_gets_one_probe(crawled: tuple[Path, list[str]]) -> None:
    _, paths = crawled
    asked = [path for path in paths if "no-such-page" in path]
    assert len(asked) == 1 and paths.index(asked[0]) >= 5, "after some pages"


def test_pages_like_the_response_to_the_probe_are_left_out_and_others_kept(crawled: tuple[Path, list[str]]) -> None:
    directory, _ = crawled
    found = ends(directory)
    assert {found["weg"], found["fort"]} == {"soft-404"}
    assert {found[str(number)] for number in range(20)} == {"ok"}
    assert "no-such-page" not in json.dumps(found), "the probe is none of the crawl's URLs"
    truth.assert_reconciled(crashing.run(["status", str(directory), "--json"]).json)


def test_the_probe_is_archived_among_the_diagnostics(crawled: tuple[Path, list[str]]) -> None:
    directory, _ = crawled
    kept = [record.url for record in truth.archive(directory, "diagnostics") if record.type == "response"]
    assert len([url for url in kept if "no-such-page" in url]) == 1


def test_a_rebuild_of_the_corpus_uses_the_probe(crawled: tuple[Path, list[str]]) -> None:
    directory, _ = crawled
    truth.assert_corpus(directory)
