"""Samples as the bytes of prevertical and vertical files."""

from tests.corpus import samples
from tests.corpus.samples import Sample
from windrow.corpus import document
from windrow.corpus.formats import prevertical, vertical
from windrow.corpus.formats.format import FormatOptions, Item
from windrow.judge.language import codes
from windrow.records import Document

OPTIONS = FormatOptions(codes.name)


def read(sample: Sample, number: int = 0) -> Document:
    return document.read(samples.line(sample, number), "here")


def as_prevertical(document: Document, number: int = 1, options: FormatOptions = OPTIONS) -> str:
    return prevertical.encode(Item(document, b"", number, "crawl"), options).decode()


def as_vertical(document: Document, number: int = 1, options: FormatOptions = OPTIONS) -> str:
    return vertical.encode(Item(document, b"", number, "crawl"), options).decode()
