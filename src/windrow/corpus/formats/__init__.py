"""The formats of document files: FORMATS, one row each.

`windrow export` writes all of them: it opens a format over an output file (`Format.open`) and hands it one document at
a time. `windrow dedup` reads those that have a `read`: a reader yields each document's paragraphs and its bytes, and
can write the document back without some paragraphs. A document that loses no paragraph comes out byte for byte as it
went in.

To add a format, write a file here and a row below. A format of the user's own needs neither: `--format
package.module:name` names a `Format` anywhere on Python's path.
"""

from windrow import plugins
from windrow.config import ConfigError
from windrow.corpus.formats import jsonl, markdown, markup, parquet, prevertical, text, vertical
from windrow.corpus.formats.format import Format, each

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


def find(name: str) -> Format:
    """Return the format of this name, or the user's own: "package.module:name". ConfigError: there is none."""
    if name in FORMATS:
        return FORMATS[name]
    if ":" not in name:
        raise ConfigError(
            f"--format {name!r} is unknown; use {', '.join(FORMATS)}, or package.module:name for a format of your own"
        )
    found = plugins.load(name, "--format")
    if not isinstance(found, Format):
        raise ConfigError(f"--format {name} is a {type(found).__name__}; it must be a windrow.corpus.formats.Format")
    return found
