"""One canonical form for a URL, and what is read from it: host, registered domain, key, SURT.

Parsing is WHATWG's (what browsers do, the `url` crate). On top of it comes what a crawler needs: everything that names a visit
and not a page is removed (fragment, user name, session ids, tracking parameters), and escapes that mean the same are written
the same. Parameters keep their order and `www.` stays: changing those changes which page is asked for.
"""

import codecs
import contextlib
import functools
import importlib.resources
import re
import urllib.parse
from collections.abc import Iterable

import url as whatwg
import xxhash

from windrow.data import Url

LONGEST = 1 << 16  # characters; beyond this a URL is not one (servers stop at 8 KiB, hostile pages do not)
PASSES = 8  # rounds of cleaning until nothing changes; two or three do, this only bounds the work
REMEMBERED = 1 << 14  # URLs, and as many hosts, whose answer is kept, if they are not longer than
MEMORABLE = 512  # characters: a hostile page must not choose how much memory that takes
NAME = 64  # characters of a parameter's name that are looked at, for the same reason

SESSION = frozenset(
    "bv_engineid bv_sessionid cfid cftoken jsessionid mscssid oscsid phpsessid phpsessionid plsessid xoscsid xtcsid zencartid zenid".split()
)
SESSION_LIKE = frozenset(
    "asp.net_sessionid sess_id sessid session-id session_id sessionid sessiontoken sesskey".split()
)
SESSION_SHORT = frozenset("s sess session sid ssid".split())
TRACKING = frozenset(
    "__hsfp __hssc __hstc _branch_match_id _ga _gl _hsenc _hsmi _openstat dclid ef_id epik fb_action_ids fb_action_types fb_ref "
    "fb_source fbclid gbraid gclid gclsrc guccounter guce_referrer guce_referrer_sig hsctatracking igsh igshid li_fat_id mc_cid "
    "mc_eid mkt_tok msclkid oly_anon_id oly_enc_id pk_campaign pk_cid pk_content pk_keyword pk_kwd pk_medium pk_source rb_clickid "
    "s_kwcid srsltid ttclid twclid vero_conv vero_id wbraid wickedid xtor yclid ysclid zanpid".split()
)
PREFIXES = ("utm_", "mtm_", "piwik_", "aspsessionid")

_ANY = re.compile(".*", re.DOTALL)
_LIKE = re.compile(r"(?=.*\d)(?:(?=.*[A-Za-z])[0-9A-Za-z]{8,}|[\w.!~:-]{16,})", re.ASCII)
_SHORT = re.compile(r"(?=.*\d)(?=.*[A-Za-z])(?:[0-9A-Fa-f]{16,}|[0-9A-Za-z_-]{20,})")
_AMP = re.compile(r"(^|[&;])(?:amp(?:;|%3[Bb]))+")
_PATH_SESSION = re.compile(r"(?:;|%3B)(?:jsessionid|phpsessid)(?:=|%3D)[^/;]*", re.IGNORECASE)
_COOKIELESS = re.compile(
    r"/\((?:(?=[^/]*\([\w-]{20,}\))(?:[asfx]\([\w-]*\))+|[a-z0-5]{24})\)(?=/|$)", re.ASCII | re.IGNORECASE
)
_AUTHORITY = re.compile(r"(?i:https?:)?[/\\]*([^/\\?#\0- \x7f-\U0010ffff]*)(?=[/\\?#]|$)")
_PUNYCODE = re.compile("xn--", re.IGNORECASE)
_MASK = "xnpunycodemask"  # hides a label's xn-- from the parser
_SLASHES = re.compile(r"^[/\\]{3,}")
_IGNORED = {ord(char): None for char in "\t\n\r"}
_OUTSIDE = "".join(map(chr, range(33)))  # what may surround a URL
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_HOST = re.compile(r"(?!.{254})[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\]")
_WWW = re.compile(r"^www\d*\.")

_HEX = "0123456789ABCDEFabcdef"
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {f"%{high}{low}": int(high + low, 16) for high in _HEX for low in _HEX}
_DECODED = {escape: chr(octet) if octet in _UNRESERVED else escape.upper() for escape, octet in _ESCAPES.items()}
_DECODED["%"] = "%25"
_SETTLED = frozenset(escape for escape, text in _DECODED.items() if escape == text)

_NESTED = re.compile(b"%(?:25)+")
_FOLDED = [
    f"%{octet:02x}" if octet <= 0x20 or octet >= 0x7F or octet in b"#%" else chr(octet).lower() for octet in range(256)
]
_OCTETS = [chr(octet) if 0x20 < octet < 0x7F else f"%{octet:02X}" for octet in range(256)]

_known: dict[str, Url] = {}  # by the text the parser wrote
_places: dict[str, tuple[str, str, str]] = {}  # by authority: the same as it should be, its host, its domain


