"""Documents in the order of a score, the best first, in bounded memory: their lines are sorted in temporary files."""

import struct
from collections.abc import Iterable, Iterator

from windrow.config import ConfigError
from windrow.corpus import document as documents
from windrow.jobs.engine.runs import RUN, SortedLines
from windrow.jobs.inputs.selection import Selected

LOWER_IS_BETTER = frozenset(
    "perplexity perplexity_windows ratio odds digits symbols repeated_lines repeated_words near_duplicates doubtful "
    "soft404".split()
)
_SIGN = 1 << 63
_LAST = b"z"  # behind every number in hexadecimal digits


def ordered(selected: Iterable[Selected], score: str, run: int = RUN) -> Iterator[Selected]:
    """Yield the documents by a score; those without it come last, and equal ones in the order in which they came.

    ConfigError: no document has the score. `run`: bytes of lines in memory.
    """
    seen: set[str] = set()
    with SortedLines(run) as lines:
        for number, item in enumerate(selected):
            seen.update(item.document.scores)
            key = _key(item.document.scores.get(score), score in LOWER_IS_BETTER)
            lines.add(b"%b %012d %b\t%b\n" % (key, number, item.dump.encode(), item.line.rstrip(b"\n")))
        if seen and score not in seen:
            raise ConfigError(f"--sort {score}: no document has this score; the scores are {', '.join(sorted(seen))}")
        for text in lines:
            head, _, line = text.partition(b"\t")
            dump = head.split(b" ", 2)[2].decode()
            yield Selected(documents.read(line, "a sorted document"), line, dump)


def _key(value: float | None, rising: bool) -> bytes:
    """Return digits that sort like the number."""
    if value is None:
        return _LAST
    (bits,) = struct.unpack(">Q", struct.pack(">d", (value if rising else -value) + 0.0))  # -0.0 becomes 0.0
    return b"%016x" % (bits ^ _SIGN if not bits & _SIGN else bits ^ (2 * _SIGN - 1))
