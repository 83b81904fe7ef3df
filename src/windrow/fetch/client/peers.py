"""What the client remembers of servers. Each table forgets its oldest entries."""

from typing import TypeVar

from windrow import config
from windrow.fetch import address as addresses

REMEMBERED = 1 << 14  # entries of each table

K = TypeVar("K")
V = TypeVar("V")


class Peer:
    """An address of a lease, parsed and checked once."""

    __slots__ = ("allowed", "connect", "ip", "port")

    def __init__(self, text: str, fetch: config.FetchOptions, identity: config.IdentityOptions) -> None:
        ip, port = addresses.split(text) or ("", 0) if not fetch.proxy else ("", 0)
        self.ip = ip
        self.port = port  # 0: that of the URL
        # A proxy finds the address itself, and only an operator with a contact may use one.
        self.allowed = (
            bool(identity.contact) if fetch.proxy else addresses.allowed(ip, fetch.allow_private, not identity.contact)
        )
        self.connect = (
            [] if fetch.proxy else [f"::{f'[{ip}]' if ':' in ip else ip}:{port or ''}"]
        )  # the form of CURLOPT_CONNECT_TO


class Peers:
    """The known peers, their ciphers, and the hosts whose connections or answers need care."""

    def __init__(self, fetch: config.FetchOptions, identity: config.IdentityOptions) -> None:
        self._fetch, self._identity = fetch, identity
        self._peers: dict[str, Peer] = {}  # by address
        self.ciphers: dict[tuple[str, str], str] = {}  # by host and IP address, as of its first connection
        self.distrusted: dict[str, None] = {}  # hosts
        self.unreadable: dict[str, None] = {}  # hosts whose answers libcurl cannot read

    def find(self, address: str) -> Peer:
        """Return the peer at an address."""
        return self._peers.get(address) or _remember(self._peers, address, Peer(address, self._fetch, self._identity))

    def distrust(self, host: str) -> None:
        """Use no connection of this host twice."""
        _remember(self.distrusted, host, None)

    def read_leniently(self, host: str) -> None:
        """Read the next answers of this host with a reader of our own."""
        _remember(self.unreadable, host, None)

    def cipher(self, host: str, ip: str, seen: str) -> str:
        """Return the cipher of a connection: the one just seen, else the one of an earlier connection."""
        return _remember(self.ciphers, (host, ip), seen) if seen else self.ciphers.get((host, ip), "")


def _remember(table: dict[K, V], key: K, value: V) -> V:
    table[key] = value
    if len(table) > REMEMBERED:
        del table[next(iter(table))]
    return value
