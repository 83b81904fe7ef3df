"""From any URL or href to the canonical form."""

import contextlib
import functools
import re
from collections.abc import Iterable

import url as whatwg
import xxhash

from windrow.records import Url
from windrow.urls.parts import key, split, surt
from windrow.urls.suffixes import domain
from windrow.urls.visits import cleaned

LONGEST = 1 << 16  # characters; a longer text is not a URL (servers stop at 8 KiB, hostile pages do not)
REMEMBERED = 1 << 14  # URLs in the cache of canonical forms; the cache of authorities has as many
MEMORABLE = 512  # characters of a URL in the cache; longer ones are not kept, so that no page can fill the memory

_AUTHORITY = re.compile(r"(?i:https?:)?[/\\]*([^/\\?#\0- \x7f-\U0010ffff]*)(?=[/\\?#]|$)")
_PUNYCODE = re.compile("xn--", re.IGNORECASE)
_MASK = "xnpunycodemask"  # hides a label's xn-- from the parser
_SLASHES = re.compile(r"^[/\\]{3,}")
_IGNORED = {ord(char): None for char in "\t\n\r"}
_OUTSIDE = "".join(map(chr, range(33)))  # characters that may surround a URL
_HOST = re.compile(r"(?!.{254})[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\]")

# A URL that the parser would not change, without a session id.
_ORDINARY = re.compile(
    r"https?://[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*\.[a-z]{2,63}(?=/)(?:/[\w~-][\w~.-]*)*/?"
    r"(?:\?(?i:(?!.*(?:sid|ion|cfid)))[\w~.=&/-]+)?",
    re.ASCII,
)
# Session ids that the sort keys of the Internet Archive leave out; a canonical URL has none of them.
_SESSION = re.compile(
    r"(?i)(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)
_SESSION_FOLDER = re.compile(r"(?i)/\((?:[0-9a-z]{24}|(?:[a-z]\([0-9a-z]{24}\))+)\)(?=/[^?]+\.aspx)")

_known: dict[str, Url] = {}  # by the text that the parser wrote
_authorities: dict[str, tuple[str, str, str]] = {}  # by authority: its canonical form, its host, its domain


def parse(text: str) -> Url | None:
    """Return the canonical form of an absolute http or https URL; None where the text is not one."""
    absolute = _absolute(text.partition("#")[0])
    return None if absolute is None else _canonical(str(absolute))


def sort_key(text: str) -> str:
    """Return the SURT of any http or https URL, as another program wrote it; empty where the text is not one.

    For a canonical URL it is the same as `surt`. Other URLs keep what identifies a visit, except for a few session ids.
    """
    if _ORDINARY.fullmatch(text):
        return surt(text)
    absolute = _absolute(text.partition("#")[0])
    written = "" if absolute is None else str(absolute)
    if written[:7] != "http://" and written[:8] != "https://":
        return ""
    scheme, _, authority, rest = written.split("/", 3)
    place = _authorities.get(authority) or _authority(authority)
    if place is None:
        return ""
    path, mark, query = rest.partition("?")
    if "(" in path:
        path = _SESSION_FOLDER.sub("", f"/{path}", count=1)[1:]
    if mark:
        query = _SESSION.sub("", query, count=1)
    return surt(f"{scheme}//{place[0]}/{path}{mark if query else ''}{query}")


def join(base: str, hrefs: Iterable[str]) -> list[Url | None]:
    """Return each href resolved against the base; None where it leads nowhere.

    A crawl calls no function more often. Pages repeat the links of other pages, so the last results are kept; a page
    repeats its own links with other fragments (half of all links in technical documentation), so fragments are
    removed first."""
    parsed = _absolute(base)
    if parsed is None:
        return [parse(href) for href in hrefs]
    here: dict[str, Url | None] = {}
    known, resolve = _known, parsed.join
    bare = [href.partition("#")[0] for href in hrefs]
    for href in set(bare):
        try:
            text = str(resolve(href))
        except (whatwg.URLError, UnicodeEncodeError):
            text = _retried(parsed, href)
        here[href] = known.get(text) or _canonical(text)
    return [here[href] for href in bare]


def redirect(base: str, location: str) -> Url | None:
    """Return the URL that a Location header, read as Latin-1, leads to.

    As in browsers, raw UTF-8 in it is UTF-8; any other text stays Latin-1.
    """
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    return join(base, [location])[0]


def target(base: str, location: str) -> str:
    """Return the same URL as it is to be requested, with the parts that the canonical form omits; empty: it leads
    nowhere."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    parsed = _absolute(base)
    try:
        return str(parsed.join(location.partition("#")[0])) if parsed is not None else ""
    except (whatwg.URLError, UnicodeEncodeError):
        return ""


def _absolute(text: str) -> whatwg.URL | None:
    if len(text) > LONGEST:
        return None
    try:
        return whatwg.URL.parse(text)
    except (whatwg.URLError, UnicodeEncodeError):
        try:
            return whatwg.URL.parse(_repaired(text))
        except whatwg.URLError:
            return None


def _retried(base: whatwg.URL, href: str) -> str:
    """Try to resolve a repaired href; return an empty text where that fails too."""
    if len(href) > LONGEST:
        return ""
    try:
        return str(base.join(_repaired(href)))
    except whatwg.URLError:
        return ""


def _repaired(text: str) -> str:
    """Change what the parser refuses and browsers accept.

    A lone surrogate becomes U+FFFD, and many slashes before a host become two. A label such as xn--0 that is not
    valid IDNA stays as it is: names with joined emoji are of this kind, and some of them exist."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").translate(_IGNORED)
    text = _SLASHES.sub("//", text.strip(_OUTSIDE))
    authority = _AUTHORITY.match(text)
    if authority is None:
        return text
    before, after = text[: authority.start(1)], text[authority.end(1) :]
    return before + _PUNYCODE.sub(_MASK, authority[1]) + after


