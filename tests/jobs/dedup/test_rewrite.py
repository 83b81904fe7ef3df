import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from tests import crashing
from tests.corpus import samples
from tests.corpus.samples import Sample
from tests.dedup.onion import Onion, words
from windrow import config
from windrow.config import ConfigError
from windrow.corpus import reader
from windrow.jobs import dedup
from windrow.jobs.dedup import FilePlan
from windrow.jobs.export import write
from windrow.records import Signal

chance = random.Random(5)
VOCABULARY = ["".join(chance.choices("abcdefghijklmnopqrstuvwyzěščř", k=chance.randint(1, 8))) for _ in range(2000)]


def text(count: int = 40) -> str:
    return " ".join(chance.choices(VOCABULARY, k=count))


def corpus(count: int) -> list[list[str]]:
    """Return documents of paragraphs, some of which are copies with one word changed."""
    stock, documents = [text() for _ in range(9)], []
    for _ in range(count):
        paragraphs = []
        for _ in range(chance.randint(1, 6)):
            copied = chance.choice(stock).replace(chance.choice(VOCABULARY), "changed")
            paragraphs.append(copied if chance.random() < 0.3 else text(chance.choice([3, 25, 60])))
        stock.append(chance.choice(paragraphs))
        documents.append(paragraphs)
    return documents


def expected(documents: list[list[str]]) -> list[list[str]]:
    """Return what onion leaves."""
    onion, left = Onion(), []
    for paragraphs in documents:
        duplicate, _ = onion.mark([words(paragraph) for paragraph in paragraphs])
        kept = [paragraph for paragraph, gone in zip(paragraphs, duplicate, strict=True) if not gone]
        if kept:
            left.append(kept)
    return left


def run(inputs: Path | list[Path], output: Path, **options: Any) -> dedup.DedupSummary:
    level, format = options.pop("level", "paragraph"), options.pop("format", "")
    plans = dedup.plan([inputs] if isinstance(inputs, Path) else inputs, output, format, force=True)
    judge = config.DedupOptions(**{"table_bytes": 16 << 20, "max_seen": 1.0, **options})
    return dedup.run(plans, dedup.options(level, format, judge), lambda count: None)


def jsonl(path: Path, documents: list[Any]) -> Path:
    path.write_text("".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents))
    return path


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


DOCUMENTS = corpus(300)
LEFT = expected(DOCUMENTS)


def test_the_corpus_of_these_tests_has_duplicates() -> None:
    assert 50 < sum(map(len, DOCUMENTS)) - sum(map(len, LEFT)) < 600
    assert len(LEFT) < len(DOCUMENTS)


def test_jsonl_with_paragraphs_keeps_every_other_field(tmp_path: Path) -> None:
    documents = [
        {
            "url": f"http://a.example/{number}",
            "paragraphs": [{"text": each, "kind": "good"} for each in paragraphs],
            "place": {"offset": 7},
        }
        for number, paragraphs in enumerate(DOCUMENTS)
    ]
    summary = run(jsonl(tmp_path / "in.jsonl", documents), tmp_path / "out.jsonl")
    found = lines(tmp_path / "out.jsonl")
    assert [[each["text"] for each in document["paragraphs"]] for document in found] == LEFT
    assert all(
        list(document) == ["url", "paragraphs", "place"] and document["place"] == {"offset": 7} for document in found
    )
    assert summary.documents_in == 300 and summary.documents_out == len(LEFT) == 300 - summary.documents_removed
    assert summary.paragraphs_in == sum(map(len, DOCUMENTS)) and summary.paragraphs_out == sum(map(len, LEFT))
    assert summary.tokens_in == sum(len(each.split()) for paragraphs in DOCUMENTS for each in paragraphs)
    assert summary.tokens_out == sum(len(each.split()) for paragraphs in LEFT for each in paragraphs)
    assert summary.tokens_removed == summary.tokens_in - summary.tokens_out


@pytest.mark.parametrize("name", ["text", "raw_content", "content"])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_jsonl_with_text_has_one_paragraph_per_line(tmp_path: Path, name: str, between: str) -> None:
    documents = [
        {"id": number, name: between.join(paragraphs), "metadata": {}} for number, paragraphs in enumerate(DOCUMENTS)
    ]
    run(jsonl(tmp_path / "in.jsonl", documents), tmp_path / "out.jsonl")
    assert [document[name] for document in lines(tmp_path / "out.jsonl")] == [
        between.join(paragraphs) for paragraphs in LEFT
    ]


