"""A small corpus of a crawl: a few documents in several languages, from several hosts."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests import logs
from windrow import config
from windrow.corpus import document
from windrow.corpus.document import Source
from windrow.corpus.shards import Shards
from windrow.records import Frame, Page, Paragraph, Place, Signal

WARC = "warc/WINDROW-n0-20261115104421-00000.warc.gz"


class Sample(msgspec.Struct, frozen=True):
    url: str
    language: str
    texts: tuple[str, ...]
    title: str = ""
    date: str = ""
    time: float = 1794739461.123
    scores: dict[str, float] = msgspec.field(default_factory=lambda: {"language": 0.75})
    signals: tuple[Signal, ...] = ()
    heading: bool = False  # whether the first paragraph is a heading
    languages: tuple[str, ...] = ()  # of the paragraphs; empty: all have the document's
    author: str = ""
    licence: str = ""
    site: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    image: str = ""
    digest: str = "ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4"


SAMPLES = (
    Sample(
        "http://www.wind.example.de/mühle?a=1&b=2".replace("ü", "%C3%BC"),
        "deu",
        ("Die Mühle", 'Er sagte: "Wind & Wetter" <hier>.'),
        'Alte "Mühlen" & <Wind>',
        "2020-05-04",
        heading=True,
    ),
    Sample(
        "http://pole.example.cz/",
        "ces",
        ("Pole je široké.", "Vítr vane od západu."),
        "Pole",
        "2019-01-31",
        1794739461.123 + 86400,
        site="Pole a větry",
        description="O větru.",
        tags=("vítr", "pole"),
        image="http://pole.example.cz/obraz.png",
    ),
    Sample(
        "https://news.example.co.uk/story",
        "eng",
        ("The wind doesn't stop.", "Il vento soffia."),
        languages=("eng", "ita"),
        signals=(Signal("robots.txt", "train-ai", "n", "content-usage"),),
    ),
    Sample(
        "http://blog.example.co.uk/post",
        "eng",
        ("A second story of fields.",),
        scores={"language": 0.99, "quality": 0.5},
        signals=(Signal("meta", "none", "", "robots"),),
    ),
    Sample("http://192.0.2.7/kasten", "deu", ("Ein Kasten steht im Feld.",), scores={"language": 0.5}),
    Sample(
        "http://zh.example.org/",
        "zho",
        ("風吹過田野。",),
        signals=(Signal("meta", "license", "https://l.example/by", "rel=license"),),
    ),
)


def line(sample: Sample, number: int) -> bytes:
    paragraphs = [
        Paragraph(text, "good", sample.heading and not at, "", "short" if sample.heading and not at else "good")
        for at, text in enumerate(sample.texts)
    ]
    page = Page(
        title=sample.title,
        date=sample.date,
        charset="utf-8",
        language=sample.language[:2],
        author=sample.author,
        licence=sample.licence,
        site=sample.site,
        description=sample.description,
        tags=sample.tags,
        image=sample.image,
    )
    draft = document.draft(
        page, paragraphs, sample.language, sample.languages or [sample.language] * len(sample.texts), sample.signals
    )
    name = f"<urn:uuid:00000000-0000-4000-8000-{number:012}>"
    place = Place(WARC, 1000 * number, 900)
    return document.line(
        draft,
        Source(
            id=name,
            url=sample.url,
            time=sample.time,
            ip="192.0.2.1",
            place=place,
            digest=sample.digest,
            language=sample.language,
            scores=sample.scores,
        ),
    )


def crawl(directory: Path, samples: Sequence[Sample] = SAMPLES, committed: bool = True) -> Path:
    """Make a crawl directory with these documents; `committed`: with a log that commits them."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "crawl.toml").write_text("")
    with contextlib.closing(Shards(directory, config.CorpusOptions(), "n0")) as shards:
        for number, sample in enumerate(samples):
            shards.append(sample.language, line(sample, number))
        lengths = shards.flush()
    if committed:
        logs.write(directory / "log", Frame(1, 1000.0, (), lengths))
    return directory