def _canonical(text: str) -> Url | None:
    """Return the canonical form of a text that the parser wrote."""
    if (text[:7] != "http://" and text[:8] != "https://") or len(text) > 2 * LONGEST:
        return None
    scheme, _, authority, rest = text.split("/", 3)
    place = _authorities.get(authority) or _authority(authority)
    if place is None:
        return None
    clean: str | None = rest.partition("#")[0]
    if "?" in rest or "%" in rest or ";" in rest or "(" in rest or "^" in rest:
        clean = cleaned(rest.partition("#")[0])
    canonical = f"{scheme}//{place[0]}/{clean}"
    if clean is None or len(canonical) > LONGEST:
        return None
    found = Url(canonical, place[1], place[2], xxhash.xxh3_64_intdigest(canonical.encode()))
    if len(text) <= MEMORABLE:
        if len(_known) >= REMEMBERED:
            _known.clear()
        _known[text] = found
    return found


def _authority(authority: str) -> tuple[str, str, str] | None:
    """Return the authority without user name and trailing dot, its host and its domain; None: no resolver accepts the
    name."""
    host, number = split(authority.rpartition("@")[2])
    host = host.removesuffix(".").replace(_MASK, "xn--")
    if not _HOST.fullmatch(host):
        return None
    found = (host + number, host, domain(host))
    if len(authority) <= MEMORABLE:
        if len(_authorities) >= REMEMBERED:
            _authorities.clear()
        _authorities[authority] = found
    return found


def restored(text: str) -> Url:
    """Return the record of a canonical URL that was written down: a newer rule of canonical form must not change it."""
    start = text.index("//") + 2
    host, site = _restored_place(text[start : text.index("/", start)])
    return Url(text, host, site, key(text))


@functools.lru_cache(REMEMBERED)
def _restored_place(authority: str) -> tuple[str, str]:
    """Return the host of a canonical authority, and its domain."""
    host = authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]
    return host, domain(host)
