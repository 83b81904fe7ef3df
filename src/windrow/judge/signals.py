"""Signals: what authors and hosts state about the use of a page, beyond Allow and Disallow; applied by profile.

Sources: robots meta elements and X-Robots-Tag (also for our agent alone), noai and noimageai among them; the TDM
Reservation Protocol; Content-Usage (IETF aipref), in the header and in robots.txt; Content-Signal in robots.txt;
licence links, RSL's among them; and a robots.txt that closes the site to the known crawlers of AI companies. Every
signal is stored with the document, whatever the profile, so that a corpus can be filtered again when the rules change.
If two signals disagree, the more restrictive one counts. This is not legal advice.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from windrow.config import Config, SignalsOptions
from windrow.judge.ruling import KEPT, Facts, Judge, Ruling
from windrow.records import Page, Reason, Signal
from windrow.urls import patterns

Pair = tuple[str, str]  # name, value

_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_DIRECTIVES = {
    *("all", "none", "index", "noindex", "follow", "nofollow", "noarchive", "nocache", "nosnippet", "notranslate"),
    *("noimageindex", "indexifembedded", "noai", "noimageai", *_VALUED),
}
_AGENT = re.compile(r"\s*([A-Za-z0-9_*.-]+)\s*:(.*)", re.DOTALL)
_MEMBER = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*(?:=\s*(\?[01]|[^;,\s]+))?\s*(?:;[^,]*)?\s*")
_LICENSE = re.compile(r";\s*rel\s*=\s*(?:\"(?:[^\"]*\s)?license(?:\s[^\"]*)?\"|license(?:[\s;]|$))", re.IGNORECASE)
_LENGTH = 2000  # characters of a value that are read
_COUNT = 64  # signals kept per page

# aipref's "train-ai", its drafts' wider names, Cloudflare's "ai-train": each of them includes training.
_TRAINING = {"train-ai", "ai-train", "train-genai", "genai", "ai", "tdm", "bots", "all", "*"}
_NO = frozenset(("n", "no", "?0"))
_YES = frozenset(("y", "yes", "?1"))
_REFUSED = {  # profile -> signals that reject a page, by name and value
    "record-only": frozenset[Pair](),
    "research": frozenset({("noindex", ""), ("noai", "")}),
    "training": frozenset({("noindex", ""), ("noai", ""), ("tdm-reservation", "1"), ("train-ai", "n")}),
}


def build(config: Config, inner: Judge | None = None) -> Judge:
    agent, options = config.identity.name, config.signals

    def judge(page: Page, facts: Facts) -> Ruling:
        stated = read(facts.headers, page.metas, agent) if facts.headers or page.metas else ()
        if page.licence or page.licences:
            stated += licences((page.licence, *page.licences))
        if not stated:
            return KEPT
        refused = refuses(stated, options)
        return Ruling(reason=Reason.OPTED_OUT if refused else Reason.OK, detail=refused, signals=stated)

    return judge


def read(headers: Iterable[Pair], metas: Iterable[Pair], agent: str = "") -> tuple[Signal, ...]:
    """Return the signals of response headers and meta elements that address every agent or this one."""
    found: list[Signal] = []
    for name, value in headers:
        found += _header(name.strip().lower(), value[:_LENGTH], agent.lower())
    for name, content in metas:
        found += _meta(name.strip().lower(), content[:_LENGTH], agent.lower())
    return _unique(found)


def robots(lines: Iterable[str], path: str = "/") -> tuple[Signal, ...]:
    """Return the signals of robots.txt lines such as "content-usage: /a train-ai=n".

    Of the lines whose pattern matches the path, those with the longest pattern count.
    """
    canonical = patterns.canonical(path)
    usages: list[tuple[int, Signal]] = []
    found: list[Signal] = []
    for line in lines:
        field, _, value = line.partition(":")
        name, value = field.strip().lower(), value.strip()[:_LENGTH]
        if name in ("content-usage", "content-signal", "content-signals"):
            pattern, rest = _pattern(value)
            if patterns.PathPattern(patterns.canonical_pattern(pattern)).matches(canonical):
                usages += [(len(pattern), signal) for signal in _uses(rest, "robots.txt", name)]
        elif name == "license" and value:
            found.append(Signal("robots.txt", "license", value, name))
        elif name == "ai-agents":
            found += peers(value.split())
    for name in ("content-usage", "content-signal", "content-signals"):
        longest = max((length for length, signal in usages if signal.field == name), default=0)
        found += [signal for length, signal in usages if signal.field == name and length == longest]
    return _unique(found)


def licences(targets: Iterable[str]) -> tuple[Signal, ...]:
    """Return the signals of rel=license links, given their absolute targets."""
    return _unique(Signal("meta", "license", target[:_LENGTH], "rel=license") for target in targets if target)


def peers(blocked: Sequence[str]) -> tuple[Signal, ...]:
    """Return the signal that robots.txt closes the site to these crawlers of AI companies, though not to us."""
    return (Signal("robots.txt", "ai-agents", " ".join(sorted(blocked))[:_LENGTH], "disallow"),) if blocked else ()


def refuses(signals: Iterable[Signal], options: SignalsOptions) -> str:
    """Return the signal that rejects a page under this profile, as "name=value (source: field)"; "" if none does."""
    refused = set(_REFUSED[options.profile])
    if options.profile == "training" and options.honour_peer_ai_blocks:
        refused.add(("ai-agents", ""))
    for signal in effective(signals):
        name = "train-ai" if signal.name in _TRAINING else signal.name
        if (name, signal.value) in refused or (name, "") in refused:
            return describe(signal)
    return ""


def effective(signals: Iterable[Signal]) -> tuple[Signal, ...]:
    """Return one signal per name: for TDM that of the later step (file, header, meta), else the more restrictive one.

    "none" stands for noindex and nofollow.
    """
    steps = {"header": 1, "meta": 2}
    chosen: dict[str, Signal] = {}
    for signal in _expanded(signals):
        other = chosen.get(signal.name)
        if signal.name.startswith("tdm-"):
            if other is None or steps.get(signal.source, 0) >= steps.get(other.source, 0):
                chosen[signal.name] = signal
        elif other is None or (signal.value == "n" and other.value != "n"):
            chosen[signal.name] = signal
    return tuple(chosen.values())


def describe(signal: Signal) -> str:
    said = f"{signal.name}={signal.value}" if signal.value else signal.name
    return f"{said} ({signal.source}: {signal.field})" if signal.field else f"{said} ({signal.source})"


def _header(name: str, value: str, agent: str) -> list[Signal]:
    if name == "x-robots-tag":
        return list(_tagged(value, agent))
    if name in ("tdm-reservation", "tdm-policy"):
        return _tdm(name, value, "header")
    if name == "content-usage":
        return _uses(value, "header", "Content-Usage")
    if name == "link":
        return [Signal("header", "license", target, "Link") for target in _linked(value)]
    return []


def _meta(name: str, content: str, agent: str) -> list[Signal]:
    if name in ("robots", agent) and name:
        addressed = "" if name == "robots" else name
        words = (word for word in re.split(r"[,\s]+", content.lower()) if word)
        return [Signal("meta", *_valued(word), name, addressed) for word in words if _valued(word)[0] in _DIRECTIVES]
    if name in ("tdm-reservation", "tdm-policy"):
        return _tdm(name, content, "meta")
    return []


def _tagged(value: str, agent: str) -> Iterable[Signal]:
    """Yield the directives of an X-Robots-Tag: "noindex, nofollow" for all agents; after "name:" for that agent."""
    addressed = ""
    for part in value.split(","):
        match = _AGENT.fullmatch(part)
        if match and match[1].lower() not in _VALUED:
            addressed, part = match[1].lower().replace("*", ""), match[2]
        name, content = _valued(part.strip().lower())
        if name in _DIRECTIVES and addressed in ("", agent):
            yield Signal("header", name, content, "X-Robots-Tag", addressed)


def _valued(word: str) -> Pair:
    name, _, value = word.partition(":")
    return name.strip(), value.strip()


def _tdm(name: str, value: str, source: str) -> list[Signal]:
    """Return a TDM signal: a reservation is 0 or 1, a policy is a URL; anything else is ignored."""
    bare = value.strip()
    fits = bare in ("0", "1") if name == "tdm-reservation" else bare.startswith(("http://", "https://", "/"))
    return [Signal(source, name, bare, name)] if fits else []


def _uses(value: str, source: str, field: str) -> list[Signal]:
    """Read a dictionary of structured fields (RFC 9651): "train-ai=n, search=y". Only y and n count as values."""
    found: dict[str, Signal] = {}
    for part in value.lower().split(","):
        match = _MEMBER.fullmatch(part)
        said = "" if not match else "n" if match[2] in _NO else "y" if match[2] in _YES else ""
        if match and said:
            found[match[1]] = Signal(source, match[1], said, field)  # of a repeated key the last value counts
    return list(found.values())


def _pattern(value: str) -> Pair:
    """Split a usage into its path pattern, "/" if there is none, and the rest."""
    first, _, rest = value.partition(" ")
    return (first, rest) if first.startswith(("/", "*")) and rest else ("/", value)


def _linked(value: str) -> list[str]:
    """Return the targets of a Link header whose relation is license."""
    parts = re.findall(r"<([^<>]*)>((?:[^,\"]|\"[^\"]*\")*)", value)
    return [target.strip() for target, rest in parts if _LICENSE.search(rest)]


def _expanded(signals: Iterable[Signal]) -> Iterable[Signal]:
    for signal in signals:
        yield signal
        if signal.name == "none":
            yield msgspec.structs.replace(signal, name="noindex")
            yield msgspec.structs.replace(signal, name="nofollow")


def _unique(signals: Iterable[Signal]) -> tuple[Signal, ...]:
    return tuple(dict.fromkeys(signals))[:_COUNT]
