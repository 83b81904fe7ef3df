"""Resolve a host to one allowed address, with a hosts file, or with the system's resolver behind a cache of our own.

Look-ups of the system's resolver block, so each runs in a thread of its own, `dns_threads` at most. The threads are
daemons: a name server that never answers must not delay the end of a crawl.
"""

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from windrow import config
from windrow.fetch import address
from windrow.records import Reason

REMEMBERED = 1 << 16  # hosts in the cache
LONGEST_FAILURE = {  # seconds for which a failure is cached at most; no failure is cached forever
    Reason.NO_SUCH_HOST: 900.0,
    Reason.BLOCKED_ADDRESS: 900.0,
    Reason.DNS: 300.0,  # RFC 2308 §7.1: a server failure must not be cached longer
}
VIA_PROXY = "@proxy"  # follows the host in an address that only the proxy knows
MOST_ADDRESSES = 64  # of one name; more is a mistake or an attack

Lookup = Callable[[str], list[str]]  # blocks; raises OSError, mostly socket.gaierror, like getaddrinfo

_NO_SUCH = {socket.EAI_NONAME, socket.EAI_NODATA, socket.EAI_ADDRFAMILY}
_NAME = re.compile(r"(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")


class Resolved(msgspec.Struct, frozen=True, gc=False):
    """The answer for a host."""

    address: str  # "ip", "ip:port" or "[ip6]:port"; empty if there is a reason
    ttl: float  # seconds for which the answer may be cached
    reason: Reason | None = None  # why there is no address
    detail: str = ""
    # Where the answer comes from: DNS, just now; our cache; or nobody was asked, because the hosts file or the text of
    # the name decides.
    source: Literal["dns", "cache", "local"] = "dns"


class _Known(NamedTuple):
    answer: Resolved
    since: float
    until: float
    failures: int  # in a row


def system(host: str) -> list[str]:
    """Return all addresses of a name, from the system's resolver."""
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class Resolver:
    """Finds the addresses of hosts, and remembers them for their time to live."""

    def __init__(self, fetch: config.FetchOptions, identity: config.IdentityOptions, lookup: Lookup = system) -> None:
        self._fetch = fetch
        self._loopback_only = not identity.contact
        self._lookup = lookup
        self._hosts = listed_hosts(fetch)
        self._known: dict[str, _Known] = {}
        self._asking: dict[str, asyncio.Task[Resolved]] = {}
        self._room = asyncio.Semaphore(fetch.dns_threads)

    async def find(self, host: str, now: float) -> Resolved:
        """Return the address of a host. `now` is any clock in seconds, the same one in every call."""
        name = _plain(host)
        if self._fetch.proxy:  # it resolves names; each host has a slot of its own, so that hosts do not wait in turn
            return Resolved(f"{name}{VIA_PROXY}", self._fetch.dns_ttl, source="local")
        local = self._local(name)
        if local is not None:
            return msgspec.structs.replace(local, source="local")
        earlier = self._known.get(name)
        if earlier is not None and earlier.since <= now < earlier.until:
            return msgspec.structs.replace(earlier.answer, ttl=earlier.until - now, source="cache")
        if name not in self._asking:
            self._asking[name] = asyncio.create_task(self._ask(name, now, earlier.failures if earlier else 0))
        return await asyncio.shield(self._asking[name])

    async def ask(self, host: str) -> Resolved:
        """Return the address of a host from DNS, whatever the cache says; the cache is left as it is."""
        name = _plain(host)
        return self._local(name) or await self._answer(name)

    def asks(self, host: str) -> bool:
        """Return whether this host is looked up in DNS."""
        return not self._fetch.proxy and self._local(_plain(host)) is None

    def forget(self, host: str) -> None:
        """Forget the answer for a host: the network failed, not the name."""
        self._known.pop(_plain(host), None)

    def _local(self, name: str) -> Resolved | None:
        """Return the answer of the hosts file or of the name itself; None if DNS has to be asked."""
        if self._hosts is not None and (listed := _listed(self._hosts, name)):
            return self._checked([listed])
        if address.literal(name):
            return self._checked([name])
        if self._hosts is not None:
            return Resolved("", self._fetch.dns_ttl, Reason.NO_SUCH_HOST, f"not in {self._fetch.hosts_file}")
        if len(name) > 253 or not _NAME.fullmatch(name):
            return Resolved("", self._fetch.dns_ttl, Reason.NO_SUCH_HOST, "not a valid DNS name")
        return None

    async def _ask(self, name: str, now: float, failures: int) -> Resolved:
        try:
            answer = await self._answer(name)
        finally:
            del self._asking[name]
        if answer.reason is None:
            self._remember(name, _Known(answer, now, now + answer.ttl, 0))
            return answer
        ttl = min(self._fetch.dns_negative_ttl * 2 ** min(failures, 16), LONGEST_FAILURE[answer.reason])
        self._remember(name, _Known(answer, now, now + ttl, failures + 1))
        return msgspec.structs.replace(answer, ttl=ttl)

    async def _answer(self, name: str) -> Resolved:
        try:
            async with asyncio.timeout(self._fetch.connect_timeout):
                return self._checked(await self._in_thread(name))
        except TimeoutError:
            return Resolved("", 0.0, Reason.DNS, f"no answer within {self._fetch.connect_timeout:g} s")
        except socket.gaierror as error:
            reason = Reason.NO_SUCH_HOST if error.errno in _NO_SUCH else Reason.DNS
            return Resolved("", 0.0, reason, error.strerror or str(error))
        except (OSError, UnicodeError) as error:
            return Resolved("", 0.0, Reason.DNS, str(error))

    async def _in_thread(self, name: str) -> list[str]:
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[str]] = loop.create_future()

        def work() -> None:
            answer: list[str] | Exception
            try:
                answer = self._lookup(name)
            except Exception as error:  # passed to the waiting coroutine: a thread has no other caller
                answer = error
            with contextlib.suppress(RuntimeError):  # the loop is closed: no coroutine waits
                loop.call_soon_threadsafe(self._deliver, future, answer)

        threading.Thread(target=work, name=f"resolve {name}", daemon=True).start()
        return await future

    def _deliver(self, future: asyncio.Future[list[str]], answer: list[str] | Exception) -> None:
        """Deliver a result. Only now another look-up may start, so that abandoned look-ups count among the threads."""
        self._room.release()
        if future.done():
            return
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    def _checked(self, answer: list[str]) -> Resolved:
        """Return the first allowed address, IPv4 before IPv6: a host with a broken AAAA record stays reachable."""
        addresses = [pair for text in answer[:MOST_ADDRESSES] if (pair := address.split(text))]
        addresses.sort(key=lambda pair: ":" in pair[0])
        for ip, port in addresses:
            if address.allowed(ip, self._fetch.allow_private, self._loopback_only):
                text = f"[{ip}]:{port}" if port and ":" in ip else f"{ip}:{port}" if port else ip
                return Resolved(text, self._fetch.dns_ttl)
        if not addresses:
            return Resolved("", self._fetch.dns_ttl, Reason.NO_SUCH_HOST, "no address")
        why = "; set identity.contact to crawl other than loopback addresses" if self._loopback_only else ""
        detail = f"connecting to {addresses[0][0]} is not allowed{why}"
        return Resolved("", self._fetch.dns_ttl, Reason.BLOCKED_ADDRESS, detail)

    def _remember(self, name: str, answer: _Known) -> None:
        self._known.pop(name, None)
        self._known[name] = answer
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]


