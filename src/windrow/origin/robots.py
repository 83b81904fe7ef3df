"""robots.txt: what an origin asks of us, and whether a path may be requested (RFC 9309; docs/robots.md has the fine print).

A file is read three times, each time as something smaller: `condense` keeps the group that speaks to us as a canonical text, which
the frontier stores; `parse` makes of that text a matcher; `verdict` says what any answer, or none, means for the origin.
Nothing here backtracks: time grows with the size of the input and no faster, whoever wrote it.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from windrow.config import Fetch
from windrow.data import Capture, Failure, Reason, Robots

LIMIT = 512_000  # octets of a file that are read (RFC 9309 §2.5: at least 500 KiB)
LONGEST = 16_663  # characters of a line that are read (Google's parser reads as many)
LINKS = 1000  # Sitemap lines kept, and as many License lines
LINK = 2048  # characters of such a URL
SIGNALS = 100  # Content-Usage and Content-Signal lines kept
SIGNAL = 1000  # characters of such a line
DAY = 86_400.0  # seconds; a longer Crawl-delay is cut to this here, and to `fetch.max_crawl_delay` by who obeys it
HOUR = 3600.0  # seconds; no file is asked for more often because of its Cache-Control

_FIELDS = {
    spelling: field
    for field, spellings in {
        "user-agent": "user-agent useragent user_agent user-agents users-agent useg-agent user-agnet",
        "disallow": "disallow dissallow dissalow disalow diasllow disallaw desallow dissalov diallow disallows",
        "allow": "allow allows",
        "crawl-delay": "crawl-delay crawldelay crawl_delay",
        "request-rate": "request-rate",
        "sitemap": "sitemap sitemaps site-map",
        "license": "license",
        "content-usage": "content-usage",
        "content-signal": "content-signal content-signals",
        "ai-agents": "ai-agents",  # our own, in what `condense` writes
    }.items()
    for spelling in spellings.split()
} | {"user agent": "user-agent", "crawl delay": "crawl-delay"}

# Crawlers and product tokens of AI companies. A site that closes itself to them by name says something about the use of its pages.
AI_AGENTS = frozenset(
    "ai2bot amazonbot anthropic-ai applebot-extended bytespider ccbot chatgpt-user claude-web claudebot cohere-ai deepseekbot diffbot "
    "google-extended gptbot img2dataset meta-externalagent mistralai-user oai-searchbot omgili omgilibot perplexitybot pangubot".split()
)

_BLANK = " \t\v\f"
_BARE = re.compile(
    r"[ \t]*+([A-Za-z_-]++)[ \t]++([^ \t]++)[ \t]*+"
)  # "Disallow /x": Google obeys it, and the author meant it
_NAME = re.compile(r"\*(?![\w-])|[\w-]+", re.ASCII)
_HIGH = {octet: f"%{octet:02X}" for octet in range(128, 256)}
_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")
_HTML = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|/?(?:p|div|li|tr|pre|body))\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_SECONDS = re.compile(r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_RATE = re.compile(r"([0-9]{1,9})[ \t]*/[ \t]*([0-9]{1,9})[ \t]*([smhd]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": HOUR, "d": DAY}
_MAX_AGE = re.compile(r"max-age\s*=\s*\"?([0-9]{1,9})")

# Where a text differs from its canonical form. In a rule `*` and a last `$` are operators, and an escape that is cut off at the end
# of a literal is left so that it still matches what it begins.
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NEEDLESS = r"%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9AEae])"
_TO_WRITE = _NEEDLESS + "|%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F])"
_IN_RULE = re.compile(
    _TO_WRITE + r"|%(?![0-9A-Fa-f]{2}|[0-9A-Fa-f]?(?:\*|\Z))|\$(?!\Z)|[^\w\-.~:/?#\[\]@!&'()+,;=*$%]",
    re.ASCII,
)
_IN_PATH = re.compile(_TO_WRITE + r"|%(?![0-9A-Fa-f]{2})|[^\w\-.~:/?#\[\]@!&'()+,;=%]", re.ASCII)
_AS_LETTER = re.compile(_NEEDLESS)

Pair = tuple[str, str]  # field, value
Ruling = tuple[
    int, str
]  # rank, rule line; the rank is twice the length of the rule, and one more if it allows: the highest wins

_TOLD = ("content-usage", "content-signal", "license", "ai-agents")  # fields that say something about the use of pages
_NO_RULE: Ruling = (1, "")
_ALWAYS: Ruling = (1, "allow: /robots.txt")
_TOO_MUCH: Ruling = (0, "disallow: too many wildcard rules apply to say")
_FEW = 48  # wildcard rules that are simply tried one after the other
_GRAM = 3  # characters
_EFFORT = 2000  # literals looked for in one path, and two more for each of its characters, before the answer is no
_KEPT = 1 << 20  # characters of rules whose matchers are kept


def condense(body: bytes, agent: str, base: str = "", limit: int = LIMIT) -> str:
    """What a robots.txt says to `agent`, as a small robots.txt with one group; "" where it says nothing.

    Condensing the outcome again gives the same text. Relative sitemap URLs are resolved against `base`.
    """
    token = _NAME.match(agent.strip())
    fields = list(_fields(_decode(_whole(body, limit))))
    name, group, shared = _chosen(fields, token[0].lower() if token else "*")
    lines = [*_rules(group), *_delay(group), *_signals(shared + group)]
    if lines:
        lines.insert(0, f"user-agent: {name}")
    return "\n".join(lines + _links(shared, base) + _closed(fields, shared))


def _closed(fields: list[Pair], shared: list[Pair]) -> list[str]:
    """Which AI companies' crawlers are kept out of the whole site by name."""
    named = {name[0].lower() for field, value in fields if field == "user-agent" and (name := _NAME.match(value))}
    closed = {agent for field, value in shared if field == "ai-agents" for agent in value.lower().split()}
    for agent in named & AI_AGENTS:
        rules = {(field, value) for field, value in _chosen(fields, agent)[1] if field in ("allow", "disallow")}
        if ("disallow", "/") in rules and ("allow", "/") not in rules:
            closed.add(agent)
    return [f"ai-agents: {' '.join(sorted(closed & AI_AGENTS))}"] if closed & AI_AGENTS else []