def parse(text: str) -> Url | None:
    """The canonical form of an absolute http or https URL; None where it is not one."""
    absolute = _absolute(text.partition("#")[0])
    return None if absolute is None else _canonical(str(absolute))


def join(base: str, hrefs: Iterable[str], charset: str = "utf-8") -> list[Url | None]:
    """Each href as seen from the base. The charset is the page's: in old ones a query is sent as it was typed (WHATWG URL §1.3).

    This is the most called function of a crawl. Pages repeat each other's links, so the last answers are kept; they repeat their own
    with other fragments (half of all links in technical documentation), so fragments go first.
    """
    if not charset.lower().startswith("utf"):
        hrefs = [_in_charset(href, charset) for href in hrefs]
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
    """Where a Location header, read as Latin-1, leads: raw UTF-8 in it is UTF-8, as in browsers, and the rest what it looks like."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    return join(base, [location])[0]


def target(base: str, location: str) -> str:
    """The same as it is to be asked for, with whatever the canonical form leaves out; empty where it leads nowhere."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    parsed = _absolute(base)
    try:
        return str(parsed.join(location.partition("#")[0])) if parsed is not None else ""
    except (whatwg.URLError, UnicodeEncodeError):
        return ""


def key(text: str) -> int:
    """Names a URL in every store and file: the function never changes."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def origin(text: str) -> str:
    """scheme://host[:port] of a canonical URL."""
    return text[: text.index("/", 8)]


def authority_of(text: str) -> str:
    """host[:port] of a canonical URL; empty where the text is not a URL."""
    return text.partition("//")[2].partition("/")[0]


def host_of(text: str) -> str:
    """Return the host of a canonical URL; empty where the text is not a URL."""
    return _split(authority_of(text))[0]


def port(text: str) -> int:
    """The port of a canonical URL."""
    number = _split(origin(text)[6:])[1]
    return int(number[1:]) if number else 443 if text[4] == "s" else 80


def tld(host: str) -> str:
    """The last label; empty for an IP address."""
    last = host.rpartition(".")[2]
    return "" if last.isdigit() or ":" in host else last


@functools.lru_cache(REMEMBERED)
def domain(host: str) -> str:
    """The registered domain of a canonical host by the public suffix list, private suffixes included.

    A public suffix, a single label and an IP address are their own domain: each needs an owner.
    """
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return host
    return ".".join(labels[-_suffix(labels) - 1 :])


def surt(text: str) -> str:
    """The sort key of a canonical URL in CDX and columnar indexes, as the Internet Archive's tools and Common Crawl write it."""
    authority = origin(text)
    path, _, query = text[len(authority) :].partition("?")
    host, number = _split(authority[authority.index("//") + 2 :])
    host = ",".join(reversed(_WWW.sub("", host).split(".")))
    path = "/".join(filter(None, _folded(path).split("/")))
    if query:
        pairs = sorted(part.split("=", 1) for part in _folded(query).split("&"))
        query = "?" + "&".join("=".join(pair) for pair in pairs)
    return f"{host}{number})/{path}{query}"


def _folded(text: str) -> str:
    """Every escape undone, however deep, then what must be escaped written so again, all in lower case."""
    octets, before = text.encode(), b""
    while octets != before:
        before = octets
        octets = urllib.parse.unquote_to_bytes(_NESTED.sub(b"%", octets))
    return "".join([_FOLDED[octet] for octet in octets])


def _split(authority: str) -> tuple[str, str]:
    """Host, and port with its colon where there is one."""
    colon = authority.rfind(":")
    if colon < 0 or authority.endswith("]"):
        return authority, ""
    return authority[:colon], authority[colon:]


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
    """The second try at an href; empty where it is lost."""
    if len(href) > LONGEST:
        return ""
    try:
        return str(base.join(_repaired(href)))
    except whatwg.URLError:
        return ""


def _repaired(text: str) -> str:
    """What the parser refuses and a browser does not: a lone surrogate is U+FFFD, many slashes before a host are two, and a
    label such as xn--0 that is no IDNA stays as it is (names with joined emoji are of this kind, and some of them exist)."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").translate(_IGNORED)
    text = _SLASHES.sub("//", text.strip(_OUTSIDE))
    authority = _AUTHORITY.match(text)
    if authority is None:
        return text
    before, after = text[: authority.start(1)], text[authority.end(1) :]
    return before + _PUNYCODE.sub(_MASK, authority[1]) + after


def _in_charset(href: str, charset: str) -> str:
    """The href with its query in the octets of the page's charset, as browsers send it."""
    head, mark, query = href.partition("#")[0].partition("?")
    if query.isascii():
        return href
    try:
        octets = query.encode(charset, "windrow.reference")
    except (LookupError, UnicodeError):
        return href
    return head + mark + "".join(_OCTETS[octet] for octet in octets)


