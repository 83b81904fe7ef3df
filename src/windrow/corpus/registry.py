"""The registry file of a vertical: by it, Manatee compiles the corpus for (No)Sketch Engine."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from windrow.corpus.formats import markup

DIRECTORY = "registry"

_HEAD = """\
# Registry file of Manatee. After the directory was moved, change PATH and VERTICAL.
NAME "{name}"
PATH "{output}/manatee/{file}"
VERTICAL "| zcat {shell}/{pattern}"
ENCODING "UTF-8"
{language}DOCSTRUCTURE "doc"
DEFAULTATTR "word"
SHORTREF "=doc.url"

ATTRIBUTE word
ATTRIBUTE lc {{
    LABEL "word (lowercase)"
    DYNAMIC utf8lowercase
    DYNLIB internal
    ARG1 "C"
    FUNTYPE s
    FROMATTR word
    TYPE index
    TRANSQUERY yes
}}
"""
_GLUE = """\
STRUCTURE g {
    DISPLAYTAG 0
    DISPLAYBEGIN "_EMPTY_"
}
"""


def file_name(name: str) -> str:
    """Return the name of a corpus as Manatee's commands take it: small letters, digits and underscores."""
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_") or "corpus"


def registry(name: str, output: Path, pattern: str, language: str, places: bool) -> str:
    """`output`: the directory of the export; `pattern`: of its files; `language`: English name, "" for several."""
    head = _HEAD.format(
        name=_value(name),
        file=file_name(name),
        output=_value(str(output)),
        shell=_value(shlex.quote(str(output))),
        pattern=pattern,
        language=f'LANGUAGE "{_value(language)}"\n' if language else "",
    )
    doc = (*markup.DOC, *(markup.PLACE if places else ()))
    return "\n".join([head, _structure("doc", doc), _structure("p", markup.P), "STRUCTURE s", _GLUE])


def _structure(name: str, attributes: Sequence[str]) -> str:
    """A missing attribute gets the empty value; Manatee's own default is the text "===NONE==="."""
    lines = [f'    ATTRIBUTE {attribute} {{\n        DEFAULTVALUE ""\n    }}' for attribute in attributes]
    return "\n".join([f"STRUCTURE {name} {{", *lines, "}"])


def _value(text: str) -> str:
    return text.replace('"', "'")
