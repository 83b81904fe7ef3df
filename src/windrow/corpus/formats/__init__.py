"""The formats of document files: FORMATS, one row each.

`windrow export` writes all of them: it opens a format over an output file (`Format.open`) and hands it one document at
a time. `windrow dedup` reads those that have a `read`: a reader yields each document's paragraphs and its bytes, and
can write the document back without some paragraphs. A document that loses no paragraph comes out byte for byte as it
went in.

To add a format, write a file here and a row below. A format of the user's own needs neither: `--format
package.module:name` names a `Format`, or a function that makes one, anywhere on Python's path.
"""

from collections.abc import Callable

from windrow import plugins
from windrow.config import ConfigError
from windrow.corpus.formats import jsonl, markdown, markup, parquet, prevertical, text, vertical
from windrow.corpus.formats.format import Format, each
from windrow.plugins import OpenTable, Sections

FORMATS = {
    "jsonl": Format(".jsonl.gz", each(jsonl.encode), read=jsonl.read, suffixes=(".jsonl", ".json", ".ndjson")),
    "prevertical": Format(
        ".prevert.gz",
        each(prevertical.encode),
        numbered=markup.BEGINNING,
        read=prevertical.read,
        suffixes=(".prevert", ".prevertical"),
    ),
    "vertical": Format(
        ".vert.gz",
        each(vertical.encode),
        numbered=markup.BEGINNING,
        read=vertical.read,
        suffixes=(".vert", ".vertical"),
    ),
    "text": Format(".txt.gz", each(text.encode), read=text.read, suffixes=(".txt", ".text")),
    "markdown": Format(".md.gz", each(markdown.encode)),
    "parquet": Format(".parquet", parquet.ParquetEncoder, columnar=True),
}


def _row(format: Format) -> Callable[[None, Format | None], Format]:
    return lambda options, inner: format


def find(name: str, sections: Sections) -> Format:
    """Return the format of this name, or the user's own. ConfigError: there is none. `sections`: of plug-ins."""
    table = OpenTable("--format", {name: _row(format) for name, format in FORMATS.items()}, inner="jsonl")
    made = plugins.build(table, name, sections, None)
    if not isinstance(made, Format):
        raise ConfigError(f"--format {name} is a {type(made).__name__}; it must be a windrow.corpus.formats.Format")
    return made
