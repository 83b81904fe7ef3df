"""The Declaration of Human Rights as test text: twelve translations in the package, all of them in ../shared."""

import functools
import html
import re
import tarfile
from pathlib import Path

from windrow.demo import declaration


def shipped(language: str) -> list[str]:
    """Return the paragraphs of the translation into a language, given by its two-letter code."""
    return [paragraph for section in declaration.load(language).sections for paragraph in section.paragraphs]


@functools.cache
def translations(archive: Path) -> dict[str, list[list[str]]]:
    """Return articles of paragraphs by the name of the translation ("ces", "srp_latn"); the first is the preamble."""
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.endswith(".html"):
                handle = tar.extractfile(member)
                assert handle is not None
                found[Path(member.name).stem] = _articles(handle.read().decode())
    return found


def _articles(page: str) -> list[list[str]]:
    parts = re.split(r"<h[23]", page)[1:]
    articles = [[_plain(paragraph) for paragraph in re.findall(r"<p>(.*?)</p>", part, re.DOTALL)] for part in parts]
    return [[paragraph for paragraph in article if paragraph] for article in articles if any(article)]


def _plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", "", markup)).split())
