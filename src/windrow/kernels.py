"""Which C kernels are built. Without a kernel its reference implementation in Python runs: same results, more time."""

import importlib

KERNELS = {  # name -> module
    "walk": "windrow.extract.walk._walk",
    "structure": "windrow.extract.walk._structure",
    "anchors": "windrow.extract.anchors._anchors",
    "blocks": "windrow.extract.blocks._blocks",
    "tags": "windrow.extract.tags._tags",
    "records": "windrow.archive._records",
    "skim": "windrow.archive._skim",
    "ngrams": "windrow.dedup._ngrams",
    "shape": "windrow.judge._shape",
    "features": "windrow.frontier.policy._features",
    "query": "windrow.judge.focus._query",
}


def missing() -> list[str]:
    """Return the names of the kernels that cannot be imported."""
    return [name for name, module in KERNELS.items() if not _built(module)]


def _built(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