def _whole(body: bytes, limit: int) -> bytes:
    """The lines within the limit. One that was cut could say more than it did: "Disallow: /" of "Disallow: /private"."""
    if len(body) < limit:
        return body
    end = max(body.rfind(b"\n", 0, limit), body.rfind(b"\r", 0, limit)) + 1
    return body[: end or limit]


def _decode(body: bytes) -> str:
    """One character per octet, so that octets can be compared whatever the encoding; UTF-16 as the same text in UTF-8."""
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        body = body.decode("utf-16", "ignore").encode()
    elif body[1:2] == b"\0" == body[3:4]:
        body = body.decode("utf-16-le", "ignore").encode()
    elif body[:1] == b"\0" == body[2:3]:
        body = body.decode("utf-16-be", "ignore").encode()
    elif mark := _MARK.match(body):
        body = body[mark.end() :]
    # A no-break space comes with text copied from a web page and is not part of any path.
    text = body.replace(b"\0", b"").replace(b"\xc2\xa0", b" ").decode("latin-1")
    return _TAG.sub("", _BREAK.sub("\n", text)) if _HTML.search(text) else text


def _fields(text: str) -> Iterator[Pair]:
    """The lines we know, as canonical field name and value."""
    for line in text.replace("\r", "\n").split("\n"):
        if len(line) < 6:  # "Allow:" has six; a flood of empty lines should cost nothing
            continue
        line = line[:LONGEST].partition("#")[0]
        key, _, value = line.partition(":")
        field = _FIELDS.get(key.strip(_BLANK).lower())
        if field is None and (bare := _BARE.fullmatch(line)):
            field, value = _FIELDS.get(bare[1].lower()), bare[2]
        if field is not None:
            value = value.strip(_BLANK)
            yield field, value if value.isascii() else value.translate(_HIGH)


