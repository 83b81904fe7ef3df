"""Registered domains by the public suffix list."""

import functools
import importlib.resources

import url as whatwg

_PRIVATE = "===BEGIN PRIVATE DOMAINS==="  # in the list
REMEMBERED = 1 << 14  # hosts whose domain is kept


@functools.lru_cache(REMEMBERED)
def domain(host: str) -> str:
    """Return the registered domain of a canonical host by the public suffix list, private suffixes included.

    A public suffix, a single label and an IP address are their own domain, because each of them needs an owner.
    """
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return host
    return ".".join(labels[-_suffix(labels) - 1 :])


@functools.lru_cache(REMEMBERED)
def registered(host: str, private: bool) -> tuple[str, str]:
    """Return the public suffix of a host and its registered domain; empty where there is none.

    `private`: whether the suffixes of companies count, such as blogspot.com. A suffix has no domain, and an IP address
    has neither.
    """
    labels = host.split(".")
    if labels[-1].isdigit() or ":" in host or not all(labels):
        return "", ""
    count = _suffix(["", *labels], private)  # with a label more, because the host may be a suffix
    return ".".join(labels[-count:]), ".".join(labels[-count - 1 :]) if count < len(labels) else ""


def _suffix(labels: list[str], private: bool = True) -> int:
    """Return the number of labels of the host that are public suffix."""
    rules, longest = _rules(private), 1
    name = ""
    for count in range(1, len(labels) + 1):
        name = f"{labels[-count]}.{name}" if name else labels[-count]
        more = rules.get(name)
        if more is None:
            continue
        if more < 0:
            return count - 1
        longest = count + more
    return min(longest, len(labels) - 1)


@functools.cache
def _rules(private: bool) -> dict[str, int]:
    """Return for each name of the list how many more labels a suffix that ends in it has: 0, a wildcard 1, an
    exception -1."""
    rules: dict[str, int] = {}
    data = importlib.resources.files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    for line in (data if private else data.partition(_PRIVATE)[0]).splitlines():
        rule = line.partition(" ")[0]
        if not rule or rule.startswith("//"):
            continue
        more = {"!": -1, "*": 1}.get(rule[0], 0)
        name = rule.removeprefix("!").removeprefix("*.")
        if not name.isascii():
            name = whatwg.URL.parse("http://" + name).host_str or name
        rules[name] = more if more else rules.get(name, 0)
    return rules
