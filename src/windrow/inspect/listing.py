"""Lists of URLs from the log: how they ended, or that they still wait. The log is streamed.

A list of outcomes needs no memory. The waiting URLs are those that were admitted and have not finished. They are kept
in memory, at most `HELD` at once: if there are more, the URLs are divided by a hash, and the log is read once for each
part.
"""

import datetime
import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import log, orders, urls
from windrow.config import ConfigError
from windrow.log import format, search
from windrow.records import Kind, Order, Reason

HELD = 1_000_000  # waiting URLs in memory, some 300 bytes each
KINDS = {"page": Kind.PAGE, "file": Kind.FILE, "resolve": Kind.RESOLVE, "session-redirect": Kind.SESSION_REDIRECT}


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One URL of a list."""

    time: float  # epoch seconds: when its last attempt ended, or the commit that admitted it
    url: str
    state: str  # "finished", "again" (the attempt failed and was repeated) or "waiting"
    kind: str = "page"
    reason: str = ""
    detail: str = ""
    status: int = 0
    downloaded: int = 0  # bytes
    language: str = ""
    kept: int = 0  # bytes of text in the corpus
    via: str = ""  # the page that links to it; empty for a seed


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Which URLs are wanted. Empty: all."""

    reasons: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()  # exactly
    domains: tuple[str, ...] = ()  # these names and all below them
    kind: str = "page"  # or "all"
    since: float = 0.0  # epoch seconds
    until: float = 0.0  # 0: no limit
    attempts: bool = False  # also attempts that were repeated


_FIELDS = ("url", "time", "status", "detail", "downloaded", "language", "kept", "kind", "final", "via")
_decode = format.view(*_FIELDS, reason=str)


_decode_admitted = format.view("url", "kind", "final", "due", reason=str, admitted=list[format.AdmittedUrl])


def check(wish: Wish) -> None:
    """Refuse a wish that no line can fulfil."""
    names = [reason.value for reason in Reason]
    for name in wish.reasons:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else "windrow reasons lists them"
            raise ConfigError(f"--reason {name!r} is not a reason; {hint}")
    if wish.kind not in (*KINDS, "all"):
        raise ConfigError(f"--kind {wish.kind!r} is unknown; write {', '.join(KINDS)} or all")
    if wish.until and wish.since > wish.until:
        raise ConfigError("--since is later than --until, so nothing fits; change one of them")


def moment(text: str, option: str) -> float:
    """Return a time as the user writes it, in the local time zone unless it names one; 0 for none."""
    if not text:
        return 0.0
    try:
        return datetime.datetime.fromisoformat(text.strip()).timestamp()
    except ValueError:
        fix = "write it as 2026-11-15 or 2026-11-15T10:44, with a Z behind it for UTC"
        raise ConfigError(f"{option} {text!r} is not a time; {fix}") from None


def outcomes(directory: Path, wish: Wish) -> Iterator[Listed]:
    """Yield how URLs ended, in the order of the log."""
    reasons = [b'"reason":' + format.quoted(name) for name in wish.reasons]
    names = [name.encode() for name in (*wish.hosts, *wish.domains)]
    kinds = {kind: name for name, kind in KINDS.items()}
    for _, lines, _ in log.raw_frames(log.home(directory)):
        for text in lines:
            if not (_has_one(text, reasons) and _has_one(text, names)):  # sooner known than decoded
                continue
            line = _decode(text)
            if not (line.final or wish.attempts) or not _wanted(line, wish):
                continue
            yield Listed(
                time=line.time,
                url=line.url,
                state="finished" if line.final else "again",
                kind=kinds[line.kind],
                reason=line.reason,
                detail=line.detail,
                status=line.status,
                downloaded=line.downloaded,
                language=line.language,
                kept=line.kept,
                via=line.via,
            )


def _has_one(text: bytes, needles: Sequence[bytes]) -> bool:
    return not needles or any([needle in text for needle in needles])


def _wanted(line: format.Line, wish: Wish) -> bool:
    if wish.kind != "all" and line.kind is not KINDS[wish.kind]:
        return False
    if line.time < wish.since or (wish.until and line.time > wish.until):
        return False
    return (not wish.reasons or line.reason in wish.reasons) and _at(line.url, wish)


def _at(url: str, wish: Wish) -> bool:
    if not wish.hosts and not wish.domains:
        return True
    host = urls.host_of(url)
    return host in wish.hosts or any(host == name or host.endswith(f".{name}") for name in wish.domains)


def waiting(directory: Path, wish: Wish, held: int = HELD) -> Iterator[Listed]:
    """Yield the URLs that were admitted and have not finished, in the order of their admission within each part."""
    home = log.home(directory)
    frames = search.frames(home, {search.NAMES: [search.ORDERS]})
    again = {name for head, _, _ in frames for order in head.orders for name in orders.reopens(order)[0]}
    parts = [(1, 0)]  # modulus and remainder of the hashes still to be read
    while parts:
        modulus, remainder = parts.pop()
        left: dict[str, tuple[float, str]] = {}  # URL -> time and via
        ended: dict[str, tuple[str, str]] = {}  # URL -> reason and via, if a later order lets it wait again
        for head, lines, _ in log.raw_frames(home):
            for order in head.orders:
                left |= _reopened(order, ended)
            for url, via in _admitted(head, lines, left, (ended, again)):
                if hash(url) % modulus == remainder and _at(url, wish):
                    left[url] = (head.time, via)
            while len(left) + len(ended) > held:
                parts.append((2 * modulus, remainder + modulus))
                modulus *= 2
                left = {url: facts for url, facts in left.items() if hash(url) % modulus == remainder}
                ended = {url: facts for url, facts in ended.items() if hash(url) % modulus == remainder}
        for url, (time, via) in left.items():
            yield Listed(time, url, state="waiting", via=via)


def _reopened(order: Order, ended: dict[str, tuple[str, str]]) -> dict[str, tuple[float, str]]:
    """Return the URLs that this order lets wait again, and forget that they ended."""
    reasons = orders.reopens(order)[0]
    urls_again = [
        url
        for url, (reason, _) in ended.items()
        if reason in reasons and orders.covers(order, urls.host_of(url), urls.key(url))
    ]
    return {url: (order.time, ended.pop(url)[1]) for url in urls_again}


def _admitted(
    head: format.Head,
    lines: list[bytes],
    left: dict[str, tuple[float, str]],
    reopening: tuple[dict[str, tuple[str, str]], set[str]],
) -> Iterator[tuple[str, str]]:
    """Yield the URLs that a frame admits, each with the page that links to it; forget those that finish in it.

    `reopening`: where to note the URLs that end with one of these reasons, because an order may let them wait again.
    """
    ended, again = reopening
    for seed in head.seeds:
        yield seed.url, seed.via
    for text in lines:
        line = _decode_admitted(text)
        if line.kind is Kind.PAGE and line.final:
            _, via = left.pop(line.url, None) or ended.pop(line.url, None) or ("", None)
            if via is not None and again and (line.due or line.reason in again):
                ended[line.url] = ("" if line.due else line.reason, via)  # one that is due again waits for no order
        for link in line.admitted:
            yield link.url, line.url