def prevertical(documents: list[list[str]]) -> str:
    return "".join(
        '<doc id="1" title="a &lt; b">\n'
        + "".join(f'<p class="good">\n{each}\n</p>\n' for each in paragraphs)
        + "</doc>\n"
        for paragraphs in documents
    )


def test_prevertical_keeps_its_structures(tmp_path: Path) -> None:
    (tmp_path / "in.prevert").write_text(prevertical(DOCUMENTS))
    run(tmp_path / "in.prevert", tmp_path / "out.prevert")
    assert (tmp_path / "out.prevert").read_text() == prevertical(LEFT)


def vertical(documents: list[list[str]]) -> str:
    made = '<?xml version="1.0"?>\n<corpus>\n'
    for paragraphs in documents:
        made += '<doc id="1">\n<div>\n'
        for each in paragraphs:
            made += "<p>\n<s>\n" + "".join(f"{word}\tTAG\t{word}-x\n<g/>\n" for word in each.split()) + "</s>\n</p>\n"
        made += "</div>\n</doc>\n"
    return made + "</corpus>\n"


def test_vertical_keeps_its_structures_and_columns(tmp_path: Path) -> None:
    (tmp_path / "in.vert").write_text(vertical(DOCUMENTS))
    run(tmp_path / "in.vert", tmp_path / "out.vert")
    assert (tmp_path / "out.vert").read_text() == vertical(LEFT)


def test_sentence_tags_and_glue_of_a_vertical_do_not_count_as_tokens(tmp_path: Path) -> None:
    (tmp_path / "in.vert").write_text(vertical(DOCUMENTS))
    summary = run(tmp_path / "in.vert", tmp_path / "out.vert")
    (tmp_path / "bare.vert").write_text(_without_sentences(vertical(DOCUMENTS)))
    assert run(tmp_path / "bare.vert", tmp_path / "bare.out.vert") == summary
    assert (tmp_path / "bare.out.vert").read_text() == _without_sentences((tmp_path / "out.vert").read_text())


def _without_sentences(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line not in ("<s>\n", "</s>\n", "<g/>\n"))


def test_a_vertical_without_paragraphs_is_compared_by_document(tmp_path: Path) -> None:
    one, two = text(30), text(30)
    made = ["<doc>\n" + each.replace(" ", "\n") + "\n</doc>\n" for each in (one, two, one)]
    (tmp_path / "in.vert").write_text("".join(made))
    summary = run(tmp_path / "in.vert", tmp_path / "out.vert")
    assert (tmp_path / "out.vert").read_text() == "".join(made[:2])
    assert (summary.documents_in, summary.documents_removed, summary.tokens_in) == (3, 1, 90)


def test_blank_lines_separate_the_paragraphs_of_plain_text(tmp_path: Path) -> None:
    paragraphs = [text(20) + "\n" + text(20) for _ in range(5)]
    for end, blank in (("\n", "\n\n"), ("\r\n", "\r\n \r\n")):
        given = [each.replace("\n", end) for each in [*paragraphs, paragraphs[1], *paragraphs[:1], text(40)]]
        (tmp_path / "in.txt").write_bytes((blank.join(given) + end).encode())
        summary = run(tmp_path / "in.txt", tmp_path / "out.txt")
        assert (tmp_path / "out.txt").read_bytes() == ("\n\n".join([*given[:5], given[7]]) + "\n").encode()
        assert (summary.documents_in, summary.paragraphs_in, summary.paragraphs_removed) == (1, 8, 2)


def test_a_file_without_duplicates_comes_out_byte_for_byte(tmp_path: Path) -> None:
    for name, content in {
        "a.jsonl": '{ "text" : "' + text() + '",  "n": 1.50, "big": 123456789012345678901234567890}\n',
        "a.prevert": "\n<doc>\n\n<p>\n" + text() + "\n</p>\n\n</doc>\n\n",
        "a.vert": "<doc>\n<p>\n" + text().replace(" ", "\n") + "\n</p>\n</doc>\n",
        "a.txt": "\n\n  " + text(),
    }.items():
        (tmp_path / name).write_text(content)
        summary = run(tmp_path / name, tmp_path / f"out-{name}")
        assert (tmp_path / f"out-{name}").read_text() == content, name
        assert (summary.documents_in, summary.tokens_in) == (1, 40)


