"""Allowed addresses: a page must not make us connect to our machine, its neighbours or the control plane of its cloud.

`ipaddress.is_global` is not enough: it accepts multicast, 192.0.0.8, Azure's 168.63.129.16 and every IPv6 form that
wraps an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo).
"""

import functools
import ipaddress
import re
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LOOPBACK = ("127.0.0.0/8", "::1/128")

# Allowed only with fetch.allow_private.
PRIVATE = (
    *LOOPBACK,
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",  # carrier-grade NAT
    "198.18.0.0/15",  # benchmarks; local proxies also invent addresses in this range
    "fc00::/7",  # unique local
    "fec0::/10",  # site-local, long deprecated, still private
)

# Never allowed, with any options.
NEVER = (
    "0.0.0.0/8",  # this network; 0.0.0.0 reaches our own machine
    "169.254.0.0/16",  # link-local: the clouds' metadata services live at 169.254.169.254 and 169.254.170.2
    "168.63.129.16/32",  # Azure's control plane
    "100.100.100.200/32",  # Alibaba's metadata
    "fd00:ec2::254/128",  # Amazon's metadata
    "fd20:ce::254/128",  # Google's metadata
    "192.0.0.0/24",  # IETF protocol assignments
    "192.88.99.0/24",  # 6to4 relays
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast
    "2001::/23",  # IETF protocol assignments, Teredo among them
    "2002::/16",  # 6to4
    "fe80::/10",  # link-local
    "ff00::/8",  # multicast
)

# The only part of IPv6 that is routed; mapped, compatible and NAT64 forms lie outside it. The networks reserved for
# documentation are allowed: they belong to nobody, and a test network can use them in place of public addresses.
GLOBAL6 = "2000::/3"


@functools.lru_cache(maxsize=1 << 15)
def allowed(ip: str, private: bool, loopback_only: bool) -> bool:
    """Return whether we may connect to this address. A text that is not an address is not allowed."""
    address = _parse(ip)
    if address is None or _within(address, _NEVER):
        return False
    if loopback_only:
        return private and _within(address, _LOOPBACK)
    if _within(address, _PRIVATE):
        return private
    return address.version == 4 or address in _GLOBAL6


def split(text: str) -> tuple[str, int] | None:
    """Return address and port of "ip", "ip:port", "ip6", "[ip6]" or "[ip6]:port"; port 0 if none is given.

    Return None for any other text.
    """
    match = _FORMS.fullmatch(text)
    if match is None:
        return None
    ip, port = _parse(match[1] or match[2] or match[4]), match[3]
    if ip is None or (port is not None and not 0 < int(port) < 65536):
        return None
    return str(ip), int(port or 0)


def literal(text: str) -> bool:
    """Return whether this is an IP address and not a name."""
    return _parse(text) is not None


def _parse(text: str) -> Address | None:
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


def _networks(texts: Iterable[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


_FORMS = re.compile(r"(?:\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\]|([0-9.]+))(?::([0-9]{1,5}))?|([0-9A-Fa-f:.]+)")
_LOOPBACK = _networks(LOOPBACK)
_PRIVATE = _networks(PRIVATE)
_NEVER = _networks(NEVER)
_GLOBAL6 = ipaddress.ip_network(GLOBAL6)
