"""An order to a job, as Redis keeps it: every shard carries it out once, in the order of the numbers."""

import msgspec


class ClusterOrder(msgspec.Struct, frozen=True):
    """An order and its number."""

    number: int
    kind: str  # a verb of `windrow.orders`
    content: str  # its values, one per line
    hosts: tuple[str, ...] = ()  # "retry": only on these hosts and all below them; empty: on all


class _Content(msgspec.Struct, omit_defaults=True):
    kind: str
    content: str
    hosts: tuple[str, ...] = ()


def encode(order: ClusterOrder) -> bytes:
    """Return an order without its number, by which Redis finds it."""
    return msgspec.json.encode(_Content(order.kind, order.content, order.hosts))


def decode(number: int, data: bytes | None) -> ClusterOrder | None:
    """Return the order of this number; None if it was removed, or is of another program."""
    try:
        content = msgspec.json.decode(data or b"", type=_Content)
    except ValueError:
        return None
    return ClusterOrder(number, content.kind, content.content, content.hosts)