def test_whole_documents_are_removed_at_document_level(tmp_path: Path) -> None:
    old, new = text(60), text(50)
    documents = [{"text": old}, {"text": f"{new}\n{old}"}, {"text": f"{text(70)}\n{old}"}]
    summary = run(jsonl(tmp_path / "in.jsonl", documents), tmp_path / "out.jsonl", level="document")
    assert lines(tmp_path / "out.jsonl") == [documents[0], documents[2]]
    assert (summary.documents_removed, summary.paragraphs_in, summary.paragraphs_removed) == (1, 5, 2)


def test_gzipped_input_and_output_and_equal_bytes_per_run(tmp_path: Path) -> None:
    half = len(DOCUMENTS) // 2
    for name, part in (("a", DOCUMENTS[:half]), ("b", DOCUMENTS[half:])):
        plain = jsonl(tmp_path / name, [{"text": "\n".join(paragraphs)} for paragraphs in part]).read_bytes()
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(plain[:1000]) + gzip.compress(plain[1000:]))
    inputs = [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]
    before = [path.read_bytes() for path in inputs]
    run(inputs, tmp_path / "out.jsonl.gz")
    run(inputs, tmp_path / "again.jsonl.gz")
    found = gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line)["text"] for line in found] == ["\n".join(paragraphs) for paragraphs in LEFT]
    assert (tmp_path / "out.jsonl.gz").read_bytes() == (tmp_path / "again.jsonl.gz").read_bytes()
    assert [path.read_bytes() for path in inputs] == before


def test_zstd_input_and_output_and_equal_bytes_per_run(tmp_path: Path) -> None:
    plain = jsonl(tmp_path / "a", [{"text": "\n".join(paragraphs)} for paragraphs in DOCUMENTS]).read_bytes()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl.zst").write_bytes(zstandard.compress(plain[:1000]) + zstandard.compress(plain[1000:]))
    for output in ("out.jsonl.zst", "again.jsonl.zst"):
        run([tmp_path / "in" / "a.jsonl.zst"], tmp_path / output)
    run(tmp_path / "in", tmp_path / "all")
    written = (tmp_path / "out.jsonl.zst").read_bytes()
    found = zstandard.ZstdDecompressor().decompressobj().decompress(written).decode().splitlines()
    assert [json.loads(line)["text"] for line in found] == ["\n".join(paragraphs) for paragraphs in LEFT]
    assert (tmp_path / "again.jsonl.zst").read_bytes() == written == (tmp_path / "all" / "a.jsonl.zst").read_bytes()


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".7z", ".zip", ".lz4", ".Z", ".zstd", ".tar.gz"])
def test_an_output_in_another_compression_is_refused(tmp_path: Path, suffix: str) -> None:
    one, two = (jsonl(tmp_path / name, [{"text": text()}]) for name in ("one.jsonl", "two.jsonl"))
    for inputs in ([one], [one, two], [tmp_path / "missing"]):
        with pytest.raises(ConfigError, match=r"cannot be written; end the name in \.gz or \.zst"):
            dedup.plan(inputs, tmp_path / f"out.jsonl{suffix}")
    (tmp_path / f"dir{suffix}").mkdir()
    assert dedup.plan([one], tmp_path / f"dir{suffix}")[0].output == tmp_path / f"dir{suffix}" / "one.jsonl"


