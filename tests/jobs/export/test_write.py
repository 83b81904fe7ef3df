"""`windrow export`: formats, filters, outputs and errors."""

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import prevert
import pytest
import zstandard

import windrow
from tests import crashing
from tests.corpus import samples
from tests.corpus.samples import SAMPLES, Sample
from tests.jobs.exports import run
from tests.judge import declarations
from windrow.config import ConfigError
from windrow.corpus import detect, document, outputs, sink
from windrow.corpus.formats import FORMATS
from windrow.corpus.formats.format import FormatOptions, Item
from windrow.jobs.export import write
from windrow.jobs.export.write import ExportOptions
from windrow.jobs.inputs.filters import Wanted
from windrow.judge.language import trigrams
from windrow.records import Mark, Paragraph

ORDER = sorted(range(len(SAMPLES)), key=lambda number: SAMPLES[number].language)  # of the shards


def command(*arguments: object) -> crashing.Result:
    return crashing.run(["export", *map(str, arguments)])


def installed(cwd: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, in this directory."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "windrow.cli", "export", *map(str, arguments)],  # -P: as the installed command
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(windrow.__file__).parents[1])},
    )


def text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def urls(path: Path) -> list[str]:
    return [json.loads(line)["metadata"]["url"] for line in text(path).splitlines()]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return samples.crawl(tmp_path / "crawl")


def test_every_document_is_exported_once_and_counted(tmp_path: Path, crawl: Path) -> None:
    summary = run(crawl, tmp_path / "out.jsonl.gz")
    assert urls(tmp_path / "out.jsonl.gz") == [SAMPLES[number].url for number in ORDER]
    assert (summary.documents_in, summary.documents_out, summary.paragraphs_out) == (6, 6, 9)
    assert summary.files == {"out.jsonl.gz": 6} and summary.bytes_out == len(text(tmp_path / "out.jsonl.gz").encode())


def test_an_export_to_zstd_can_be_read_again(tmp_path: Path, crawl: Path) -> None:
    (tmp_path / "dir").mkdir()
    run(crawl, tmp_path / "plain.jsonl", style="windrow")
    run(crawl, tmp_path / "dir" / "all.jsonl.zst", style="windrow", force=True)
    packed = (tmp_path / "dir" / "all.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == (tmp_path / "plain.jsonl").read_bytes()
    run(tmp_path / "dir", tmp_path / "again.jsonl", style="windrow")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "plain.jsonl").read_bytes()


def test_a_format_with_another_compression_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "odd", msgspec.structs.replace(FORMATS["text"], suffix=".odd.xz"))
    with pytest.raises(ConfigError, match=r"files with the suffix \.xz cannot be written"):
        outputs.check(outputs.Target(tmp_path / "out", FORMATS["odd"]))


def test_langdiff_is_measured_per_paragraph_or_taken_from_the_document(tmp_path: Path) -> None:
    german = "Der Wind weht über das weite Feld und die Mühle am Bach dreht sich langsam."
    english = "The wind blows over the wide field, and the mill at the brook turns slowly."
    crawl = samples.crawl(tmp_path / "crawl", [Sample("http://a.example/", "deu", (german, english, "Mühle 7"))])
    run(crawl, tmp_path / "own.prevert", "prevertical")
    assert re.findall('langdiff="(.*)"', text(tmp_path / "own.prevert")) == ["0.02", "1.00", "0.25"]
    run(crawl, tmp_path / "its.prevert", "prevertical", langdiff="document")
    assert re.findall('langdiff="(.*)"', text(tmp_path / "its.prevert")) == ["0.25"] * 3


def test_with_a_model_langdiff_is_that_of_trigrams(tmp_path: Path) -> None:
    sample = "\n".join(declarations.shipped("de"))
    trigrams.write(trigrams.train("deu", sample), tmp_path / "model")
    german, english = declarations.shipped("de")[3], declarations.shipped("en")[3]
    found = [
        Sample("http://a.example/", "deu", (sample,)),
        Sample("http://b.example/", "deu", (german, english)),
        Sample("http://c.example/", "eng", (english,)),
    ]
    crawl = samples.crawl(tmp_path / "crawl", found)
    run(crawl, tmp_path / "out.prevert", "prevertical", models=(tmp_path / "model",))
    whole, parts, other = (
        [float(found) for found in re.findall('lang_?diff="(.*?)"', part)]
        for part in text(tmp_path / "out.prevert").split("</doc>")[:-1]
    )
    assert whole == [0.0, 0.0]
    assert parts[1] < parts[0] < 0.6 < parts[2] < 1
    assert other == [0.25, 0.02]


