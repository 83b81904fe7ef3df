"""The addresses to which Scrapy connects: those that Windrow has resolved, checked and leased.

Windrow's delays hold per address, and private addresses are refused: that is true only if the connection goes to the
address that was checked. A host that Windrow has not leased is looked up as Scrapy does it.
"""

import collections
from collections.abc import Sequence
from typing import cast

from scrapy.crawler import Crawler
from scrapy.resolver import CachingThreadedResolver
from twisted.internet import defer
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred

REMEMBERED = 1 << 14  # hosts

_known: collections.OrderedDict[str, str] = collections.OrderedDict()  # of this process, as the reactor is


def note(host: str, ip: str) -> None:
    """Connect to this address when the host is requested. Scrapy's resolver knows IPv4 only."""
    if ":" in ip or not ip:
        return
    _known[host] = ip
    _known.move_to_end(host)
    if len(_known) > REMEMBERED:
        _known.popitem(last=False)


def install(crawler: Crawler) -> None:
    """Let Scrapy ask here. It reads `TWISTED_DNS_RESOLVER` before an addon can set it."""
    from twisted.internet import reactor  # the import installs a reactor, if there is none yet

    Names.from_crawler(crawler, cast("ReactorBase", reactor)).install_on_reactor()


class Names(CachingThreadedResolver):
    """Implements Twisted's resolver."""

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> "Deferred[str]":
        ip = _known.get(name)
        if ip is not None:
            return defer.succeed(ip)
        return super().getHostByName(name, timeout)
