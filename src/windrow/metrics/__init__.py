"""Metrics: numbers of a crawl for Prometheus and other monitoring.

In: counts of a running crawl (`crawler/metrics.py`), or of its log (`inspect/metrics.py`). Out: the text formats of
Prometheus and OpenMetrics. `names.py` is the list of all metrics, `families.py` writes them, `endpoint.py` serves them
over HTTP. Nothing here knows a crawl: a callable gives the families at each request, so a crawl that nobody scrapes
computes none.

Every sample has the label `crawl`, and in a divided crawl also `shard`, so that the numbers of several crawls, shards
and machines can be in one database, and in one answer.
"""

from pathlib import Path

from windrow.metrics.families import Family as Family
from windrow.metrics.families import Histogram as Histogram
from windrow.metrics.families import by as by
from windrow.metrics.families import by_several as by_several
from windrow.metrics.families import joined as joined
from windrow.metrics.families import labelled as labelled
from windrow.metrics.families import single as single
from windrow.metrics.families import text as text
from windrow.metrics.names import METRICS as METRICS


def labels_of(directory: Path) -> dict[str, str]:
    """Return the labels of a crawl directory: its name; of a shard, the name of the whole crawl and its number."""
    path = directory.resolve()
    home = path.parent.parent
    if path.parent.name == "shards" and (home / "job.json").exists():
        return {"crawl": _valid(home.name), "shard": _valid(path.name)}
    return {"crawl": _valid(path.name)}


def _valid(name: str) -> str:
    """Return the name of a file as valid Unicode."""
    return name.encode("utf-8", "replace").decode()
