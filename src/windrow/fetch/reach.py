"""Whether a host can be reached: a connection that is opened and closed, without a request."""

import asyncio
import contextlib
import socket

from windrow.fetch import address

_NOWHERE = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))  # for documentation: nobody has them


async def connects(place: str, port: int, seconds: float) -> bool:
    """Return whether a connection to "ip", "ip:port" or "[ip6]:port" can be opened; `port` counts if none is named."""
    pair = address.split(place)
    if pair is None:
        return False
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(pair[0], pair[1] or port)
    except OSError:  # TimeoutError among them
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def routed() -> bool:
    """Return whether this machine has a route to anywhere else. Nothing is sent: the kernel looks into its tables."""
    for ip, family in _NOWHERE:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((ip, 9))
            return True
    return False