def _plain(host: str) -> str:
    return host.strip("[].").lower()


def stays_home(hosts: dict[str, str] | None, host: str) -> bool:
    """Return whether this host is known to have a loopback address, without a DNS request.

    `hosts` comes from `listed_hosts`: a caller with many hosts reads the file once.
    """
    name = _plain(host)
    listed = _listed(hosts, name) if hosts is not None else None
    pair = address.split(listed or ("127.0.0.1" if name == "localhost" else name))
    return pair is not None and address.allowed(pair[0], private=True, loopback_only=True)


def listed_hosts(fetch: config.FetchOptions) -> dict[str, str] | None:
    """Read the hosts file of the options; return None if they name none."""
    return read_hosts(Path(fetch.hosts_file)) if fetch.hosts_file else None


def read_hosts(path: Path) -> dict[str, str]:
    """Read a hosts file: lines of `host<TAB>address[:port]`, `*.name` for all hosts below a name, `#` for comments.

    The first line of a host counts.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise config.ConfigError(
            f"fetch.hosts_file: cannot read {path} ({error}); give a file with host<TAB>address lines, or none"
        ) from None
    hosts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if words:
            if fault := _fault(words):
                raise config.ConfigError(f"{path}, line {number}: {fault}")
            hosts.setdefault(words[0].lower().strip("[]").rstrip("."), words[1])
    return hosts


def _fault(words: list[str]) -> str:
    """Return the error in a line of a hosts file, and its fix; "" if the line is correct."""
    if len(words) != 2 or not address.split(words[1]):
        fix = "write host<TAB>address[:port], as in example.org<TAB>127.0.0.1:8080"
        return f"{' '.join(words)!r} is not a host and an address; {fix}"
    name = words[0].lower().strip("[]")
    if not _NAME.fullmatch(name) and not address.literal(name):
        return f"{words[0]!r} is not a host name in ASCII; write names with other letters as xn--…"
    return ""


def _listed(hosts: dict[str, str], name: str) -> str | None:
    """Return the address of a name, or of the longest wildcard above it; None if there is neither."""
    listed = hosts.get(name)
    while listed is None and (dot := name.find(".")) >= 0:
        name = name[dot + 1 :]
        listed = hosts.get("*." + name)
    return listed
