"""The nodes that are alive, as a node sees them once per second."""

from windrow.nodes.redis.changes import ChangingHash
from windrow.nodes.redis.keys import NODES
from windrow.nodes.redis.registry import REMEMBERED, NodeRecord, Registry, node_of


class LivingNodes:
    """Reads only the records that have changed."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._records = ChangingHash(registry.client, NODES, _entry)

    async def look(self) -> list[NodeRecord]:
        """Return the nodes that are alive, by name. Those that vanished long ago are removed."""
        silent = await self._registry.silent()
        for name in [name for name, seconds in silent.items() if seconds > REMEMBERED]:
            await self._registry.remove(name)
        records = await self._records.look()
        return [records[name] for name in sorted(records) if name not in silent and not records[name].left]


def _entry(name: bytes, data: bytes) -> tuple[str, NodeRecord] | None:
    record = node_of(data)
    return (name.decode("utf-8", "replace"), record) if record is not None else None
