import json
from typing import Any

import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES
from windrow.config import ConfigError
from windrow.corpus import document
from windrow.corpus.formats import jsonl
from windrow.corpus.formats.format import FormatOptions, Item
from windrow.judge.language import codes


def read(number: int, style: str) -> dict[str, Any]:
    raw = samples.line(SAMPLES[number], number)
    item = Item(document.read(raw, "here"), raw, number, "crawl")
    line = jsonl.encode(item, FormatOptions(codes.name, style=style))
    assert line.endswith(b"}\n") and line.count(b"\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_style_datatrove_has_text_id_and_metadata() -> None:
    found = read(0, "datatrove")
    assert list(found) == ["text", "id", "metadata"]
    assert found["text"] == 'Die Mühle\nEr sagte: "Wind & Wetter" <hier>.'
    assert found["id"] == "<urn:uuid:00000000-0000-4000-8000-000000000000>"
    expected = {
        "url": SAMPLES[0].url,
        "date": "2026-11-15T10:44:21.123Z",
        "dump": "crawl",
        "file_path": samples.WARC,
        "language": "deu",
        "page_language": "deu",
    }
    assert expected | {"language_score": 0.75} == {
        name: found["metadata"][name] for name in (*expected, "language_score")
    }
    assert (found["metadata"]["host"], found["metadata"]["domain"], found["metadata"]["tld"]) == (
        "www.wind.example.de",
        "example.de",
        "de",
    )


def test_what_a_page_says_of_itself_is_text_in_every_document() -> None:
    names = ("site", "description", "tags", "image")
    found = {number: read(number, "both")["metadata"] for number in (0, 1)}
    assert [found[1][name] for name in names] == [
        *("Pole a větry", "O větru.", '["vítr","pole"]', "http://pole.example.cz/obraz.png"),
    ]
    assert [found[0][name] for name in names] == ["", "", "[]", ""]


def test_the_style_dolma_has_source_and_times_at_the_top() -> None:
    found = read(0, "dolma")
    assert list(found) == ["id", "text", "source", "added", "created", "metadata"]
    assert (found["source"], found["added"], found["created"]) == (
        "crawl",
        "2026-11-15T10:44:21.123Z",
        "2020-05-04T00:00:00.000Z",
    )
    assert read(2, "dolma")["created"] == "2026-11-15T10:44:21.123Z"


def test_the_style_both_has_the_members_of_both() -> None:
    assert set(read(2, "both")) == set(read(2, "datatrove")) | set(read(2, "dolma"))
    assert json.loads(read(2, "both")["metadata"]["signals"]) == [
        {"source": "robots.txt", "name": "train-ai", "value": "n", "field": "content-usage"}
    ]


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(ConfigError, match="both, datatrove, dolma, windrow"):
        jsonl.check_style("oscar")
