"""What a crawl would have been, had it kept to domains of a certain yield: SpiderLing's table, over any crawl."""

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec

from windrow.config import ConfigError
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import YieldAccount as Account
from windrow.frontier.policy.budget import YieldRule as Rule

# The thresholds of Suchomel and Pomikálek (2012), table 1; -inf is "none": every domain is above it.
LADDER = (
    -math.inf,
    0.0,
    0.0001,
    0.0002,
    0.0004,
    0.0008,
    0.0016,
    0.0032,
    0.0064,
    0.0128,
    0.0256,
    0.0512,
    0.1024,
    0.2048,
    0.4096,
)


class Row(msgspec.Struct, frozen=True):
    """The domains with a yield above a threshold, and all that came from them."""

    threshold: float | None  # None: no threshold
    domains: int
    downloaded: int  # bytes
    kept: int  # bytes
    rate: float = msgspec.field(name="yield")


def table(accounts: Iterable[Account], ladder: Sequence[float], rule: Rule) -> list[Row]:
    """One row for each threshold. The rule says by which yield a domain is judged; a row's own is that of all its bytes."""
    ranked = sorted(
        ((budget.rate(account, rule), account.downloaded, account.kept) for account in accounts), reverse=True
    )
    falling = [-rate for rate, _, _ in ranked]
    downloaded = [0, *itertools.accumulate(entry[1] for entry in ranked)]
    kept = [0, *itertools.accumulate(entry[2] for entry in ranked)]
    rows = []
    for threshold in ladder:
        above = bisect.bisect_left(falling, -threshold)
        shown = None if math.isinf(threshold) else threshold
        rows.append(Row(shown, above, downloaded[above], kept[above], ratio(kept[above], downloaded[above])))
    return rows


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def ladder(text: str) -> tuple[float, ...]:
    """Thresholds as a user writes them: "none, 0, 0.01"."""
    words = [word.strip() for word in text.split(",")]
    try:
        steps = {float(word) for word in words if word != "none"}
    except ValueError:
        steps = {math.nan}
    if not all(0 <= step < math.inf for step in steps):
        raise ConfigError(
            f"--ladder {text!r} is not a list of yields; write numbers from 0 on, and none for no threshold: none,0,0.01,0.1"
        )
    return (*([-math.inf] if "none" in words else []), *sorted(steps))