def test_a_directory_keeps_its_names_and_one_table(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    for name in ("ces", "deu"):
        (crawl / "corpus" / name).mkdir(parents=True)
        jsonl(crawl / "corpus" / name / "00000.jsonl", [{"text": old} for old in (DOCUMENTS[0][0] + text(), text())])
    (crawl / "crawl.toml").write_text("")
    same = text(90)
    jsonl(crawl / "corpus" / "ces" / "00001.jsonl", [{"text": same}])
    jsonl(crawl / "corpus" / "deu" / "00001.jsonl", [{"text": same}])
    assert run(crawl, tmp_path / "out").files == 4
    assert lines(tmp_path / "out" / "ces" / "00001.jsonl") == [{"text": same}]
    assert (tmp_path / "out" / "deu" / "00001.jsonl").read_text() == ""


def test_several_files_become_one_if_the_output_is_named_like_one(tmp_path: Path) -> None:
    for name in ("b", "a"):
        jsonl(tmp_path / f"{name}.jsonl", [{"text": f"{name} {text()}"}])
    run([tmp_path / "b.jsonl", tmp_path / "a.jsonl"], tmp_path / "out.jsonl")
    assert [document["text"][0] for document in lines(tmp_path / "out.jsonl")] == ["b", "a"]
    run([tmp_path / "b.jsonl", tmp_path / "a.jsonl"], tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.jsonl", "b.jsonl"]


def test_forgotten_ngrams_are_counted_and_reported(tmp_path: Path) -> None:
    documents = [{"text": " ".join(f"{number}.{word}" for word in range(50_000))} for number in range(40)]
    summary = run(jsonl(tmp_path / "in.jsonl", [*documents, documents[0]]), tmp_path / "out.jsonl")
    assert summary.ngrams_forgotten > 0 and summary.documents_out == 41
    assert "dedup.table_bytes=33554432" in dedup.describe(
        summary, dedup.options("paragraph", "", config.DedupOptions(table_bytes=16 << 20))
    )


def test_json_as_python_writes_it_is_read(tmp_path: Path) -> None:
    same = text()
    (tmp_path / "in.jsonl").write_text(f'\ufeff{{"score": NaN, "text": "\\ud83d {same}"}}\n\n{{"text": "{same}"}}')
    run(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "in.jsonl").read_text().splitlines()[0] + "\n"


BROKEN: dict[str, tuple[bytes, str]] = {
    "cut.jsonl": (b'{"text": "a b"}\n{"text": "a', "line 2: not a JSON document"),
    "list.jsonl": (b'{"text": "a b"}\n\n["text"]\n', "line 3: a JSON document without 'paragraphs' or text"),
    "other.jsonl": (b'{"url": "http://a.example/"}\n', "line 1: a JSON document without 'paragraphs' or text"),
    "number.jsonl": (b'{"text": 7}\n', "line 1: a JSON document without 'paragraphs' or text"),
    "paragraphs.jsonl": (b'{"paragraphs": [7]}\n', "line 1: a JSON document without 'paragraphs' or text"),
    "words.jsonl": (b"just words\n", "line 1: 'just words' does not begin a jsonl file"),
    "latin.txt": (b"one\ntwo\n caf\xe9\n", "line 3: not UTF-8"),
    "latin.vert": (b"<doc>\n<p>\none\n</p>\n</doc>\n<doc>\n<p>\ncaf\xe9\n</p>\n</doc>\n", "line 8: not UTF-8"),
    "image.txt": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 1: not text"),
    "table.parquet": (b"PAR1\x15\x04", "line 1: not text"),
    "cut.jsonl.gz": (gzip.compress(b'{"text": "a b"}\n' * 3)[:-9], "the gzip data ends here"),
    "cut.vert.gz": (gzip.compress(vertical(DOCUMENTS).encode())[:-2000], "the gzip data ends here"),
    "bad.txt.gz": (b"\x1f\x8bnot gzip at all", "line 1: the gzip data ends here"),
    "cut.jsonl.zst": (zstandard.compress(b'{"text": "a b"}\n' * 3)[:-3], "the zstd data ends here"),
    "bad.txt.zst": (b"\x28\xb5\x2f\xfdnot zstd at all", "line 1: the zstd data ends here"),
    "packed.txt.bz2": (b"BZh91AY&SY some words", "line 1: not text"),
    "wrong.txt.gz": (gzip.compress(b"some words\n")[:-8] + b"\0" * 8, "the gzip data ends here"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_names_the_broken_or_foreign_file_and_its_line_and_leaves_no_output(tmp_path: Path, name: str) -> None:
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    jsonl(tmp_path / "good.jsonl", [{"text": text()}])
    output = tmp_path / ("out.txt" if name.endswith(".parquet") else "out")
    for inputs in ([tmp_path / name], [tmp_path / "good.jsonl", tmp_path / name]):
        with pytest.raises(ConfigError, match=message) as caught:
            run(inputs, output)
        assert f"{tmp_path / name}, line" in str(caught.value) and "\n" not in str(caught.value)
        assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in (name, "good.jsonl")] == []
    assert (tmp_path / name).read_bytes() == content


def test_an_output_that_would_change_an_input_is_refused(tmp_path: Path) -> None:
    one = jsonl(tmp_path / "one.jsonl", [{"text": text()}])
    (tmp_path / "more").mkdir()
    two = jsonl(tmp_path / "more" / "one.jsonl", [{"text": text()}])
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.txt").write_text(text())
    for inputs, output, message in (
        ([one], one, "would be overwritten"),
        ([one], tmp_path, "would be overwritten"),
        ([one, two], tmp_path / "out", "two input files have the name one.jsonl"),
        ([tmp_path / "more"], tmp_path / "more" / "out", "lies in the input"),
        ([tmp_path / "empty"], tmp_path / "out", "there are no document files"),
        ([one, tmp_path / "words.txt"], tmp_path / "out.jsonl", "several formats cannot be joined"),
    ):
        with pytest.raises(ConfigError, match=message):
            run(inputs, output)
    with pytest.raises(FileNotFoundError):
        run(tmp_path / "missing.jsonl", tmp_path / "out.jsonl")


@pytest.mark.parametrize(("level", "format"), [("sentence", ""), ("paragraph", "xml")])
def test_an_unknown_level_or_format_is_refused(level: str, format: str) -> None:
    with pytest.raises(ConfigError, match="is unknown; it must be one of"):
        dedup.options(level, format, config.DedupOptions())


def test_a_failed_run_leaves_no_directories(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    jsonl(tmp_path / "in" / "a.jsonl", [{"text": text(30)}])
    (tmp_path / "in" / "deep" / "b.jsonl").write_text("{\n")
    with pytest.raises(ConfigError, match=r"b\.jsonl, line 1: not a JSON document"):
        run(tmp_path / "in", tmp_path / "new" / "out")
    assert not (tmp_path / "new").exists()
    (tmp_path / "there").mkdir()
    with pytest.raises(ConfigError, match=r"b\.jsonl, line 1: not a JSON document"):
        run(tmp_path / "in", tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


def test_existing_files_are_replaced_only_with_force(tmp_path: Path) -> None:
    given = jsonl(tmp_path / "in.jsonl", [{"text": text(30)}])
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(
        ConfigError, match=r"out\.jsonl already exists; name another output, or replace it with --force"
    ):
        dedup.plan([given], tmp_path / "out.jsonl")
    assert dedup.plan([given], tmp_path / "out.jsonl", force=True) == [FilePlan(tmp_path / "out.jsonl", (given,))]
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "other.jsonl").touch()
    assert dedup.plan([given], tmp_path / "into") == [FilePlan(tmp_path / "into" / "in.jsonl", (given,))]


def command(*arguments: object) -> crashing.Result:
    return crashing.run(list(map(str, arguments)))


def test_the_command_prints_its_summary_as_json_and_fails_in_one_sentence(tmp_path: Path) -> None:
    given = jsonl(tmp_path / "in.jsonl", [{"text": "\n".join(paragraphs)} for paragraphs in DOCUMENTS])
    done = command("dedup", given, "-o", tmp_path / "out.jsonl", "--json", "--set", "dedup.table_bytes=16777216")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert (summary["documents_in"], summary["documents_out"]) == (300, len(LEFT)) and summary["tokens_removed"] > 0
    more = command("dedup", given, "-o", tmp_path / "more.jsonl", "--json", "--set", "dedup.max_seen=0.5")
    assert json.loads(more.out)["documents_out"] < len(LEFT)
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{')
    failed = command("dedup", given, "-o", tmp_path / "out.jsonl", "--force")
    assert failed.code == 2 and failed.err.count("\n") == 1 and f"{given}, line 2: " in failed.err
    assert len(lines(tmp_path / "out.jsonl")) == len(LEFT)


@pytest.mark.parametrize("name", ["a.jsonl", "a.vert", "a.txt", "a.jsonl.gz", "a.jsonl.zst"])
def test_an_empty_file_gives_an_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    summary = run(tmp_path / name, tmp_path / f"out-{name}")
    written = (tmp_path / f"out-{name}").read_bytes()
    unpack = {".gz": gzip.decompress, ".zst": zstandard.decompress}.get(Path(name).suffix, bytes)
    assert unpack(written) == b""
    assert (summary.files, summary.documents_in, summary.tokens_in) == (1, 0, 0)


STORY = "the wind goes over the field and the mill turns slowly while the miller waits for the evening to come"
OWN = (
    "a line of its own that nobody else has written so far, "
    "long enough not to be taken for a rest between two copies of a story"
)
COPIED = (
    Sample(
        "http://a.example.org/1",
        "eng",
        (OWN, STORY),
        "A",
        signals=(Signal("meta", "license", "x"),),
    ),
    Sample("http://b.example.org/2", "eng", (STORY, text(30)), "B", heading=True),
    Sample("http://c.example.org/3", "eng", (STORY,), "C"),
    Sample("http://d.example.org/4", "deu", (text(30),), "D"),
)


def test_the_corpus_of_a_crawl_comes_out_as_a_corpus(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", COPIED)
    before = {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()}
    done = command("dedup", crawl, "-o", tmp_path / "clean", "--json", "--set", "dedup.table_bytes=16777216")
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert (summary["documents_in"], summary["documents_out"], summary["paragraphs_removed"]) == (4, 3, 2)
    assert {path: path.read_bytes() for path in crawl.rglob("*") if path.is_file()} == before
    found = list(reader.documents(tmp_path / "clean"))
    german, first, second = found
    assert [one.title for one in found] == ["D", "A", "B"]
    assert german == next(reader.documents(crawl / "corpus" / "deu"))
    assert [one.text for one in first.paragraphs] == list(COPIED[0].texts) and first.signals == COPIED[0].signals
    assert [one.text for one in second.paragraphs] == [COPIED[1].texts[1]]
    whole = list(reader.documents(crawl / "corpus" / "eng"))[1]
    assert second == msgspec.structs.replace(whole, paragraphs=whole.paragraphs[1:])


def test_uncommitted_documents_are_not_read(tmp_path: Path) -> None:
    crawl = samples.crawl(tmp_path / "crawl", COPIED)
    with (crawl / "corpus" / "eng" / "n0-00000.jsonl.gz").open("ab") as file:
        file.write(gzip.compress(samples.line(COPIED[0], 9))[:40])
    done = command("dedup", crawl, "-o", tmp_path / "clean", "--json", "--set", "dedup.table_bytes=16777216")
    assert done.code == 0, done.err
    assert json.loads(done.out)["documents_in"] == 4


def test_a_corpus_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.jsonl"
    path.write_bytes(samples.line(COPIED[0], 0) + samples.line(COPIED[1], 1).replace(b'"format":1', b'"format":2'))
    done = command("dedup", path, "-o", tmp_path / "out.jsonl")
    assert done.code == 2
    assert f"{path}, line 2: a document of format 2, made by a newer Windrow" in done.err
    assert os.listdir(tmp_path) == ["newer.jsonl"]


def test_documents_on_a_takedown_list_are_not_read(tmp_path: Path) -> None:
    texts = [text(40) for _ in range(5)]
    jsonl = [
        json.dumps({"url": f"http://{host}/1", "text": body})
        for host, body in zip(("a.test", "b.test", "x.a.test"), texts, strict=False)
    ]
    jsonl.append(json.dumps({"text": texts[3], "metadata": {"url": "https://a.test/2"}}))
    jsonl.append(json.dumps({"text": texts[4]}))
    (tmp_path / "in.jsonl").write_text("\n".join(jsonl) + "\n")
    markup = [
        f'<doc id="1" url="http://{host}/?a=1&amp;b=2">\n<p>\n{text(40)}\n</p>\n</doc>\n'
        for host in ("a.test", "c.test")
    ]
    (tmp_path / "in.prevert").write_text("".join(markup))
    (tmp_path / "list.txt").write_text("a.test\n")
    inputs = [tmp_path / "in.jsonl", tmp_path / "in.prevert"]
    plans = dedup.plan(inputs, tmp_path / "out")
    listed = dedup.listed(inputs, tmp_path / "list.txt")
    summary = dedup.run(plans, dedup.options("paragraph", "", config.DedupOptions(), listed), lambda count: None)
    assert (tmp_path / "out" / "in.jsonl").read_text().splitlines() == [jsonl[1], jsonl[4]]
    assert (tmp_path / "out" / "in.prevert").read_text() == markup[1]
    assert (summary.documents_listed, summary.documents_in, summary.documents_out) == (4, 3, 3)
    assert "documents on the takedown list, not read: 4" in dedup.describe(
        summary, dedup.options("paragraph", "", config.DedupOptions())
    )


def crawl_of(directory: Path, found: list[tuple[str, str]]) -> Path:
    """Make a crawl with these documents: URL and text."""
    return samples.crawl(directory, [Sample(url, "eng", (words,)) for url, words in found])


def test_of_two_crawls_each_page_is_kept_once_and_names_its_crawl(tmp_path: Path) -> None:
    same, old, new, other = text(60), text(60), text(60), text(60)
    one = crawl_of(tmp_path / "one", [("http://a.example/", same), ("http://b.example/", old)])
    pages = [("http://b.example/", new), ("http://copy.example/", same), ("http://c.example/", other)]
    two = crawl_of(tmp_path / "two", pages)
    summary = run([one, two], tmp_path / "out.jsonl")
    found = lines(tmp_path / "out.jsonl")
    assert [(each["url"], each["place"]["crawl"]) for each in found] == [
        ("http://a.example/", "one"),
        ("http://b.example/", "one"),
        ("http://c.example/", "two"),
    ]
    assert (summary.documents_in, summary.documents_out, summary.documents_repeated) == (5, 3, 1)
    assert (summary.tokens_in, summary.tokens_out) == (300, 180)
    assert "1 page of a later crawl removed" in dedup.describe(
        summary, dedup.options("paragraph", "", config.DedupOptions())
    )


def test_the_list_of_a_crawl_holds_for_its_shards(tmp_path: Path) -> None:
    crawl = tmp_path / "crawl"
    (crawl / "corpus" / "deu").mkdir(parents=True)
    (crawl / "crawl.toml").write_text("")
    (crawl / "takedown.txt").write_text("a.test\n")
    shard = crawl / "corpus" / "deu" / "n0-00000.jsonl"
    for inputs in ([crawl], [crawl / "corpus"], [shard]):
        assert dedup.listed(inputs, None).covers("http://a.test/")


def test_a_takedown_list_cannot_be_applied_to_plain_text(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("some words\n")
    (tmp_path / "list.txt").write_text("a.test\n")
    listed = dedup.listed([], tmp_path / "list.txt")
    plans = dedup.plan([tmp_path / "in.txt"], tmp_path / "out.txt")
    with pytest.raises(ConfigError, match="plain text has no URLs"):
        dedup.run(plans, dedup.options("paragraph", "", config.DedupOptions(), listed), lambda count: None)
    assert not (tmp_path / "out.txt").exists()


def test_the_files_of_two_crawls_keep_their_names_below_the_name_of_their_crawl(tmp_path: Path) -> None:
    one = crawl_of(tmp_path / "one", [("http://a.example/", text(60))])
    two = crawl_of(tmp_path / "two", [("http://b.example/", text(60))])
    run([one, two], tmp_path / "out")
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.gz"))
    assert names == ["one/eng/n0-00000.jsonl.gz", "two/eng/n0-00000.jsonl.gz"]


def test_a_page_of_a_later_crawl_leaves_nothing_in_the_table(tmp_path: Path) -> None:
    words = text(60)
    one = crawl_of(tmp_path / "one", [("http://a.example/", text(60))])
    two = crawl_of(tmp_path / "two", [("http://a.example/", words), ("http://new.example/", words)])
    run([one, two], tmp_path / "out.jsonl")
    assert [each["url"] for each in lines(tmp_path / "out.jsonl")] == ["http://a.example/", "http://new.example/"]


def test_an_export_directory_is_read_as_its_documents(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path / "crawl", [("http://a.example/", text(60)), ("http://b.example/", text(60))])
    export_options = write.ExportOptions(inputs=(crawl,), output=tmp_path / "out", format="jsonl")
    write.run(export_options, write.find(export_options), lambda count: None)
    summary = run(tmp_path / "out", tmp_path / "clean")
    assert (summary.files, summary.documents_out) == (1, 2)
