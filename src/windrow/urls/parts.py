"""Parts of a canonical URL, its key and its SURT."""

import functools
import re
import urllib.parse
from collections.abc import Container

import xxhash

_WWW = re.compile(r"^www\d*\.")
_FOLDS_TO_ITSELF = re.compile(r"[!\"$&-~]*")  # but for capital letters
_NESTED = re.compile(b"%(?:25)+")
_FOLDED = [
    f"%{octet:02x}" if octet <= 0x20 or octet >= 0x7F or octet in b"#%" else chr(octet).lower() for octet in range(256)
]


def key(text: str) -> int:
    """Return the 64-bit hash that identifies a URL in every store and file. This function never changes."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def origin(text: str) -> str:
    """Return scheme://host[:port] of a canonical URL."""
    return text[: text.index("/", 8)]


def authority_of(text: str) -> str:
    """Return host[:port] of a canonical URL; empty where the text is not a URL."""
    return text.partition("//")[2].partition("/")[0]


def host_of(text: str) -> str:
    """Return the host of a canonical URL; empty where the text is not a URL."""
    return split(authority_of(text))[0]


def port(text: str) -> int:
    """Return the port of a canonical URL."""
    number = split(origin(text)[6:])[1]
    return int(number[1:]) if number else 443 if text[4] == "s" else 80


def tld(host: str) -> str:
    """Return the last label of a host; empty for an IP address."""
    last = host.rpartition(".")[2]
    return "" if last.isdigit() or ":" in host else last


def below(host: str, names: Container[str]) -> bool:
    """Return whether a host, or a domain above it, is among these names."""
    while host:
        if host in names:
            return True
        host = host.partition(".")[2]
    return False


def split(authority: str) -> tuple[str, str]:
    """Return host and port, the port with its colon; empty where there is none."""
    colon = authority.rfind(":")
    if colon < 0 or authority.endswith("]"):
        return authority, ""
    return authority[:colon], authority[colon:]


def surt(text: str) -> str:
    """Return the sort key of a canonical URL in CDX and columnar indexes, as the Internet Archive and Common Crawl
    write it."""
    authority = origin(text)
    path, _, query = text[len(authority) :].partition("?")
    place = _reversed(authority)
    path = "/".join(filter(None, _folded(path).split("/")))
    if query:
        pairs = sorted(part.split("=", 1) for part in _folded(query).split("&"))
        query = "?" + "&".join("=".join(pair) for pair in pairs)
    return f"{place})/{path}{query}"


@functools.lru_cache(1 << 12)
def _reversed(authority: str) -> str:
    """Return the labels of the host in reverse order, and the port; from scheme://host[:port]."""
    host, number = split(authority[authority.index("//") + 2 :])
    return ",".join(reversed(_WWW.sub("", host).split("."))) + number


def _folded(text: str) -> str:
    """Undo every escape, however deep, escape again what must be escaped, and return all in lower case."""
    if _FOLDS_TO_ITSELF.fullmatch(text):
        return text.lower()
    octets, before = text.encode(), b""
    while octets != before:
        before = octets
        octets = urllib.parse.unquote_to_bytes(_NESTED.sub(b"%", octets))
    return "".join([_FOLDED[octet] for octet in octets])
