"""Which C kernels are built. Without a kernel its reference implementation in Python runs: same results, more time."""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

KERNELS = {  # name -> module
    "walk": "windrow.extraction.walk._walk",
    "structure": "windrow.extraction.walk._structure",
    "anchors": "windrow.extraction.page.anchors._anchors",
    "blocks": "windrow.extraction.main.blocks._blocks",
    "tags": "windrow.extraction.tags._tags",
    "records": "windrow.archive._records",
    "ngrams": "windrow.dedup._ngrams",
    "shape": "windrow.judge._shape",
    "features": "windrow.frontier.policy._features",
    "query": "windrow.judge.focus._query",
}


def missing() -> list[str]:
    """Return the names of the kernels that cannot be imported."""
    return [name for name, module in KERNELS.items() if not _built(module)]


def _built(name: str) -> bool:
    """Load a kernel without the packages around it: to import them takes half the time in which a crawl starts."""
    if name in sys.modules:
        return sys.modules[name] is not None
    place = Path(__file__).parent.joinpath(*name.split(".")[1:-1])
    spec = PathFinder.find_spec(name, [str(place)])
    try:
        return spec is not None and importlib.util.module_from_spec(spec) is not None
    except ImportError:  # of another Python, or damaged
        return False
    finally:
        sys.modules.pop(name, None)  # its package, which is not imported yet, does not know it