def _chosen(fields: Iterable[Pair], agent: str) -> tuple[str, list[Pair], list[Pair]]:
    """The name and the lines of the group to obey, merged from all that name it, and the lines that belong to no group."""
    own: list[Pair] = []
    everyone: list[Pair] = []
    shared: list[Pair] = []
    named = mine = general = gathering = started = False
    for field, value in fields:
        if field == "user-agent":
            if not gathering:
                mine = general = False
            name = _NAME.match(value)
            mine = mine or (name is not None and name[0].lower() == agent)
            general = general or (name is not None and name[0] == "*")
            named = named or mine
            gathering = started = True
        elif field in ("sitemap", "license", "ai-agents") or (not started and field.startswith("content-")):
            shared.append((field, value))
        else:
            # Only a rule ends the list of agents (§2.2.1); other records do not (§2.2.4).
            gathering = gathering and field not in ("allow", "disallow")
            if mine:
                own.append((field, value))
            if general:
                everyone.append((field, value))
    return (agent, own, shared) if named else ("*", everyone, shared)


def _rules(group: Iterable[Pair]) -> list[str]:
    lines = (f"{field}: {pattern(value)}"[:LONGEST] for field, value in group if field in ("allow", "disallow"))
    # A pattern that starts otherwise matches no path; an empty one is no rule (§2.2.2).
    return list(dict.fromkeys(line for line in lines if line.partition(": ")[2].startswith(("/", "*"))))


def _delay(group: Iterable[Pair]) -> list[str]:
    """The longest pause asked for; Request-rate is another way to write one."""
    pauses = [
        _rate(value) if field == "request-rate" else _seconds(value)
        for field, value in group
        if field in ("crawl-delay", "request-rate")
    ]
    known = [pause for pause in pauses if pause is not None]
    return [f"crawl-delay: {max(known):g}"] if known else []


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
    found: dict[str, dict[str, None]] = {"sitemap": {}, "license": {}}
    for field, value in pairs:
        if field in found and len(found[field]) < LINKS and (url := absolute(value, base)):
            found[field][f"{field}: {url}"] = None
    return [*found["sitemap"], *found["license"]]


def absolute(value: str, base: str) -> str:
    """The first URL of a value; "" where there is none."""
    first = "".join(value.split(None, 1)[:1])
    try:
        url = urljoin(base, first) if first else ""
        parts = urlsplit(url)
    except ValueError:  # a host in brackets that is no address
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc and len(url) <= LINK and url.isprintable() else ""


def _canonical(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))


def pattern(value: str) -> str:
    """A rule's path in the form that is compared (§2.2.2): what need not be escaped is not, all else is, in capitals."""
    return _IN_RULE.sub(_canonical, value)


def canonical(path: str) -> str:
    """A path, with its query, in the form that is compared."""
    return _IN_PATH.sub(_canonical, path)


class _Wild(NamedTuple):
    """A rule with a `*` inside, split at its stars."""

    rank: int
    line: str
    head: str
    middle: tuple[str, ...]
    tail: str | None  # what a path must end with; None: anything
    least: int  # characters of the shortest path that matches

    def longest(self) -> str:
        return max(self.head, *self.middle, self.tail or "", key=len)

    def fits(self, path: str) -> bool:
        """Leftmost places are as good as any, so each literal is looked for once: linear, where backtracking is not."""
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for literal in self.middle:
            at = path.find(literal, at)
            if at < 0:
                return False
            at += len(literal)
        return self.tail is None or (len(path) - at >= len(self.tail) and path.endswith(self.tail))


class _Prefixes:
    """Rules that match whatever begins as they do, in order, each with the best of all that are a prefix of it."""

    __slots__ = ("_best", "_parents", "_texts")

    def __init__(self, rulings: dict[str, Ruling]) -> None:
        self._texts = sorted(rulings)
        self._best: list[Ruling] = []
        self._parents: list[int] = []
        stack: list[int] = []
        for place, text in enumerate(self._texts):
            while stack and not text.startswith(self._texts[stack[-1]]):
                stack.pop()
            self._parents.append(stack[-1] if stack else -1)
            self._best.append(max(rulings[text], self._best[stack[-1]]) if stack else rulings[text])
            stack.append(place)

    def find(self, path: str) -> Ruling:
        """Every prefix of the path is the text that sorts just before it, or a prefix of that."""
        place = bisect_right(self._texts, path) - 1
        while place >= 0:
            if path.startswith(self._texts[place]):
                return self._best[place]
            place = self._parents[place]
        return _NO_RULE


