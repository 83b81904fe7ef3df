"""The account of a domain, as the frontier keeps it in the row of the domain."""

from typing import NamedTuple

from tests.frontier.simulation import local
from windrow.frontier import DurableFrontier
from windrow.frontier.policy import budget
from windrow.frontier.store.rows import REASONS
from windrow.records import Reason


class Ledger(NamedTuple):
    domain: str
    pages: int  # responses
    downloaded: int  # bytes
    kept: int  # bytes
    admitted: int  # URLs
    hosts: int
    closed: Reason | None
    clean: int  # bytes
    primary: int  # bytes
    yields: float  # of its pages, summed


def of(store: DurableFrontier, domain: str) -> Ledger | None:
    """Return the account of a domain; None if no URL of it was admitted."""
    row = local(store).rows.domain(domain)
    if row is None or not row.urls:
        return None
    return Ledger(
        domain=row.name,
        pages=row.pages,
        downloaded=row.downloaded,
        kept=row.kept,
        admitted=row.urls,
        hosts=row.hosts,
        closed=REASONS[row.closed - 1] if row.closed else None,
        clean=row.clean,
        primary=row.primary,
        yields=row.yields / budget.PAGE,
    )
