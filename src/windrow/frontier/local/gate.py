"""Addresses that several shards of a crawl have hosts at: only the holder of an address may send requests to it."""

from typing import Protocol


class Gate(Protocol):
    """Asks for addresses and gives them back. `LocalFrontier.addresses` hears what was granted and lost.

    Addresses have no port. Nothing here waits: who implements it talks to the other shards beside the crawl.
    """

    def set_delay(self, seconds: float) -> None: ...  # of an address, when an order has changed it
    def want(self, address: str) -> float | None: ...  # when it may be used; None: it will be granted; may be repeated
    def give(self, address: str, last: float) -> None: ...  # last: when its last request ended; 0: none
    def wanted(self, address: str) -> bool: ...  # whether an address that we hold should be given: others wait
