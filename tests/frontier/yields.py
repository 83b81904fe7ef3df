"""Pages with and without text, and the yield rule that the tests of retirement share."""

from tests.frontier import ledger as ledgers
from tests.frontier.hand import Hand
from tests.frontier.ledger import Ledger
from tests.frontier.simulation import task
from windrow.records import Lease, Task, Url

POOR = {"downloaded": 1000, "kept": 0}
RICH = {"downloaded": 1000, "kept": 500}
RULE = {"delay": 0.0, "order": "breadth", "yield_threshold": "0.1,0", "grace_pages": 3, "grace_bytes": 3000}


def url(text: str) -> Url:
    return task(text).url


def ledger(crawl: Hand, domain: str = "a.org") -> Ledger:
    account = ledgers.of(crawl.store, domain)
    assert account is not None
    return account


def serve_some(crawl: Hand, lease: Lease, count: int, **fields: int) -> None:
    """Acknowledge the first pages of a lease; the others stay in flight."""
    for each in lease.tasks[:count]:
        crawl.ack(each, **fields)


def rest(lease: Lease, count: int) -> tuple[Task, ...]:
    return lease.tasks[count:]