def _reference(error: UnicodeError) -> tuple[str, int]:
    """What the charset does not have becomes a character reference, escaped (WHATWG Encoding §4.1 and URL §1.3)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(f"%26%23{ord(char)}%3B" for char in error.object[error.start : error.end]), error.end


codecs.register_error("windrow.reference", _reference)


def _canonical(text: str) -> Url | None:
    """From what the parser wrote to the canonical form."""
    if (text[:7] != "http://" and text[:8] != "https://") or len(text) > 2 * LONGEST:
        return None
    scheme, _, authority, rest = text.split("/", 3)
    place = _places.get(authority) or _place(authority)
    if place is None:
        return None
    settled: str | None = rest.partition("#")[0]
    if "?" in rest or "%" in rest or ";" in rest or "(" in rest:
        settled = _settled(rest.partition("#")[0])
    canonical = f"{scheme}//{place[0]}/{settled}"
    if settled is None or len(canonical) > LONGEST:
        return None
    found = Url(canonical, place[1], place[2], xxhash.xxh3_64_intdigest(canonical.encode()))
    if len(text) <= MEMORABLE:
        if len(_known) >= REMEMBERED:
            _known.clear()
        _known[text] = found
    return found


def _place(authority: str) -> tuple[str, str, str] | None:
    """Authority without user and trailing dot, host, domain; None for a name that no resolver could be asked for."""
    host, number = _split(authority.rpartition("@")[2])
    host = host.removesuffix(".").replace(_MASK, "xn--")
    if not _HOST.fullmatch(host):
        return None
    place = (host + number, host, domain(host))
    if len(authority) <= MEMORABLE:
        if len(_places) >= REMEMBERED:
            _places.clear()
        _places[authority] = place
    return place


def _settled(rest: str) -> str | None:
    """Path and query cleaned until nothing changes: what is removed can lay bare a dot segment or another session id."""
    for _ in range(PASSES):
        cleaned = _clean(rest)
        if cleaned == rest:
            return rest
        rest = str(whatwg.URL.parse("http://h/" + cleaned))[9:]
    return None


def _clean(rest: str) -> str:
    path, _, query = rest.partition("?")
    if ";" in path or "%3" in path:
        path = _PATH_SESSION.sub("", path)
    if "(" in path:
        path = _COOKIELESS.sub("", "/" + path)[1:]
    if query:
        query = _clean_query(query)
    return _unescaped(f"{path}?{query}" if query else path)


def _clean_query(query: str) -> str:
    if "amp" in query:
        query = _AMP.sub(r"\1", query)
    parts = re.split("(?=[&;])", query) if ";" in query else query.split("&")
    kept = [part for part in parts if not _names_visit(part)]
    if len(kept) == len(parts):
        return query
    if ";" not in query:
        return "&".join(kept)
    return "".join(kept)[kept[:1] != parts[:1] :]


def _names_visit(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    rule = _rule(name[:NAME])
    return rule is not None and rule.fullmatch(value) is not None


@functools.lru_cache(4096)
def _rule(name: str) -> re.Pattern[str] | None:
    """What the value of a parameter of this name looks like when it names a visit; None for any other name."""
    name = name.lower().lstrip("&;")
    if name in SESSION or name in TRACKING or name.startswith(PREFIXES):
        return _ANY
    if name in SESSION_LIKE:
        return _LIKE
    return _SHORT if name in SESSION_SHORT else None


def _unescaped(text: str) -> str:
    """Unreserved octets decoded, the rest in upper case (RFC 3986 §6.2.2).

    A stray % is data and must be an escape of its own (§2.4); left alone, what is decoded behind it could complete it to another.
    """
    if "%" not in text or _SETTLED.issuperset(_ESCAPE.findall(text)):
        return text
    return _ESCAPE.sub(lambda match: _DECODED[match[0]], text)


@functools.cache
def _rules() -> dict[str, int]:
    """Public suffix rules: to a name, how many labels more than its own a suffix that ends in it has (1: a wildcard, -1: an exception)."""
    rules: dict[str, int] = {}
    data = importlib.resources.files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    for line in data.splitlines():
        rule = line.partition(" ")[0]
        if not rule or rule.startswith("//"):
            continue
        more = {"!": -1, "*": 1}.get(rule[0], 0)
        name = rule.removeprefix("!").removeprefix("*.")
        if not name.isascii():
            name = whatwg.URL.parse("http://" + name).host_str or name
        rules[name] = more if more else rules.get(name, 0)
    return rules


def _suffix(labels: list[str]) -> int:
    """How many labels of the host are public suffix."""
    rules, longest = _rules(), 1
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
