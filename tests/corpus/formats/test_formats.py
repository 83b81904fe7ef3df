"""The table of formats, and formats of the user's own."""

import io
import sys
from pathlib import Path

import pytest

from tests.corpus.formats.encoded import OPTIONS, read
from tests.corpus.samples import SAMPLES
from windrow.config import ConfigError
from windrow.corpus import formats
from windrow.corpus.formats.format import Format, Item, each

OWN = """
from windrow.corpus.formats import Format, each

def row(item, options):
    return f"{item.number} {item.dump} {item.document.url}\\n".encode()

rows = Format(".rows.gz", each(row, header=b"number dump url\\n", footer=b"end\\n"))
word = "rows"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "my_formats.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_formats", raising=False)
    return "my_formats"


def test_a_built_in_format_is_found_by_its_name() -> None:
    assert all(formats.find(name, {}) is format for name, format in formats.FORMATS.items())


def test_a_format_of_the_users_own_is_found_by_its_reference(module: str) -> None:
    format = formats.find(f"{module}:rows", {})
    assert isinstance(format, Format) and format.suffix == ".rows.gz"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "xml",
            "--format names 'xml', which is not a reference; write \"package.module:name\" for your own code; "
            "the known names are jsonl, prevertical, vertical, text, markdown, parquet",
        ),
        ("", "--format names '', which is not a reference"),
        ("my_formats:columns", "defines no 'columns'"),
        ("no_such_module:rows", "there is no module 'no_such_module'"),
        ("my_formats:word", "--format my_formats:word is a str; it must be a windrow.corpus.formats.Format"),
    ],
)
def test_an_unknown_format_is_refused(module: str, name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        formats.find(name, {})
    assert message in str(caught.value)


def test_a_format_may_have_a_header_and_a_footer() -> None:
    stream = io.BytesIO()
    encoder = each(lambda item, options: item.line, header=b"<all>\n", footer=b"</all>\n")(stream, OPTIONS)
    assert encoder.add(Item(read(SAMPLES[0]), b"one\n", 1, "crawl")) == 4
    encoder.close()
    assert stream.getvalue() == b"<all>\none\n</all>\n"


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_format_writes_to_any_stream(name: str) -> None:
    stream = io.BytesIO()
    encoder = formats.find(name, {}).open(stream, OPTIONS)
    assert encoder.add(Item(read(SAMPLES[0]), b"{}\n", 1, "crawl")) > 0
    encoder.close()
    assert stream.getvalue()


def test_a_format_of_the_users_own_has_options_and_wraps_one_of_ours(module: str, tmp_path: Path) -> None:
    (tmp_path / "wrapped_formats.py").write_text(
        "import msgspec\n"
        "def renamed(options, inner):\n"
        "    return msgspec.structs.replace(inner, suffix=options['suffix'])\n"
    )
    name = f"{tmp_path}/wrapped_formats:renamed"
    assert formats.find(name, {"renamed": {"suffix": ".x"}}).suffix == ".x"
    sections = {"mine": {"use": name, "suffix": ".y", "inner": "text"}}
    made = formats.find("mine", sections)
    assert (made.suffix, made.suffixes) == (".y", formats.FORMATS["text"].suffixes)