def test_scripts_without_spaces_are_split_by_dictionary_on_request(tmp_path: Path) -> None:
    pytest.importorskip("icu4py", reason="needs icu4py")
    crawl = samples.crawl(tmp_path / "crawl", [Sample("http://a.example/", "zho", ("我们在北京。",))])
    run(crawl, tmp_path / "icu.vert", "vertical", words="icu")
    run(crawl, tmp_path / "own.vert", "vertical")
    assert [line for line in text(tmp_path / "icu.vert").splitlines() if line[0] != "<"] == ["我们", "在", "北京", "。"]
    assert [line for line in text(tmp_path / "own.vert").splitlines() if line[0] != "<"] == list("我们在北京。")


def test_the_style_windrow_is_the_corpus_byte_for_byte(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.jsonl", style="windrow")
    assert (tmp_path / "out.jsonl").read_bytes() == b"".join(samples.line(SAMPLES[number], number) for number in ORDER)
    assert run(tmp_path / "out.jsonl", tmp_path / "again.jsonl", style="windrow").documents_out == 6


def test_a_prevertical_file_is_read_by_prevert(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.prevert", "prevertical")
    seen = list(prevert.dataset(str(tmp_path / "out.prevert"), xml=False))
    assert [one.meta["id"] for one in seen] == ["1", "2", "3", "4", "5", "6"]
    assert str(seen[0]) == "Pole je široké.\nVítr vane od západu.\n"


@pytest.mark.parametrize(("format", "paragraphs"), [("prevertical", 9), ("vertical", 9), ("text", 6), ("jsonl", 9)])
def test_dedup_reads_every_text_format_of_export(tmp_path: Path, crawl: Path, format: str, paragraphs: int) -> None:
    path = tmp_path / f"out{FORMATS[format].suffix}"
    run(crawl, path, format)
    assert detect.detect(path) == format
    assert sum(len(record.paragraphs) for record, _ in detect.read(path)) == paragraphs


def test_an_unknown_format_is_refused_and_not_written_as_another(tmp_path: Path, crawl: Path) -> None:
    options = ExportOptions(inputs=(crawl,), output=tmp_path / "out.xml", format="xml")
    for step in (write.check, lambda options: write.run(options, write.find(options), lambda count: None)):
        with pytest.raises(ConfigError, match=r"--format names 'xml', .*the known names are jsonl, "):
            step(options)
    assert os.listdir(tmp_path) == ["crawl"]


def documented_format() -> str:
    """Return the format that docs/corpus.md shows."""
    page = (Path(__file__).parents[3] / "docs" / "corpus.md").read_text("utf-8")
    return page.partition("### A format of your own")[2].partition("```python\n")[2].partition("```")[0]


@pytest.mark.parametrize("folder", ["crawl", "work"])
def test_the_documented_format_of_a_user_is_found_beside_crawl_toml_or_in_the_current_directory(
    tmp_path: Path, crawl: Path, folder: str
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / folder / "myformats.py").write_text(documented_format())
    done = installed(tmp_path / "work", crawl, "--format", "myformats:tsv", "-o", tmp_path / "out", "--by", "tld")
    assert done.returncode == 0, done.stderr
    row = f"1\t{SAMPLES[1].url}\t{' '.join(SAMPLES[1].texts)}\n"
    assert text(tmp_path / "out" / "data" / "cz.tsv.gz") == "number\turl\ttext\n" + row
    assert json.loads((tmp_path / "out" / outputs.NOTE).read_text())["format"] == "myformats:tsv"


def test_a_format_of_a_user_has_the_options_of_its_section_in_crawl_toml(tmp_path: Path, crawl: Path) -> None:
    (crawl / "wrapped.py").write_text(
        "import msgspec\nfrom windrow.corpus.formats.format import each\n"
        "def urls(options, inner):\n"
        "    line = lambda item, _: f\"{options['before']}{item.document.url}\\n\".encode()\n"
        "    return msgspec.structs.replace(inner, suffix='.txt', open=each(line))\n"
    )
    (crawl / "crawl.toml").write_text('[plugins.mine]\nuse = "wrapped:urls"\nbefore = "> "\n')
    (tmp_path / "work").mkdir()
    done = installed(tmp_path / "work", crawl, "--format", "mine", "-o", tmp_path / "out.txt")
    assert done.returncode == 0, done.stderr
    assert text(tmp_path / "out.txt") == "".join(f"> {SAMPLES[number].url}\n" for number in ORDER)


def test_a_score_of_the_users_own_judge_is_filtered_by_its_name(tmp_path: Path) -> None:
    scores = ({"language": 0.9, "my_judges:wind": 0.75}, {"language": 0.9, "my_judges:wind": 0.25}, {"language": 0.9})
    found = [Sample(f"http://{at}.example/", "eng", ("x",), scores=each) for at, each in enumerate(scores)]
    crawl = samples.crawl(tmp_path / "crawl", found)
    summary = run(crawl, tmp_path / "out.jsonl", wanted=Wanted(least=["my_judges:wind=0.5"]))
    assert urls(tmp_path / "out.jsonl") == ["http://0.example/"]
    assert summary.left_out == {"score my_judges:wind": 2}


def test_plain_text_has_one_paragraph_per_line_and_an_empty_line_after_each_document(tmp_path: Path) -> None:
    found = [Sample("http://a.example/", "eng", ("One.", "", "Two.")), Sample("http://b.example/", "eng", ("Three.",))]
    run(samples.crawl(tmp_path / "crawl", found), tmp_path / "out.txt", "text")
    assert text(tmp_path / "out.txt") == "One.\nTwo.\n\nThree.\n\n"


def test_parquet_has_one_row_per_document(tmp_path: Path, crawl: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run(crawl, tmp_path / "out.parquet", "parquet")
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["url"] for row in rows] == [SAMPLES[number].url for number in ORDER]
    assert rows[0]["time"].isoformat() == "2026-11-16T10:44:21.123000+00:00"
    assert rows[0]["text"] == "Pole je široké.\nVítr vane od západu." and rows[0]["dump"] == "crawl"
    assert (rows[0]["warc_filename"], rows[0]["warc_record_offset"], rows[0]["warc_record_length"]) == (
        samples.WARC,
        1000,
        900,
    )
    assert rows[0]["scores"] == [{"name": "language", "value": 0.75}] and rows[0]["language_score"] == 0.75
    assert rows[3]["signals"][0]["name"] == "train-ai"
    assert [found["language"] for found in rows[3]["paragraphs"]] == ["eng", "ita"]
    assert [(row["site"], row["description"], row["tags"], row["image"]) for row in rows if row["tags"]] == [
        ("Pole a větry", "O větru.", ["vítr", "pole"], "http://pole.example.cz/obraz.png")
    ]


def test_parquet_has_the_structure_lines_and_marks_of_paragraphs(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    formed = Paragraph("if x: y", structure="ul:1 li:2 pre:1", lines="if x:\n\ty", marks=(Mark(0, 2, "strong"),))
    line = samples.line(SAMPLES[0], 0)
    made = msgspec.structs.replace(document.read(line, "here"), paragraphs=(formed, Paragraph("a")))
    with (tmp_path / "out.parquet").open("wb") as stream:
        encoder = FORMATS["parquet"].open(stream, FormatOptions(str))
        encoder.add(Item(made, line, 1, "crawl"))
        encoder.close()
    (row,) = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    first, second = row["paragraphs"]
    assert (first["structure"], first["lines"]) == (formed.structure, formed.lines)
    assert first["marks"] == [{"start": 0, "end": 2, "kind": "strong", "target": ""}]
    assert (second["structure"], second["lines"], second["marks"]) == ("", "", [])


def test_without_pyarrow_parquet_is_refused_and_everything_else_works(
    tmp_path: Path, crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'windrow-corpus\[parquet\]'"):
        run(crawl, tmp_path / "out.parquet", "parquet")
    assert run(crawl, tmp_path / "out.jsonl").documents_out == 6


@pytest.mark.parametrize(
    ("by", "parts"),
    [
        ("tld", {"cz": 1, "de": 1, "none": 1, "org": 1, "uk": 2}),
        ("language", {"ces": 1, "deu": 2, "eng": 2, "zho": 1}),
        ("domain", {"192.0.2.7": 1, "example.co.uk": 2, "example.cz": 1, "example.de": 1, "example.org": 1}),
    ],
)
@pytest.mark.parametrize("format", ["jsonl", "prevertical", "parquet"])
def test_a_corpus_is_split_into_one_file_per_part(
    tmp_path: Path, crawl: Path, by: str, parts: dict[str, int], format: str
) -> None:
    summary = run(crawl, tmp_path / "out", format, by=by)
    suffix = FORMATS[format].suffix
    assert summary.files == {f"data/{name}{suffix}": count for name, count in parts.items()}
    found = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    assert found == {*summary.files, "data", "README.md", outputs.NOTE}
    note = json.loads((tmp_path / "out" / outputs.NOTE).read_text())
    assert (note["by"], note["documents_out"], note["files"]) == (by, 6, summary.files)


def test_there_may_be_more_parts_than_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crawl: Path) -> None:
    run(crawl, tmp_path / "a", by="domain")
    monkeypatch.setattr(sink, "OPEN", 1)
    run(crawl, tmp_path / "b", by="domain")
    names = sorted(path.name for path in (tmp_path / "a" / "data").glob("*.gz"))
    assert len(names) == 5
    for name in names:
        assert text(tmp_path / "a" / "data" / name) == text(tmp_path / "b" / "data" / name)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_directory_gets_numbered_files(tmp_path: Path, crawl: Path, format: str) -> None:
    summary = run(crawl, tmp_path / "out", format, shard_bytes=1)
    assert list(summary.files) == [f"data/{number:05}{FORMATS[format].suffix}" for number in range(6)]
    assert set(summary.files.values()) == {1}


def test_the_same_corpus_and_options_give_the_same_bytes(tmp_path: Path, crawl: Path) -> None:
    for format in FORMATS:
        for name in ("a", "b"):
            run(crawl, tmp_path / f"{name}{FORMATS[format].suffix}", format)
        assert (tmp_path / f"a{FORMATS[format].suffix}").read_bytes() == (
            tmp_path / f"b{FORMATS[format].suffix}"
        ).read_bytes()


def test_documents_that_are_left_out_are_counted_by_filter(tmp_path: Path, crawl: Path) -> None:
    wanted = Wanted(profile="training", least=["language=0.6"])
    summary = run(crawl, tmp_path / "out.jsonl", wanted=wanted)
    assert summary.left_out == {"profile": 2, "score language": 1} and summary.documents_out == 3
    assert "2 left out: profile" in write.describe(summary)


def test_shards_of_other_languages_are_not_read(tmp_path: Path, crawl: Path) -> None:
    summary = run(crawl, tmp_path / "out.jsonl", wanted=Wanted(languages=["de", "zh"]))
    assert (summary.documents_in, summary.documents_out) == (3, 3)


def test_without_a_matching_document_the_file_is_empty(tmp_path: Path, crawl: Path) -> None:
    summary = run(crawl, tmp_path / "out.jsonl", wanted=Wanted(tlds=["fr"]))
    assert summary.documents_out == 0 and (tmp_path / "out.jsonl").read_bytes() == b""
    run(crawl, tmp_path / "out.jsonl.gz", wanted=Wanted(tlds=["fr"]))
    assert text(tmp_path / "out.jsonl.gz") == ""


def test_the_takedown_lists_of_the_crawl_and_of_the_command_are_applied(tmp_path: Path, crawl: Path) -> None:
    (crawl / "takedown.txt").write_text("example.co.uk\n")
    (tmp_path / "more.txt").write_text("http://pole.example.cz/\n")
    summary = run(crawl, tmp_path / "out.jsonl", takedown=tmp_path / "more.txt")
    assert summary.left_out == {"takedown": 3}
    assert not {SAMPLES[1].url, SAMPLES[2].url, SAMPLES[3].url} & set(urls(tmp_path / "out.jsonl"))
    shard = crawl / "corpus" / "eng" / "n0-00000.jsonl.gz"
    assert run(shard, tmp_path / "shard.jsonl").left_out == {"takedown": 2}


def test_uncommitted_documents_are_not_exported(tmp_path: Path, crawl: Path) -> None:
    with (crawl / "corpus" / "deu" / "n0-00000.jsonl.gz").open("ab") as file:
        file.write(gzip.compress(samples.line(SAMPLES[0], 99))[:50])
    (crawl / "corpus" / "fra").mkdir()
    (crawl / "corpus" / "fra" / "n0-00000.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    assert run(crawl, tmp_path / "out.jsonl").documents_out == 6


def test_an_output_is_overwritten_only_with_force(tmp_path: Path, crawl: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(ConfigError, match="--force"):
        run(crawl, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == "mine"
    run(crawl, tmp_path / "out.jsonl", force=True)
    assert len(urls(tmp_path / "out.jsonl")) == 6


def test_an_export_replaces_only_another_export(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out", by="domain")
    with pytest.raises(ConfigError, match="not empty"):
        run(crawl, tmp_path / "out", by="tld")
    run(crawl, tmp_path / "out", by="tld", force=True)
    names = os.listdir(tmp_path / "out" / "data")
    assert "cz.jsonl.gz" in names and "example.cz.jsonl.gz" not in names
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("mine")
    with pytest.raises(ConfigError, match="does not remove it"):
        run(crawl, tmp_path / "home", by="tld", force=True)
    assert os.listdir(tmp_path / "home") == ["letter"]


@pytest.mark.parametrize(
    "output", ["crawl/corpus/out.jsonl", "crawl/corpus/deu/n0-00000.jsonl.gz", "crawl/corpus", "crawl", "."]
)
def test_nothing_is_written_into_or_over_the_corpus(tmp_path: Path, crawl: Path, output: str) -> None:
    before = {path: path.read_bytes() for path in crawl.rglob("*.gz")}
    with pytest.raises(ConfigError):
        run(crawl, tmp_path / output, force=True)
    assert {path: path.read_bytes() for path in crawl.rglob("*.gz")} == before


BROKEN = {
    "foreign": b'{"text": "a", "id": "b"}\n',
    "newer": samples.line(SAMPLES[0], 0).replace(b'"format":1', b'"format":2'),
    "cut": samples.line(SAMPLES[0], 0)[:200],
    "binary": b"\x00\x01\x02",
    "gzip": gzip.compress(samples.line(SAMPLES[0], 0))[:-10],
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("output", ["out.jsonl", "out"])
def test_after_an_error_no_part_of_the_output_is_left(tmp_path: Path, kind: str, output: str) -> None:
    path = tmp_path / "in" / "a.jsonl"
    path.parent.mkdir()
    path.write_bytes(BROKEN["gzip"] if kind == "gzip" else samples.line(SAMPLES[0], 0) + BROKEN[kind])
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"a\.jsonl, line \d: "):
        run(path, tmp_path / output)
    assert os.listdir(tmp_path) == ["in"] and path.read_bytes() == before


def test_a_failed_export_keeps_the_earlier_one(tmp_path: Path, crawl: Path) -> None:
    run(crawl, tmp_path / "out.jsonl")
    before = (tmp_path / "out.jsonl").read_bytes()
    with pytest.raises(ConfigError, match="no document has a score 'langauge'; the scores are language, quality"):
        run(crawl, tmp_path / "out.jsonl", wanted=Wanted(least=["langauge=0.5"]), force=True)
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["crawl", "out.jsonl"]


def test_the_command_prints_its_summary_and_writes_to_standard_output(tmp_path: Path, crawl: Path) -> None:
    done = command(crawl, "--format", "jsonl", "-o", tmp_path / "out.jsonl.gz", "--language", "de", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["documents_out"] == 2
    done = command(crawl, "--format", "text", "-o", "-", "--domain", "example.org")
    assert (done.code, done.out) == (0, "風吹過田野。\n\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "xml", "-o", "OUT.xml"], "--format names 'xml'"),
        (["--format", "jsonl", "--by", "host", "-o", "OUT"], "--by 'host' is unknown"),
        (["--format", "jsonl", "--style", "oscar", "-o", "OUT.jsonl"], "--style 'oscar' is unknown"),
        (["--format", "parquet", "-o", "-"], "standard output"),
        (["--format", "jsonl", "-o", "OUT.jsonl.bz2"], "files with the suffix .bz2 cannot be written; end the name in"),
        (["--format", "text", "--by", "tld", "-o", "OUT.zip"], "files with the suffix .zip cannot be written"),
        (["--format", "jsonl", "--language", "germn", "-o", "OUT.jsonl"], "unknown language 'germn'"),
        (["--format", "jsonl", "--takedown", "missing.txt", "-o", "OUT.jsonl"], "missing.txt"),
    ],
)
def test_a_wrong_command_fails_in_one_sentence(tmp_path: Path, crawl: Path, arguments: list[str], words: str) -> None:
    done = command(crawl, *(argument.replace("OUT", str(tmp_path / "out")) for argument in arguments))
    assert done.code == 2 and words in done.err and done.err.count("\n") == 1
    assert os.listdir(tmp_path) == ["crawl"]


def test_a_path_without_a_crawl_fails_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, words in ((tmp_path / "empty", "is not a crawl's directory"), (tmp_path / "none", "does not exist")):
        done = command(path, "--format", "jsonl", "-o", tmp_path / "out.jsonl")
        assert done.code == 2 and words in done.err and done.err.count("\n") == 1


def test_a_reader_that_closes_the_pipe_ends_the_export_silently(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", [SAMPLES[0]] * 2000)
    process = subprocess.Popen(
        [sys.executable, "-m", "windrow.cli", "export", str(crawl), "--format", "text", "-o", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.read(10).decode() == "Die Mühle"
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 128 + 13
    process.stderr.close()


def test_inputs_that_contain_the_same_files_are_refused(tmp_path: Path, crawl: Path) -> None:
    shard = next((crawl / "corpus").rglob("*.gz"))
    for inputs in ((crawl, crawl), (crawl, shard), (shard, crawl / "corpus"), (crawl, crawl.parent / "." / crawl.name)):
        with pytest.raises(ConfigError, match="contain the same files; name each of them once"):
            write.find(ExportOptions(inputs=inputs, output=tmp_path / "out.jsonl", format="jsonl"))


def test_an_export_without_documents_names_its_file(tmp_path: Path, crawl: Path) -> None:
    assert run(crawl, tmp_path / "out.txt", "text", wanted=Wanted(tlds=("fr",))).files == {"out.txt": 0}
    assert (tmp_path / "out.txt").read_bytes() == b""


def test_the_error_of_a_full_standard_output_names_it(crawl: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "windrow.cli", "export", str(crawl), "--format", "text", "-o", "-"],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert (
        done.stderr.decode()
        == "windrow: standard output: No space left on device; fix that and run the same command again\n"
    )


def test_a_killed_export_leaves_no_file_that_looks_whole(tmp_path: Path, crawl: Path) -> None:
    """SIGKILL ends it midway; the next export removes what it left."""
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom windrow.jobs.export import write as export\n"
        "options = export.ExportOptions(inputs=(Path(sys.argv[1]),), output=Path(sys.argv[2]), format='jsonl')\n"
        "export.run(options, export.find(options), lambda count: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    for output in (tmp_path / "out.jsonl.gz", tmp_path / "out"):
        done = subprocess.run([sys.executable, "-c", script, str(crawl), str(output)], check=False)
        assert done.returncode == -signal.SIGKILL and not output.exists()
        assert (tmp_path / f".new.{output.name}").exists()
        assert run(crawl, output).documents_out == 6
        assert output.exists() and not (tmp_path / f".new.{output.name}").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_that_fails_midway_leaves_nothing(tmp_path: Path, format: str) -> None:
    (tmp_path / "in.jsonl").write_bytes(samples.line(SAMPLES[0], 0) + b"{\n")
    for name, options in ((f"out{FORMATS[format].suffix}", {}), ("out", {"by": "tld"})):
        with pytest.raises(ConfigError, match=r"in\.jsonl, line 2: not a JSON document"):
            run(tmp_path / "in.jsonl", tmp_path / "to" / name, format, **options)
        assert list((tmp_path / "to").iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_the_error_of_a_full_disk_names_the_output(
    tmp_path: Path, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = samples.crawl(tmp_path / "crawl")

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(outputs, "_sync", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        run(crawl, tmp_path / "to" / "out.x", format)
    assert raised.value.filename == str(tmp_path / "to" / "out.x") and list((tmp_path / "to").iterdir()) == []
