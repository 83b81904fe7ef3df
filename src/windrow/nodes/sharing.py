"""Whether nodes whose data directories have the same id see one directory.

The id is a file in the directory. So a copy has it too, for example that in the image of a machine which has been a
node. Shards that move to such a node would begin there again, empty, while their files are elsewhere. So each node
leaves a sign in its directory, and a new one looks for the signs of the others before it takes a shard.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from windrow import files
from windrow.config import ConfigError
from windrow.nodes.redis.registry import NodeRecord

SEEN = 60.0  # seconds in which a network file system shows a new file to all machines


def sign(directory: Path, node: NodeRecord) -> None:
    """Leave the sign of a node."""
    try:
        files.write(_place(directory, node), _text(node))
    except OSError as error:
        raise ConfigError(f"{directory} cannot be used for shards ({error.strerror}); give another --dir") from None


def remove(directory: Path, node: NodeRecord) -> None:
    with contextlib.suppress(OSError):
        _place(directory, node).unlink()


def strangers(directory: Path, own: NodeRecord, nodes: Iterable[NodeRecord]) -> list[NodeRecord]:
    """Return the nodes that announce the id of this directory, and whose signs are not in it."""
    same = [node for node in nodes if node.home == own.home and node.version == own.version and node.name != own.name]
    return [node for node in same if not _signed(directory, node)]


def refusal(directory: Path, other: NodeRecord) -> ConfigError:
    return ConfigError(
        f"{directory} has the id of the data directory of node {other.name!r} on {other.host}, but is another one; "
        "if it is a copy of that, give an empty --dir; if both should be the same disk, check that it is mounted"
    )


def _signed(directory: Path, node: NodeRecord) -> bool:
    try:
        return _place(directory, node).read_bytes() == _text(node)
    except OSError:
        return False


def _place(directory: Path, node: NodeRecord) -> Path:
    return directory / f"node-{node.name}.here"


def _text(node: NodeRecord) -> bytes:
    return f"{node.host} {node.pid} {node.started!r}\n".encode()