class _Few:
    """Up to a handful of wildcard rules, the highest rank first."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Sequence[_Wild]) -> None:
        self._rules = [(rule.rank, rule.longest(), rule) for rule in sorted(rules, key=lambda rule: -rule.rank)]

    def find(self, path: str, best: Ruling) -> Ruling:
        for rank, literal, rule in self._rules:
            if rank <= best[0]:
                break
            if literal in path and rule.fits(path):
                return rank, rule.line
        return best


class _Many:
    """Wildcard rules by a few characters that a path must hold to match, the rarest of each rule, so that few are tried."""

    __slots__ = ("_rules", "_sizes")

    def __init__(self, rules: Sequence[_Wild]) -> None:
        grams = [_grams(rule) for rule in rules]
        counts = Counter(gram for each in grams for gram in each)
        self._rules: dict[str, list[_Wild]] = {}
        for rule, each in zip(rules, grams, strict=True):
            self._rules.setdefault(min(each, key=counts.__getitem__), []).append(rule)
        self._sizes = {len(gram) for gram in self._rules}

    def find(self, path: str, best: Ruling) -> Ruling:
        effort = _EFFORT + 2 * len(path)
        for size in self._sizes:
            for gram in self._rules.keys() & {path[at : at + size] for at in range(len(path) - size + 1)}:
                for rule in self._rules[gram]:
                    effort -= 1
                    if rule.rank > best[0] and rule.least <= len(path):
                        effort -= len(rule.middle)
                        if rule.fits(path):
                            best = rule.rank, rule.line
                    if effort < 0:
                        return _TOO_MUCH
        return best


def _grams(rule: _Wild) -> list[str]:
    """Up to 32 pieces of a rule's longest literal, from both of its ends."""
    literal = rule.longest()
    size = min(_GRAM, len(literal))
    places = range(len(literal) - size + 1)
    return [literal[at : at + size] for at in (places if len(places) <= 32 else [*places[:16], *places[-16:]])]


class Rules:
    """What an origin asks of us, ready to be asked about many paths."""

    __slots__ = ("_escapes", "_exact", "_free", "_prefixes", "_wild", "delay", "signals", "sitemaps")

    def __init__(self, pairs: Sequence[Pair]) -> None:
        exact: dict[str, Ruling] = {}
        prefixes: dict[str, Ruling] = {}
        wild: list[_Wild] = []
        for field, pattern in pairs:
            if field in ("allow", "disallow"):
                ruling = (2 * len(pattern) + (field == "allow"), f"{field}: {pattern}")
                literal = pattern.rstrip("*")
                if "*" in literal:
                    wild.append(_split(pattern, ruling))
                elif literal.endswith("$") and literal == pattern:
                    exact[literal[:-1]] = max(ruling, exact.get(literal[:-1], _NO_RULE))
                else:
                    prefixes[literal] = max(ruling, prefixes.get(literal, _NO_RULE))
        self._free = not any(field == "disallow" for field, _ in pairs)
        self._escapes = any("%" in pattern for field, pattern in pairs if field in ("allow", "disallow"))
        self._exact = exact
        self._prefixes = _Prefixes(prefixes) if prefixes else None
        self._wild = None if not wild else _Few(wild) if len(wild) <= _FEW else _Many(wild)
        self.delay = next((_seconds(value) for field, value in pairs if field == "crawl-delay"), None)  # seconds
        self.sitemaps = tuple(value for field, value in pairs if field == "sitemap")
        self.signals = tuple(f"{field}: {value}" for field, value in pairs if field in _TOLD)

    def allows(self, path: str) -> bool:
        """Whether a path, with its query, may be requested."""
        return self._free or self._find(path)[0] & 1 == 1

    def decide(self, path: str) -> tuple[bool, str]:
        """The same, and the rule that decided; "" where none applies."""
        rank, line = self._find(path)
        return self._free or rank & 1 == 1, line

    def _find(self, path: str) -> Ruling:
        if path == "/robots.txt":
            return _ALWAYS
        # Where no rule has an escape, none matches one: only letters that were escaped must be written out.
        if self._escapes or ("%" in path and _AS_LETTER.search(path)):
            path = canonical(path)
        best = self._prefixes.find(path) if self._prefixes else _NO_RULE
        if path in self._exact:
            best = max(best, self._exact[path])
        return self._wild.find(path, best) if self._wild else best


