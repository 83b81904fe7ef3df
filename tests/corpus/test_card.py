"""The dataset card and the registry file of an export directory."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.corpus import samples
from tests.corpus.formats.encoded import read
from tests.corpus.samples import SAMPLES, Sample
from tests.jobs import exports
from windrow.corpus import census, outputs
from windrow.corpus.census import Census
from windrow.corpus.formats import markup
from windrow.jobs.inputs.filters import Wanted
from windrow.records import Signal


def run(crawls: list[Path], output: Path, format: str = "jsonl", **others: Any) -> str:
    """Return the card."""
    exports.run(crawls, output, format, **others)
    return (output / "README.md").read_text()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return samples.crawl(tmp_path / "crawl")


def front(card: str) -> list[str]:
    return card.split("---\n")[1].splitlines()


def test_the_front_matter_names_languages_size_and_files(tmp_path: Path, crawl: Path) -> None:
    lines = front(run([crawl], tmp_path / "out"))
    assert lines[lines.index("language:") + 1 :][:5] == ['- "cs"', '- "de"', '- "en"', '- "zh"', "size_categories:"]
    assert "license: other" in lines and "- n<1K" in lines and 'pretty_name: "out"' in lines
    assert lines[lines.index("configs:") :] == [
        *("configs:", '- config_name: "default"', "  data_files:", "  - split: train"),
        *('    path: "data/*.jsonl.gz"', "  default: true"),
    ]


def test_each_part_of_a_split_corpus_is_a_configuration(tmp_path: Path, crawl: Path) -> None:
    pytest.importorskip("pyarrow")
    card = run([crawl], tmp_path / "out", "parquet", by="domain")
    configs = re.findall(r'config_name: "(.*)"\n  data_files:\n  - split: train\n    path: "(.*)"', card)
    assert configs[:3] == [
        ("default", "data/*.parquet"),
        ("192.0.2.7", "data/192.0.2.7.parquet"),
        ("example.co.uk", "data/example.co.uk.parquet"),
    ]
    assert len(configs) == 6 and all(list((tmp_path / "out").glob(pattern)) for _, pattern in configs)


@pytest.mark.parametrize("format", ["prevertical", "vertical"])
def test_a_format_that_datasets_cannot_read_has_no_configuration(tmp_path: Path, crawl: Path, format: str) -> None:
    card = run([crawl], tmp_path / "out", format)
    assert "configs:" not in card and "load_dataset" not in card and "| German | deu | 2 |" in card


def test_documents_as_in_the_corpus_have_no_configuration(tmp_path: Path, crawl: Path) -> None:
    assert "configs:" not in run([crawl], tmp_path / "out", style="windrow")


def test_the_card_counts_languages_domains_licences_and_signals(tmp_path: Path, crawl: Path) -> None:
    card = run([crawl], tmp_path / "out")
    assert "| Czech | ces | 1 | 35 |" in card and "| uk | 2 |" in card
    assert "| https://l.example/by | 1 |" in card and "| none stated | 5 |" in card
    assert "| robots.txt: train-ai=n | 1 |" in card and "| meta: license | 1 |" in card
    assert "6 documents with " in card and "requested from 2026-11-15 to 2026-11-16." in card


def test_the_card_says_how_the_crawl_and_the_export_were_made(tmp_path: Path, crawl: Path) -> None:
    (crawl / "crawl.toml").write_text('[identity]\ncontact = "mailto:ada@a.example"\n[signals]\nprofile = "training"\n')
    (crawl / "takedown.txt").write_text("example.cz\n")
    card = run([crawl], tmp_path / "out", wanted=Wanted(tlds=("de", "cz")))
    assert "write to mailto:ada@a.example and name its URL" in card and '"tlds": [\n' in card
    assert "| takedown | 1 |" in card and "| tld | 4 |" in card
    assert "The crawl `crawl` left out 0 pages for an opt-out, with the profile `training`." in card
    assert '```toml\n[identity]\ncontact = "mailto:ada@a.example"' in card


def test_the_card_of_two_crawls_names_both(tmp_path: Path, crawl: Path) -> None:
    other = samples.crawl(
        tmp_path / "other", [msgspec.structs.replace(SAMPLES[0], url="http://o.example/", texts=("b",))]
    )
    (other / "crawl.toml").write_text("not toml")
    card = run([crawl, other], tmp_path / "out")
    assert "Made from the crawls `crawl`, `other`" in card and "Options of the crawl `other`:" in card
    assert "| same payload in an earlier crawl | 1 |" in card


def test_the_same_corpus_and_options_give_the_same_card(tmp_path: Path, crawl: Path) -> None:
    assert run([crawl], tmp_path / "a" / "out") == run([crawl], tmp_path / "b" / "out")


def test_text_of_a_page_cannot_become_markup_of_the_card(tmp_path: Path) -> None:
    hostile = "https://l.example/|a|<script>[x](y)`"
    crawl = samples.crawl(tmp_path / "crawl", [msgspec.structs.replace(SAMPLES[0], licence=hostile)])
    card = run([crawl], tmp_path / "out")
    assert r"| https://l.example/\|a\|&lt;script>\[x](y)' | 1 |" in card


def test_no_file_of_an_export_but_the_documents_looks_like_data(tmp_path: Path, crawl: Path) -> None:
    run([crawl], tmp_path / "out", "vertical")
    found = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*"))
    assert found == [".export.json", "README.md", "data", "data/00000.vert.gz", "registry", "registry/out"]
    note = json.loads((tmp_path / "out" / outputs.NOTE).read_text())
    assert (note["inputs"], note["words"], note["documents_out"]) == ([str(crawl)], "builtin", 6)


def test_dolma_finds_the_documents_where_it_expects_them(tmp_path: Path, crawl: Path) -> None:
    card = run([crawl], tmp_path / "out", style="dolma")
    assert (tmp_path / "out" / "documents" / "00000.jsonl.gz").exists() and 'path: "documents/*.jsonl.gz"' in card


def test_only_so_many_licences_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "MOST_LICENCES", 2)
    counts = Census()
    for number in (1, 2, 3, 4, 1):
        counts.add(read(Sample("http://a.example/", "eng", ("x",), licence=f"http://l.example/{number}")))
    assert counts.licences == {"http://l.example/1": 2, "http://l.example/2": 1, census.OTHER: 2}


def test_counts_of_parts_join_to_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "MOST_LICENCES", 2)
    found = [
        read(Sample(f"http://a.example.{tld}/", language, ("x" * number,), licence=f"http://l.example/{number % 4}"))
        for number, (tld, language) in enumerate([("de", "deu"), ("org", "eng"), ("de", "eng")] * 3)
    ]
    whole, joined = Census(), Census()
    for document in found:
        whole.add(document)
    for start in range(0, len(found), 4):
        part = Census()
        for document in found[start : start + 4]:
            part.add(document, most=100)
        joined.join(msgspec.json.decode(msgspec.json.encode(part), type=Census))
    assert joined == whole
    assert list(joined.licences) == ["http://l.example/0", "http://l.example/1", census.OTHER]


def test_a_signal_that_is_stated_twice_counts_once() -> None:
    noai = (Signal("meta", "noai", "", "robots"), Signal("meta", "noai", "", "googlebot"))
    counts = Census()
    counts.add(read(Sample("http://a.example/", "eng", ("x",), signals=noai)))
    assert counts.signals == {"meta: noai": 1}


def structures(registry: str) -> dict[str, list[str]]:
    """Return the attributes of each structure; those outside of structures under ""."""
    found: dict[str, list[str]] = {"": []}
    inside = ""
    for line in registry.splitlines():
        if match := re.match(r"STRUCTURE (\w+)( \{)?$", line):
            found[match[1]], inside = [], match[1] if match[2] else ""
        elif match := re.match(r"\s*ATTRIBUTE (\w+)", line):
            found[inside].append(match[1])
        elif line == "}":
            inside = ""
    return found


@pytest.mark.parametrize("places", [False, True])
def test_the_registry_has_every_structure_and_attribute_of_the_vertical(
    tmp_path: Path, crawl: Path, places: bool
) -> None:
    run([crawl], tmp_path / "My Corpus", "vertical", places=places)
    registry = (tmp_path / "My Corpus" / "registry" / "my_corpus").read_text()
    expected = [*markup.DOC, *(markup.PLACE if places else ())]
    assert structures(registry) == {"": ["word", "lc"], "doc": expected, "p": list(markup.P), "s": [], "g": []}
    assert f"VERTICAL \"| zcat '{tmp_path}/My Corpus'/data/*.vert.gz\"" in registry and "LANGUAGE" not in registry
    assert registry.count("{") == registry.count("}") and registry.count('"') % 2 == 0


def test_the_registry_of_one_language_names_it(tmp_path: Path, crawl: Path) -> None:
    run([crawl], tmp_path / "out", "vertical", wanted=Wanted(languages=("de",)))
    assert 'LANGUAGE "German"' in (tmp_path / "out" / "registry" / "out").read_text()
