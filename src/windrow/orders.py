"""Orders: commands of the operator to a crawl. Their verbs, their files, and what they change.

An order is given as a file in `orders/` of the crawl's directory and carried out by the crawl, which writes it into
its log. What orders have changed is a fold over the log (`apply`), so the running crawl, a recovery, a rebuild and a
reader of the log find the same.
"""

import difflib
import secrets
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import msgspec

from windrow import config, urls
from windrow.config import Config, ConfigError
from windrow.records import Controls, Order, Reason

DIRECTORY = "orders"  # in a crawl's directory: orders that wait
REFUSED = "refused"  # in there: files that are not orders, and orders that cannot be carried out
LAST = 2**64 - 1  # the greatest key of a URL
RECENT = 256  # ids remembered

# The reasons of URLs that may be requested again. Pages that were fetched are not: each is in the archive once, and
# `windrow rebuild --corpus` judges them again. Blocked URLs wait again when their name is unblocked.
RETRYABLE = frozenset(
    {
        Reason.NOT_FOUND, Reason.FORBIDDEN, Reason.CLIENT_ERROR, Reason.THROTTLED, Reason.SERVER_ERROR,
        Reason.BAD_STATUS, Reason.NO_SUCH_HOST, Reason.DNS, Reason.BLOCKED_ADDRESS, Reason.CONNECT, Reason.TLS,
        Reason.TIMEOUT, Reason.DISCONNECT, Reason.PROTOCOL, Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE,
        Reason.HOST_DEAD, Reason.REDIRECTS, Reason.BAD_REDIRECT, Reason.LOW_YIELD, Reason.OUT_OF_SCOPE,
        Reason.LOW_VALUE,
    }
)  # fmt: skip


def _nothing(values: tuple[str, ...]) -> tuple[str, ...]:
    if values:
        raise ConfigError(f"{values[0]!r} is too much: this order takes no value")
    return ()


def names(values: Iterable[str]) -> tuple[str, ...]:
    """Return hosts or domains as they stand in canonical URLs, each once."""
    kind = config.Name(below=True)
    found = tuple(dict.fromkeys(kind.apply(value, "this order", Path()) for value in values))
    if not found:
        raise ConfigError("this order names no host or domain; write one, such as example.org")
    return found


def reasons(values: Iterable[str]) -> tuple[str, ...]:
    """Return reasons whose URLs may be requested again, each once; refuse all others with a hint."""
    wanted = dict.fromkeys(part.strip() for value in values for part in value.split(",") if part.strip())
    known = {reason.value: reason for reason in Reason}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean '{near[0]}'?" if near else "`windrow reasons` lists them"
            raise ConfigError(f"there is no reason '{name}'; {hint}")
        if known[name] is Reason.BLOCKED:
            raise ConfigError("URLs that ended as 'blocked' wait again after: windrow unblock DIR NAME")
        if known[name] not in RETRYABLE:
            fix = "`windrow rebuild --corpus` judges fetched pages again, from the archive"
            raise ConfigError(f"a URL that ended as '{name}' was fetched and is not requested again; {fix}")
    if not wanted:
        raise ConfigError("this order names no reason; write one, such as host-dead, or several with commas")
    return tuple(wanted)


def _settings(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise ConfigError("this order names no option; write section.option=value, such as fetch.delay=10")
    return tuple("=".join(config.live(value)) for value in values)


def _urls(values: tuple[str, ...]) -> tuple[str, ...]:
    bad = next((value for value in values if urls.parse(value) is None), None)
    if bad is not None or not values:
        raise ConfigError(f"{bad!r} is not an http or https URL" if bad is not None else "this order names no URL")
    return values


# verb -> the check of its values, which returns them in one form
VERBS: dict[str, Callable[[tuple[str, ...]], tuple[str, ...]]] = {
    "pause": _nothing,
    "resume": _nothing,
    "stop": _nothing,
    "block": names,
    "unblock": names,
    "add": _urls,
    "set": _settings,
    "retry": reasons,
}


def make(verb: str, values: Iterable[str] = (), hosts: Iterable[str] = ()) -> Order:
    """Return a new order; ConfigError if its values cannot be used."""
    now = time.time()
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f"{now % 1:.6f}"[2:]
    only = tuple(hosts)
    checked = VERBS[verb](tuple(values))
    return Order(
        id=f"{moment}-{secrets.token_hex(4)}", time=now, verb=verb, values=checked, hosts=names(only) if only else ()
    )


def file_name(order: Order) -> str:
    """Return the name of an order's file. Names in alphabetical order are in the order of time."""
    return f"{order.id}-{order.verb}.json"


def encode(order: Order) -> bytes:
    return msgspec.json.format(msgspec.json.encode(order), indent=2) + b"\n"


def decode(data: bytes) -> Order:
    """Return the order of a file; ConfigError if it is damaged, or not an order that this version carries out."""
    try:
        order = msgspec.json.decode(data, type=Order, strict=True)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"it is not an order ({error})") from None
    if order.verb not in VERBS:
        near = difflib.get_close_matches(order.verb, VERBS, 1, 0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"the verbs are {', '.join(VERBS)}"
        raise ConfigError(f"unknown verb '{order.verb}'; {hint}")
    if not order.id or order.start or order.end:
        raise ConfigError("it has no id, or names a part of an order")
    hosts = names(order.hosts) if order.hosts else ()
    return msgspec.structs.replace(order, values=VERBS[order.verb](order.values), hosts=hosts)


def apply(controls: Controls, order: Order) -> Controls:
    """Return what holds after an order, or after a part of it. An unknown verb changes nothing."""
    if order.verb not in VERBS:
        return controls
    before = controls.unfinished
    ended = None if before is not None and before.id == order.id else before
    changes: dict[str, Any] = {"unfinished": order if order.end is not None else ended}
    if order.id not in controls.recent:
        changes["recent"] = (*controls.recent, order.id)[-RECENT:]
    if order.start is None:
        changes |= _changes(controls, order)
    return msgspec.structs.replace(controls, **changes)


def _changes(controls: Controls, order: Order) -> dict[str, Any]:
    match order.verb:
        case "pause":
            return {"paused": controls.paused or order.time}
        case "resume":
            return {"paused": 0.0}
        case "block":
            return {"blocked": tuple(sorted({*controls.blocked, *order.values}))}
        case "unblock":
            return {"blocked": tuple(name for name in controls.blocked if name not in order.values)}
        case "set":
            pairs = dict(value.split("=", 1) for value in order.values)
            return {"options": {name: value for name, value in {**controls.options, **pairs}.items() if value}}
    return {}


def reopens(order: Order) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the reasons whose URLs an order lets wait again, and on which hosts only (empty: on all)."""
    if order.verb == "unblock":
        return frozenset({Reason.BLOCKED.value}), order.values
    return frozenset(order.values if order.verb == "retry" else ()), order.hosts


def covers(order: Order, host: str, key: int) -> bool:
    """Return whether a part of an order is about the URL with this key on this host, as far as its place goes."""
    place = (host, key)
    inside = (order.start is None or order.start < place) and (order.end is None or place <= order.end)
    only = reopens(order)[1]
    return inside and (not only or urls.below(host, only))


def effective(options: Config, controls: Controls, directory: Path, given: Collection[str] = ()) -> Config:
    """Return the options in force: those of a start, with the values that orders have set.

    `given`: the names that the command line sets, which hold instead of what earlier orders have set.
    """
    changed = [f"{name}={value}" for name, value in controls.options.items() if name not in given]
    return config.change(options, changed, directory)
