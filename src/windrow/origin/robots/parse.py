"""Read a robots.txt: the raw file to condensed rules, and condensed rules to a Ruleset."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from windrow.origin.robots import match
from windrow.urls import patterns

LIMIT = 512_000  # bytes of a file that are read (RFC 9309 §2.5: at least 500 KiB)
LONGEST = 16_663  # characters of a line that are read (the same limit as Google's parser)
LINKS = 1000  # Sitemap lines kept, and as many License lines
LINK = 2048  # characters of such a URL
SIGNALS = 100  # Content-Usage and Content-Signal lines kept
SIGNAL = 1000  # characters of such a line
DAY = 86_400.0  # seconds; a longer Crawl-delay is cut to this, and later to `fetch.max_crawl_delay`
HOUR = 3600.0  # seconds

_FIELDS = {
    spelling: field
    for field, spellings in {
        "user-agent": "user-agent useragent user-agents users-agent useg-agent user-agnet",
        "disallow": "disallow dissallow dissalow disalow diasllow disallaw desallow dissalov diallow disallows",
        "allow": "allow allows",
        "crawl-delay": "crawl-delay crawldelay crawl_delay",
        "request-rate": "request-rate",
        "sitemap": "sitemap sitemaps site-map",
        "license": "license",
        "content-usage": "content-usage",
        "content-signal": "content-signal content-signals",
        "unused": "noindex visit-time clean-param",  # lines of a group that we only count as its lines
        "ai-agents": "ai-agents",  # our own field: only `condense` writes it
    }.items()
    for spelling in spellings.split()
} | {"user agent": "user-agent", "crawl delay": "crawl-delay"}

# Crawlers and product tokens of AI companies. A site that excludes them by name makes a statement about the use of its
# pages.
AI_AGENTS = frozenset(
    "ai2bot amazonbot anthropic-ai applebot-extended bytespider ccbot chatgpt-user claude-web claudebot cohere-ai "
    "deepseekbot diffbot google-extended gptbot img2dataset meta-externalagent mistralai-user oai-searchbot omgili "
    "omgilibot perplexitybot pangubot".split()
)

Pair = tuple[str, str]  # field, value

_RULES = ("allow", "disallow")
_USE = ("content-usage", "content-signal", "license", "ai-agents")  # fields about the use of pages
_BLANK = " \t\v\f"
# "Disallow /x" without a colon: Google obeys it, and the author's intention is clear.
_BARE = re.compile(r"[ \t]*+([A-Za-z_-]++)[ \t]++([^ \t]++)[ \t]*+")
_NAME = re.compile(r"\*(?![\w-])|[\w-]+", re.ASCII)
_HIGH = {octet: f"%{octet:02X}" for octet in range(128, 256)}
_BYTE_ORDER_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|/?(?:p|div|li|tr|pre|body))\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_SECONDS = re.compile(r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_RATE = re.compile(r"([0-9]{1,9})[ \t]*/[ \t]*([0-9]{1,9})[ \t]*([smhd]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": HOUR, "d": DAY}
_CACHED = 1 << 20  # characters of condensed rules whose Rulesets are cached


def condense(body: bytes, agent: str, base: str = "", limit: int = LIMIT) -> str:
    """Return the part of a robots.txt that applies to `agent`, as a small robots.txt with one group; "" if none does.

    Condensing the result again gives the same text. Relative sitemap URLs are resolved against `base`.
    """
    token = _NAME.match(agent.strip())
    fields = read(body, limit)
    name, group, shared = _group_for(fields, token[0].lower() if token else "*")
    lines = [*_rules(group), *_delay(group), *_signals(shared + group)]
    if lines:
        lines.insert(0, f"user-agent: {name}")
    return "\n".join(lines + _links(shared, base) + _excluded(fields, shared))


def read(body: bytes, limit: int) -> list[Pair]:
    """Return every line with a known field within the limit, as canonical field name and value."""
    text = _decode(body[:limit])
    return list(_fields(text if len(body) < limit else _whole_lines(text)))


def _whole_lines(text: str) -> str:
    """Return the text without a last line that the limit cuts.

    A cut line can forbid more than the author wrote: "Disallow: /private" becomes "Disallow: /".
    """
    end = max(text.rfind("\n"), text.rfind("\r")) + 1
    return text[:end] if end else text


def _decode(body: bytes) -> str:
    """Return one character per octet, so that octets can be compared in any encoding.

    A file in UTF-16 or UTF-32 has no rules: RFC 9309 §2.2 requires UTF-8, and Google's parser finds no field in it.
    """
    if body[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in (body[:1], body[1:2]):
        return ""
    if mark := _BYTE_ORDER_MARK.match(body):
        body = body[mark.end() :]
    # No-break spaces come from text copied out of a web page; they are never part of a path.
    text = body.replace(b"\0", b"").replace(b"\xc2\xa0", b" ").decode("latin-1")
    return _TAG.sub("", _BREAK.sub("\n", text)) if _HTML.search(text) else text


def _fields(text: str) -> Iterator[Pair]:
    for line in text.replace("\r", "\n").split("\n"):
        if len(line) < 6:  # "Allow:" has six characters; a flood of empty lines must cost nothing
            continue
        line = line[:LONGEST].partition("#")[0]
        key, _, value = line.partition(":")
        field = _FIELDS.get(key.strip(_BLANK).lower())
        if field is None and (bare := _BARE.fullmatch(line)):
            field, value = _FIELDS.get(bare[1].lower()), bare[2]
        if field is not None:
            value = value.strip(_BLANK)
            yield field, value if value.isascii() else value.translate(_HIGH)


def _group_for(fields: Iterable[Pair], agent: str) -> tuple[str, list[Pair], list[Pair]]:
    """Return the name and lines of the group that `agent` obeys, and the lines that belong to no group.

    All groups with the same name are merged; the group "*" applies only if no group names the agent. Only a rule ends
    the list of agents that the next rules apply to (§2.2.1): other records must not interfere with it (§2.2.4). Any
    record ends the list that other records apply to, so that each of two groups without rules keeps its Crawl-delay.
    """
    groups: dict[str, list[Pair]] = {agent: [], "*": []}
    shared: list[Pair] = []
    ruled: set[str] = set()  # which of the two groups the next rule belongs to
    noted: set[str] = set()  # which of them the next other record belongs to
    named = started = after_rule = after_record = False
    for field, value in fields:
        if field == "user-agent":
            ruled = set() if after_rule else ruled
            noted = set() if after_record else noted
            after_rule = after_record = False
            name = _NAME.match(value)
            token = name[0].lower() if name else ""
            if token in groups:
                ruled.add(token)
                noted.add(token)
            named, started = named or token == agent, True
        elif _belongs_to_no_group(field, started):
            shared.append((field, value))
        else:
            after_rule, after_record = after_rule or field in _RULES, True
            for each in ruled if field in _RULES else noted:
                groups[each].append((field, value))
    chosen = agent if named else "*"
    return chosen, groups[chosen], shared


def _belongs_to_no_group(field: str, started: bool) -> bool:
    return field in ("sitemap", "license", "ai-agents") or (not started and field.startswith("content-"))


def _rules(group: Iterable[Pair]) -> list[str]:
    lines = (f"{field}: {patterns.canonical_pattern(value)}"[:LONGEST] for field, value in group if field in _RULES)
    # A pattern with any other first character matches no path; an empty pattern is no rule (§2.2.2).
    return list(dict.fromkeys(line for line in lines if line.partition(": ")[2].startswith(("/", "*"))))


def _delay(group: Iterable[Pair]) -> list[str]:
    """Return the longest requested pause; Request-rate is another notation for a pause."""
    pauses = [
        _rate(value) if field == "request-rate" else _seconds(value)
        for field, value in group
        if field in ("crawl-delay", "request-rate")
    ]
    stated = [pause for pause in pauses if pause is not None]
    return [f"crawl-delay: {max(stated):g}"] if stated else []


def _seconds(value: str) -> float | None:
    number = _SECONDS.match(value)
    return None if number is None else min(float(number[0].replace(",", ".")), DAY)


def _rate(value: str) -> float | None:
    rate = _RATE.match(value)
    if rate is None or not int(rate[1]):
        return None
    return min(int(rate[2]) * _UNITS[rate[3].lower()] / int(rate[1]), DAY)


def _signals(pairs: Iterable[Pair]) -> list[str]:
    lines = (f"{field}: {' '.join(value.split())}" for field, value in pairs if value and field.startswith("content-"))
    return list(dict.fromkeys(line for line in lines if len(line) <= SIGNAL and line.isprintable()))[:SIGNALS]


def _links(pairs: Iterable[Pair], base: str) -> list[str]:
    lines: dict[str, dict[str, None]] = {"sitemap": {}, "license": {}}
    for field, value in pairs:
        if field in lines and len(lines[field]) < LINKS and (url := absolute(value, base)):
            lines[field][f"{field}: {url}"] = None
    return [*lines["sitemap"], *lines["license"]]


def absolute(value: str, base: str) -> str:
    """Return the first URL of a value, resolved against `base`; "" if there is none."""
    first = "".join(value.split(None, 1)[:1])
    try:
        url = urljoin(base, first) if first else ""
        parts = urlsplit(url)
    except ValueError:  # a host in brackets that is not an IPv6 address
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc and len(url) <= LINK and url.isprintable() else ""


def _excluded(fields: list[Pair], shared: list[Pair]) -> list[str]:
    """Return one line that lists the crawlers of AI companies that the file excludes by name from the whole site."""
    named = {name[0].lower() for field, value in fields if field == "user-agent" and (name := _NAME.match(value))}
    excluded = {agent for field, value in shared if field == "ai-agents" for agent in value.lower().split()}
    for agent in named & AI_AGENTS:
        rules = {(field, value) for field, value in _group_for(fields, agent)[1] if field in _RULES}
        if ("disallow", "/") in rules and ("allow", "/") not in rules:
            excluded.add(agent)
    return [f"ai-agents: {' '.join(sorted(excluded & AI_AGENTS))}"] if excluded & AI_AGENTS else []


class _Cache:
    """The latest Rulesets. Few files differ: all hosts of a platform serve the same one, and most say nothing to us."""

    __slots__ = ("_rulesets", "_size")

    def __init__(self) -> None:
        self._rulesets: dict[str, match.Ruleset] = {}
        self._size = 0

    def get(self, text: str) -> match.Ruleset:
        ruleset = self._rulesets.get(text)
        if ruleset is None:
            if self._size > _CACHED:
                self._rulesets.clear()
                self._size = 0
            ruleset = self._rulesets[text] = _build(text)
            self._size += len(text)
        return ruleset


def _build(text: str) -> match.Ruleset:
    lines = (line.partition(": ") for line in text.split("\n"))
    pairs = [(field, value) for field, _, value in lines if value]
    return match.Ruleset(
        [(field == "allow", value) for field, value in pairs if field in _RULES],
        delay=next((_seconds(value) for field, value in pairs if field == "crawl-delay"), None),
        sitemaps=tuple(value for field, value in pairs if field == "sitemap"),
        signals=tuple(f"{field}: {value}" for field, value in pairs if field in _USE),
    )


_cache = _Cache()


def parse(rules: str) -> match.Ruleset:
    """Return the Ruleset of a text that `condense` wrote."""
    return _cache.get(rules)