def _split(pattern: str, ruling: Ruling) -> _Wild:
    anchored = pattern.endswith("$")
    head, *middle = (pattern[:-1] if anchored else pattern).split("*")
    tail = middle.pop() if anchored else None
    literals = tuple(literal for literal in middle if literal)
    return _Wild(*ruling, head, literals, tail, len(head) + sum(map(len, literals)) + len(tail or ""))


class Location:
    """One path as rules write it, by itself."""

    __slots__ = ("_exact", "_literal", "_wild")

    def __init__(self, pattern: str) -> None:
        literal = pattern.rstrip("*")
        self._exact = literal == pattern and literal.endswith("$")
        self._literal = literal[:-1] if self._exact else literal
        self._wild = _split(pattern, _NO_RULE) if "*" in literal else None

    def fits(self, path: str) -> bool:
        """Of a canonical path."""
        if self._wild is not None:
            return self._wild.fits(path)
        return path == self._literal if self._exact else path.startswith(self._literal)


class _Kept:
    """The matchers made last. Few files differ: every host of a platform has the same one, and most say nothing at all."""

    __slots__ = ("_rules", "_size")

    def __init__(self) -> None:
        self._rules: dict[str, Rules] = {}
        self._size = 0

    def get(self, text: str) -> Rules:
        rules = self._rules.get(text)
        if rules is None:
            if self._size > _KEPT:
                self._rules.clear()
                self._size = 0
            pairs = (line.partition(": ") for line in text.split("\n"))
            rules = self._rules[text] = Rules([(field, value) for field, _, value in pairs if value])
            self._size += len(text)
        return rules


_kept = _Kept()


def parse(rules: str) -> Rules:
    """A matcher of what `condense` wrote."""
    return _kept.get(rules)


def verdict(origin: str, answer: Capture | Failure, config: Fetch, agent: str) -> Robots:
    """What the answer to a request for /robots.txt, or the lack of one, means for the origin that asked.

    A redirect is followed by the caller; one that is given up is handed in as it is, or as a Failure that says so.
    """
    rules = _reading(answer, config, agent)
    life = _life(answer, rules is None, config)
    delay = parse(rules).delay or 0.0 if rules else 0.0
    return Robots(origin, rules or "", answer.time, answer.time + life, closed=rules is None, delay=delay)


def _reading(answer: Capture | Failure, config: Fetch, agent: str) -> str | None:
    """Condensed rules, "" for "all is allowed", None for "nothing is"."""
    if isinstance(answer, Failure):
        return "" if answer.reason in (Reason.REDIRECTS, Reason.BAD_REDIRECT) else None
    if 200 <= answer.status < 300:
        return _success(answer, config, agent)
    if _forbidden(answer, config) or answer.status == 429:
        return None
    return "" if 300 <= answer.status < 500 else None


def _forbidden(answer: Capture | Failure, config: Fetch) -> bool:
    return isinstance(answer, Capture) and config.forbidden_robots_closes and answer.status in (401, 403)


def _success(answer: Capture, config: Fetch, agent: str) -> str | None:
    if answer.encoded or answer.truncated not in ("", "length"):
        return None  # there may be rules that we have not seen
    limit = min(config.robots_max_bytes, len(answer.body)) if answer.truncated else config.robots_max_bytes
    # A page under 200 is a site without a robots.txt; under 202 it is a gate-keeper who has not let us in.
    if answer.status != 200 and answer.body.strip() and not any(_fields(_decode(_whole(answer.body, limit)))):
        return None
    return condense(answer.body, agent, answer.task.url.text, limit)


def _life(answer: Capture | Failure, closed: bool, config: Fetch) -> float:
    """Seconds for which a verdict is used (§2.4: at most a day)."""
    longest = min(config.robots_ttl, DAY)
    if closed and not _forbidden(answer, config):
        wait = answer.header("retry-after") if isinstance(answer, Capture) else None
        pause = float(wait[:9]) if wait and wait.isascii() and wait.isdigit() else config.max_backoff
        return min(max(pause, config.backoff), longest)
    cache = ",".join(answer.headers("cache-control")).lower() if isinstance(answer, Capture) else ""
    age = _MAX_AGE.search(cache)
    asked = 0.0 if "no-cache" in cache or "no-store" in cache else float(age[1]) if age else longest
    return min(max(asked, HOUR), longest)
