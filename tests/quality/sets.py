"""The pages with gold texts on which extraction is measured."""

from tests.shared import shared
from windrow.extraction.evaluation import gold
from windrow.extraction.evaluation.gold import Sample

WHOLE = ("newspaper-ds", "readability", "wcxb-dev", "zh-news", "zh-web")  # whole gold texts, not passages


def samples(dataset: str, every: int = 1) -> list[Sample]:
    return list(gold.samples(shared(f"extraction/{dataset}.tar.xz")))[::every]
