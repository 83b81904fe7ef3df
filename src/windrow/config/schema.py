"""Every option, once: its default, its unit and its reason. `docs/configuration.md` is generated from this file.

The comment behind a field is its documentation; a stage receives its own section and never the whole.
"""

import ast
import dataclasses
import difflib
import io
import json
import math
import re
import tokenize
import tomllib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class ConfigError(Exception):
    """What the user wrote cannot be used; the message names the thing, the place and the fix."""


NOT_TEXT = tuple(
    "7z aac apk avi avif bin bmp bz2 css csv deb dmg doc docx eot epub exe flac flv gif gz ico iso jar jpeg jpg js json "
    "m4a m4v mkv mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv otf pdf png ppt pptx ps rar rpm rtf svg svgz swf tar tgz tif "
    "tiff ttf wav webm webp wma wmv woff woff2 xls xlsx xz zip zst".split()
)


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """Who we are to the servers we visit."""

    name: str = "windrow"  # product token: letters, _ and - only (RFC 9309 §2.2.1); robots.txt groups are chosen by it
    contact: str = (
        ""  # URL or e-mail address that a webmaster can write to; without one only loopback addresses are crawled
    )
    user_agent: str = ""  # full User-Agent; empty: "Mozilla/5.0 (compatible; NAME/VERSION; +CONTACT)"
    operator: str = ""  # person or institution, for the warcinfo record
    description: str = ""  # what this crawl is for, for the warcinfo record


@dataclasses.dataclass(frozen=True, slots=True)
class Scope:
    """Which links are admitted. A link refused here is counted by rule and not stored."""

    tlds: tuple[str, ...] = ()  # only these top-level domains (or suffixes, "co.uk"); empty: all
    tlds_denied: tuple[str, ...] = ()  # none of these
    domains: tuple[str, ...] = ()  # only these registered domains; empty: all
    domains_denied: tuple[str, ...] = ()  # none of these
    hosts: tuple[str, ...] = ()  # only these hosts; empty: all
    hosts_denied: tuple[str, ...] = ()  # none of these
    allow: tuple[str, ...] = ()  # regular expressions searched in the URL; where there are any, one must match
    deny: tuple[str, ...] = ()  # regular expressions; none may match
    skip_suffixes: tuple[str, ...] = NOT_TEXT  # path endings that are never text
    ports: tuple[int, ...] = (80, 443, 8080, 8443)  # other ports are refused
    max_depth: int = 0  # links from a seed; 0: no limit
    max_distance: int = (
        -1
    )  # changes of registered domain on the way from a seed; -1: no limit, 0: stay on the seeds' domains
    max_length: int = 2048  # characters of a URL
    max_segments: int = 24  # path segments
    max_repeats: int = 3  # times one path segment may stand in a path: /a/b/a/b/a/b/a/b is a trap
    max_parameters: int = 12  # parameters in a query
    same_pages: int = (
        24  # pages of one host with the same text, digits aside, before links on further ones are ignored; 0: off
    )
    homepages: bool = True  # ask also for the home page of each host that a link from another host leads to
    follow_nofollow: bool = False  # follow links and pages marked nofollow


@dataclasses.dataclass(frozen=True, slots=True)
class Frontier:
    """What waits, and what is next."""

    store: str = "lmdb"  # "lmdb" or "memory" (nothing survives the process: for tests)
    open_domains: int = (
        2000  # registered domains worked on at once; fewer go deeper, more go wider (SpiderLing: 1000-2000)
    )
    open_hosts: int = 4000  # hosts worked on at once
    quantum: int = 500  # pages after which an open domain goes to the back of the line, when others wait
    max_host_urls: int = 0  # URLs admitted per host; 0: no limit
    max_domain_urls: int = 0  # URLs admitted per registered domain; 0: no limit
    max_domain_hosts: int = 64  # hosts admitted per registered domain (against wildcard DNS); 0: no limit
    yield_threshold: str = (
        "normal"  # "strict", "normal", "permissive": 0.01, 0.005, 0.002 · (log10 n - 1); "a,b": a·(log10 n - b); "off"
    )
    yield_form: str = (
        "bytes"  # a domain's yield: "bytes" kept per byte downloaded, or "pages", the mean of its pages' yields
    )
    yield_text: str = "kept"  # what counts: "kept" in the corpus, all "clean" text, or that in the "primary" (first accepted) language
    grace_pages: int = 8  # answers before which no domain is retired (SpiderLing)
    grace_bytes: int = 512 << 10  # bytes downloaded from it, before which it is not either (SpiderLing)
    segments: bool = (
        True  # hosts and their first path elements are retired by themselves too, and a good host outlives its domain
    )
    order: str = "yield"  # of hosts: "yield", those first that are expected to give the most text for their bytes; "breadth": each in turn
    explore: int = (
        8  # hosts tried at once of which less than half the crawl's present yield is expected, where order is "yield"
    )
    min_primary_share: float = (
        0.0  # share of a domain's clean text in the primary language, below which it is retired; 0: off
    )
    checkpoint: float = (
        20.0  # seconds between two commits of the store; the log commits each second, see crawl.commit_seconds
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Fetch:
    """How we ask."""

    delay: float = 5.0  # seconds between the end of a request and the next to the same host (Common Crawl's minimum)
    ip_delay: float = 0.5  # seconds, the same for an address, which many hosts may share
    max_crawl_delay: float = 60.0  # seconds; a longer Crawl-delay is cut to this
    connections: int = 256  # requests under way at once, each to another host
    connect_timeout: float = 10.0  # seconds
    header_timeout: float = 20.0  # seconds until the header is complete
    timeout: float = 60.0  # seconds until the body is complete; what came is kept and marked
    min_rate: int = 1024  # bytes per second over 30 s; slower is cut off
    max_bytes: int = 1 << 20  # bytes of body on the wire, then truncated (Common Crawl's 1 MiB)
    max_decoded: int = 8 << 20  # bytes of body after content decoding, then truncated: compressed bombs end here
    max_header: int = 64 << 10  # bytes of all headers
    max_redirects: int = 10  # hops in a row
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"  # Accept header
    accept_language: str = (
        ""  # Accept-Language header; empty: none is sent (a fixed "en" biases a crawl, Common Crawl found)
    )
    verify_tls: bool = True  # refuse bad certificates
    http2: bool = False  # offer HTTP/2 over TLS
    allow_private: bool = False  # open private and loopback addresses
    hosts_file: str = ""  # file of host<TAB>address[:port] lines; names not in it do not exist (for tests and mirrors); "*.name" is a wildcard
    dns_ttl: float = 3600.0  # seconds an address is kept
    dns_negative_ttl: float = 60.0  # seconds a failure is kept, doubling up to 15 minutes
    dns_threads: int = 16  # look-ups at once
    robots_ttl: float = 86400.0  # seconds a robots.txt is used, at most 24 h (RFC 9309 §2.4)
    robots_max_bytes: int = 512000  # bytes of a robots.txt that are read (RFC 9309 §2.5: at least 500 KiB)
    forbidden_robots_closes: bool = False  # treat robots.txt answered 401 or 403 as "disallow all" (the RFC allows all)
    backoff: float = (
        1.0  # seconds, the least first pause of a host that answers with errors; doubles with each error in a row
    )
    max_backoff: float = 3600.0  # seconds, the longest such pause
    host_failures: int = 6  # connection failures in a row that close a host


@dataclasses.dataclass(frozen=True, slots=True)
class Archive:
    """How it is kept."""

    prefix: str = "WINDROW"  # first part of the WARC file names
    max_bytes: int = 1 << 30  # bytes after which a WARC file is closed and the next begun
    level: int = 2  # gzip level of isal, 0 to 3
    revisits: bool = False  # write a revisit record, not the body, for a payload already archived


@dataclasses.dataclass(frozen=True, slots=True)
class Workers:
    """The processes that read pages. Each can be killed without harm."""

    count: int = 1  # processes
    seconds: float = 10.0  # CPU time one page may take
    megabytes: int = 1024  # address space of one worker


@dataclasses.dataclass(frozen=True, slots=True)
class Extract:
    """What is read from a page."""

    max_links: int = 10000  # links taken from one page
    extractor: str = "blocks"  # of the main text: "blocks" (learned), "paragraphs" (jusText's rules), "lines" (DGWC's); "none": no text
    model: str = ""  # file made by `windrow extract train`, for an extractor that is trained; empty: the one that comes with Windrow
    comments: bool = False  # what readers wrote below a page is text too; for "blocks"


@dataclasses.dataclass(frozen=True, slots=True)
class Language:
    """Which languages are wanted, and how they are told."""

    accepted: tuple[
        str, ...
    ] = ()  # languages kept, as ISO 639 codes, tags or English names ("ces", "cs", "Czech"); empty: all
    recognised: tuple[
        str, ...
    ] = ()  # languages thought of where a text is short or unclear, look-alikes to drop among them; empty: all
    models: tuple[str, ...] = ()  # files made by `windrow language train`, for languages that no tool knows
    min_share: float = 0.2  # share of a page's characters in accepted languages, below which none of it is kept; the rest is dropped anyway
    short: int = 120  # characters; a shorter paragraph is foreign only if py3langid agrees
    read: int = 300  # characters of each paragraph that are read: more changes no answer and costs time
    second: int = (
        8  # paragraphs of a page that py3langid is asked about (0.1 ms each); 0: never, and neither about the page
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Quality:
    """What is running text."""

    min_characters: int = (
        100  # characters of a page's text, ideographs and kana counted three times: less is a caption or a message
    )
    min_good: float = 0.0  # share of a page's characters in good paragraphs, where the extractor reports the others too
    min_letters: float = 0.45  # share of letters in the characters that are not blanks
    max_digits: float = 0.35  # share of digits in the same
    max_symbols: float = 0.25  # share of what is neither letter, digit nor punctuation in the same
    max_repeated_lines: float = 0.7  # share of characters in paragraphs that stand on the page already
    max_repeated_words: float = (
        0.85  # share of word triples that came before, in texts of 200 words and more; sermons reach 0.75
    )
    min_sentences: float = 0.005  # share of characters in paragraphs that are long enough or end like a sentence
    drop_machine_translations: bool = True  # refuse pages that say a machine translated them
    soft_404: float = 0.85  # likeness to the host's answer for a page that cannot exist, from which a page is taken for the same; 0: off
    probe_after: int = (
        16  # pages of an origin after which it is asked for a page that cannot exist, once a robots.txt; see soft_404
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Signals:
    """What authors ask for beyond robots.txt. Every signal is recorded with its document, whatever the profile."""

    profile: str = "research"  # "research", "training" (leaves out what is reserved from training) or "record-only"
    honour_peer_ai_blocks: bool = (
        True  # with "training", leave out pages that robots.txt closes to known crawlers of AI companies
    )
    tdmrep: bool = True  # ask each origin for its tdmrep.json before its first page; one request a day, and none where no text is taken


@dataclasses.dataclass(frozen=True, slots=True)
class Paragraphs:
    """The extractor `paragraphs`: jusText's rules. A figure that is not given is that of the preset, named in the order stock, tuned."""

    preset: str = "tuned"  # "stock": jusText 3.0.2 as it comes; "tuned": .85 instead of .68 mean F1 over our data sets
    language: str = (
        ""  # of the stop list, as ISO 639-3 or 639-1 code; empty: guessed for each page from its commonest words
    )
    stoplist: str = ""  # a file with a word a line, instead; one of single characters is counted by character
    max_link_density: float | None = None  # share of a paragraph's characters in links, above which it is bad: .2, .3
    length_low: int | None = (
        None  # characters below which a paragraph is short, and judged by its neighbours alone: 70, 70
    )
    length_high: int | None = (
        None  # characters above which a paragraph with stop words is good whatever its neighbours: 200, 120
    )
    stopwords_low: float | None = None  # share of stop words below which a paragraph is bad: .3, .15
    stopwords_high: float | None = (
        None  # share of stop words that makes a paragraph good, if it is long, or nearly good: .32, .2
    )
    max_heading_distance: int | None = (
        None  # characters between a heading and the good paragraph that keeps it: 200, 200
    )
    headings: bool | None = None  # headings are kept with the text below them: true, true
    landmarks: bool | None = None  # paragraphs within nav, footer and aside elements are bad: false, true
    unspaced: float | None = None  # factor on lengths and distance where words are not set apart, as in Chinese: 1, .3
    mixed: bool | None = (
        None  # where no language is given, a paragraph plainly in another one than the page has its own list: false, true
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Judge:
    """The judges of a page by itself."""

    stop_early: bool = False  # stop at the first judge that rejects a page: cheaper, but later scores are missing


@dataclasses.dataclass(frozen=True, slots=True)
class Dedup:
    """What was seen before."""

    near_duplicates: bool = True  # drop paragraphs most of whose words were seen before, by onion's rule
    ngram: int = 7  # words that are compared at once (SpiderLing: 7)
    threshold: float = (
        0.5  # share of a paragraph's words in n-grams seen before; a duplicate has more (SpiderLing: 0.5)
    )
    smoothing: int = (
        20  # words; so much new text between duplicate paragraphs, or less, goes with them (onion: 20); 0: none
    )
    max_seen: float = 0.7  # share of a page's words in duplicate paragraphs; a page with more goes whole: what is new is a scrap, or spam
    table_bytes: int = 2_200_000_000  # bytes for the n-grams seen, 6 to 11 each, taken as needed; when full, the older half is forgotten


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """The documents that a crawl leaves."""

    shard_bytes: int = 256 << 20  # bytes after which a shard of a language is closed and the next begun
    level: int = 2  # gzip level of isal, 0 to 3


@dataclasses.dataclass(frozen=True, slots=True)
class Crawl:
    """The driver."""

    seeds: str = "seeds.txt"  # file of seed URLs, read at each start; what is new in it is added
    in_flight: int = 1024  # URLs requested and not yet committed: the most a kill can make us fetch again
    in_flight_bytes: int = 64 << 20  # bytes of bodies held for them
    commit_seconds: float = 1.0  # seconds between two group commits
    commit_pages: int = 256  # pages in one group commit
    max_pages: int = 0  # pages archived, then the crawl stops; 0: no limit
    max_seconds: float = 0.0  # seconds, then the crawl stops; 0: no limit
    min_free_bytes: int = 256 << 20  # free disk below which fetching pauses until there is twice that
    node: str = "n0"  # this machine's name in file names


@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    identity: Identity = Identity()
    scope: Scope = Scope()
    frontier: Frontier = Frontier()
    fetch: Fetch = Fetch()
    archive: Archive = Archive()
    workers: Workers = Workers()
    extract: Extract = Extract()
    paragraphs: Paragraphs = Paragraphs()
    language: Language = Language()
    quality: Quality = Quality()
    signals: Signals = Signals()
    judge: Judge = Judge()
    dedup: Dedup = Dedup()
    corpus: Corpus = Corpus()
    crawl: Crawl = Crawl()


Written = tuple[Any, str]  # a value, and where it stands
RANGES: dict[
    str, tuple[float, float]
] = {  # least and greatest; any other number: not negative, or not below a negative default
    "scope.ports": (1, 65535),
    "scope.max_length": (16, 65536),
    "scope.max_segments": (1, math.inf),
    "scope.max_repeats": (1, math.inf),
    "frontier.open_domains": (1, math.inf),
    "frontier.open_hosts": (1, math.inf),
    "frontier.quantum": (1, math.inf),
    "frontier.checkpoint": (0, 3600),
    "frontier.explore": (1, math.inf),
    "frontier.min_primary_share": (0, 1),
    "fetch.connections": (1, 10000),
    "fetch.connect_timeout": (0.001, 86400),
    "fetch.header_timeout": (0.001, 86400),
    "fetch.timeout": (0.001, 86400),
    "fetch.max_bytes": (1, math.inf),
    "fetch.max_decoded": (1, math.inf),
    "fetch.max_header": (256, math.inf),
    "fetch.dns_threads": (1, 1024),
    "fetch.robots_ttl": (0, 86400),
    "fetch.robots_max_bytes": (512000, math.inf),
    "archive.max_bytes": (1, math.inf),
    "archive.level": (0, 3),
    "workers.count": (1, 1024),
    "workers.seconds": (0.01, math.inf),
    "workers.megabytes": (64, math.inf),
    "paragraphs.max_link_density": (0, 1),
    "paragraphs.stopwords_low": (0, 1),
    "paragraphs.stopwords_high": (0, 1),
    "language.min_share": (0, 1),
    "language.short": (0, math.inf),
    "language.read": (50, math.inf),
    "quality.min_good": (0, 1),
    "quality.min_letters": (0, 1),
    "quality.max_digits": (0, 1),
    "quality.max_symbols": (0, 1),
    "quality.max_repeated_lines": (0, 1),
    "quality.max_repeated_words": (0, 1),
    "quality.min_sentences": (0, 1),
    "quality.soft_404": (0, 1),
    "dedup.ngram": (1, 64),
    "dedup.max_seen": (0, 1),
    "dedup.threshold": (0, 1),
    "dedup.table_bytes": (16 << 20, math.inf),
    "corpus.shard_bytes": (1, math.inf),
    "corpus.level": (0, 3),
    "crawl.in_flight": (1, math.inf),
    "crawl.in_flight_bytes": (1, math.inf),
    "crawl.commit_seconds": (0.01, 3600),
    "crawl.commit_pages": (1, math.inf),
}
PATTERNS: dict[str, tuple[str, str]] = {  # what a text must match, and how that is said
    "identity.name": (r"[A-Za-z_-]+", "made of letters, _ and - only"),
    "identity.contact": (
        r"|https?://[!-.0-?A-~]+(/[!-~]*)?|[^\s@<>:/]+@[^\s@<>:/]+",
        "a URL or an e-mail address, such as 'https://example.org/crawler' or 'crawler@example.org'",
    ),
    "identity.user_agent": (r"[ -~]*", "ASCII"),
    "fetch.accept": (r"[ -~]*", "ASCII"),
    "fetch.accept_language": (r"[ -~]*", "ASCII"),
    "frontier.store": (r"lmdb|memory", "'lmdb' or 'memory'"),
    "frontier.yield_threshold": (
        r"off|strict|normal|permissive|\[?\s*(\d+\.?\d*|\.\d+)\s*,\s*-?(\d+\.?\d*|\.\d+)\s*\]?",
        "'off', 'strict', 'normal', 'permissive', or two numbers such as '0.01,1'",
    ),
    "frontier.order": (r"yield|breadth", "'yield' or 'breadth'"),
    "frontier.yield_form": (r"bytes|pages", "'bytes' or 'pages'"),
    "frontier.yield_text": (r"kept|clean|primary", "'kept', 'clean' or 'primary'"),
    "extract.extractor": (r"blocks|paragraphs|lines|none", "'blocks', 'paragraphs', 'lines' or 'none'"),
    "paragraphs.preset": (r"stock|tuned", "'stock' or 'tuned'"),
    "signals.profile": (r"research|training|record-only", "'research', 'training' or 'record-only'"),
    "archive.prefix": (r"[A-Za-z0-9][A-Za-z0-9._-]*", "usable in file names: letters, digits, '.', '_' and '-'"),
    "crawl.node": (r"[A-Za-z0-9][A-Za-z0-9._]*", "usable in file names: letters, digits, '.' and '_'"),
}
REGEXES = ("scope.allow", "scope.deny")
NAMES = (
    "scope.tlds",
    "scope.tlds_denied",
    "scope.domains",
    "scope.domains_denied",
    "scope.hosts",
    "scope.hosts_denied",
)
SUFFIXES = ("scope.skip_suffixes",)
PATHS = ("fetch.hosts_file", "extract.model", "paragraphs.stoplist")  # relative to the directory of crawl.toml


def load(path: Path, overrides: Sequence[str] = ()) -> Config:
    """The options of a crawl.toml, changed by overrides such as "fetch.delay=10"."""
    return _make(_read(path), overrides, path)


def make(overrides: Sequence[str], directory: Path) -> Config:
    """The options of a new crawl in this directory: the defaults, changed by overrides."""
    return _make({}, overrides, directory / "crawl.toml")


def _make(written: dict[str, Written], overrides: Sequence[str], path: Path) -> Config:
    for override in overrides:
        name, value = _override(override)
        written[name] = (value, "--set")
    sections = {}
    for section in dataclasses.fields(Config):
        kind = typing.cast(type, section.type)
        names = {option.name: f"{section.name}.{option.name}" for option in dataclasses.fields(kind)}
        sections[section.name] = kind(
            **{option: _value(name, written[name], path) for option, name in names.items() if name in written}
        )
    return Config(**sections)


def dump(config: Config, changed: bool = False) -> str:
    """Every option as it is in force (or only those changed from their defaults), as TOML that loads back equal."""
    parts = []
    for section in dataclasses.fields(config):
        options = getattr(config, section.name)
        values = [
            (option.name, getattr(options, option.name), option.default) for option in dataclasses.fields(options)
        ]
        lines = [
            f"{name} = {_toml(value)}\n"
            for name, value, default in values
            if value is not None and not (changed and value == default)
        ]
        if lines:
            parts.append(f"[{section.name}]\n" + "".join(lines))
    return "\n".join(parts)


def reference() -> str:
    """docs/configuration.md: a table per section, with the comment behind each field as its meaning."""
    comments = _comments()
    lines = [
        "# Configuration",
        "",
        "Written by `python -m windrow.config` from `src/windrow/config.py`; edit that file, not this one.",
        "",
        "Options stand in `crawl.toml`, each in its section (`[fetch]`, then `delay = 5`). `--set fetch.delay=10` on the command line",
        "goes before the file. An unknown option or a value out of its range is an error, never ignored.",
    ]
    for section in dataclasses.fields(Config):
        options = typing.cast(type, section.type)
        lines += [
            "",
            f"## [{section.name}]",
            "",
            options.__doc__ or "",
            "",
            "| option | default | meaning |",
            "|---|---|---|",
        ]
        for option in dataclasses.fields(options):
            meaning = re.sub(r"([|*<\\])", r"\\\1", comments.get((options.__name__, option.name), ""))
            name = f"{section.name}.{option.name}"
            limits = f"; {_limits(name)}" if name in RANGES else ""
            lines.append(f"| `{option.name}` | {_default(option.default)} | {meaning}{limits} |")
    return "\n".join(lines) + "\n"


def _default(value: Any) -> str:
    return "not set" if value is None else f"`{_toml(value)}`"


def _read(path: Path) -> dict[str, Written]:
    """Values by "section.option", every name of which exists."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        document = tomllib.loads(text.replace("\r\n", "\n"))
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}; 'windrow init' writes one") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; check the path and its permissions") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax(path, text, str(error))) from None
    written = {}
    for section, options in document.items():
        _check_section(section, options, str(path))
        for option, value in options.items():
            _check_name(f"{section}.{option}", str(path))
            written[f"{section}.{option}"] = (value, str(path))
    return written


def _syntax(path: Path, text: str, error: str) -> str:
    """tomllib says "… (at line 3, column 5)" or "… (at end of document)"."""
    found = re.search(r" \(at line (\d+), column \d+\)$", error)
    lines = text.splitlines() or [""]
    line = int(found[1]) if found else len(lines)
    shown = lines[min(line, len(lines)) - 1].strip()
    problem = re.sub(r" \(at [^()]*\)$", "", error)
    return (
        f"{path}, line {line}: {shown!r} is not TOML ({problem}); an option is written as name = value, text in quotes"
    )


def _override(text: str) -> tuple[str, Any]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"--set {text!r} has no value; write section.option=value, such as fetch.delay=10")
    _check_name(name, "--set")
    kind = _options()[name]
    try:
        parsed = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return name, value
    if set(parsed) != {"value"} or (kind is str and not isinstance(parsed["value"], str)):
        return name, value
    return name, parsed["value"]


def _options() -> dict[str, Any]:
    """The type of every option by "section.option"."""
    sections = {section.name: typing.get_type_hints(section.type) for section in dataclasses.fields(Config)}
    return {f"{section}.{option}": kind for section, kinds in sections.items() for option, kind in kinds.items()}


def _check_section(section: str, options: Any, place: str) -> None:
    known = [field.name for field in dataclasses.fields(Config)]
    if section in known and isinstance(options, dict):
        return
    if section in known:
        raise ConfigError(
            f"'{section}' in {place} is a section; write [{section}] on a line of its own and its options below"
        )
    if isinstance(options, dict):
        near = difflib.get_close_matches(section, known, 1, 0.5)
        hint = f"did you mean [{near[0]}]?" if near else f"the sections are {', '.join(known)}"
        raise ConfigError(f"unknown section [{section}] in {place}; {hint}")
    raise ConfigError(f"option '{section}' in {place} stands outside a section; {_nearest(section)}")


def _check_name(name: str, place: str) -> None:
    if name not in _options():
        raise ConfigError(f"unknown option '{name}' in {place}; {_nearest(name)}")


def _nearest(name: str) -> str:
    """The same option of another section, a similar one of this section, a similar one of any."""
    known = list(_options())
    section, _, option = name.rpartition(".")
    same = [full for full in known if full.endswith("." + option)]
    own = [full.partition(".")[2] for full in known if full.startswith(section + ".")]
    here = [f"{section}.{near}" for near in difflib.get_close_matches(option, own, 1, 0.6)]
    names = difflib.get_close_matches(option, [full.partition(".")[2] for full in known], 1, 0.7)
    elsewhere = [full for full in known if names and full.endswith("." + names[0])]
    near = same or here or elsewhere
    return f"did you mean '{near[0]}'?" if near else "docs/configuration.md lists the options"


def _value(name: str, written: Written, path: Path) -> Any:
    """The value in the type of its field, after every check."""
    thing = f"option '{name}' in {written[1]}"
    value = _typed(thing, written[0], _options()[name])
    for single in value if isinstance(value, tuple) else (value,):
        _check(name, thing, single)
    if name in NAMES:
        return tuple(_name(thing, single, "hosts" in name) for single in value)
    if name in SUFFIXES:
        return tuple(suffix.lower().removeprefix(".") for suffix in value)
    if name in PATHS and value:
        here = path.parent.absolute()
        return tuple(str(here / single) for single in value) if isinstance(value, tuple) else str(here / value)
    return value


def _typed(thing: str, value: Any, kind: Any) -> Any:
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        if not isinstance(value, list):
            raise ConfigError(
                f"{thing} must be a list, not {value!r}; write [{_toml(value) if type(value) is inner else '…'}]"
            )
        return tuple(_typed(f"an item of {thing}", item, inner) for item in value)
    if isinstance(kind, types.UnionType):
        kind = next(single for single in typing.get_args(kind) if single is not type(None))
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 2**63 else math.inf
    if type(value) is not kind:
        raise ConfigError(f"{thing} must be {_KINDS[kind]}, not {value!r}")
    return value


_KINDS = {
    bool: "true or false, without quotes",
    int: "a whole number, such as 10",
    float: "a number, such as 2.5",
    str: 'text in quotes, such as "text"',
}


def _check(name: str, thing: str, value: Any) -> None:
    if isinstance(value, str):
        _check_text(name, thing, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, greatest = _range(name)
        if not (least <= value <= greatest and math.isfinite(value) and value < 2**63):
            raise ConfigError(f"{thing} must be {_limits(name)}, not {value}")


def _range(name: str) -> tuple[float, float]:
    section, _, option = name.partition(".")
    default = getattr(getattr(Config(), section), option)
    return RANGES.get(name) or (min(0, default) if isinstance(default, int | float) else 0, math.inf)


def _limits(name: str) -> str:
    least, greatest = _range(name)
    return f"at least {least}" if greatest == math.inf else f"from {least} to {greatest}"


def _check_text(name: str, thing: str, value: str) -> None:
    if re.search("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        raise ConfigError(f"{thing} holds a control character: {value!r}; write it on one line, in UTF-8")
    pattern, rule = PATTERNS.get(name, ("", ""))
    if pattern and not re.fullmatch(pattern, value):
        raise ConfigError(f"{thing} must be {rule}, not {value!r}")
    if name in REGEXES:
        try:
            re.compile(value)
        except re.error as error:
            fix = "put a backslash before special characters"
            raise ConfigError(f"{thing} holds {value!r}, which is not a regular expression ({error}); {fix}") from None


def _name(thing: str, name: str, exact: bool) -> str:
    """A host, or a domain or suffix ("*.cz" and ".cz" are "cz"), as it stands in canonical URLs."""
    bare = name.lower().removesuffix(".")
    if not exact:
        bare = bare.removeprefix("*").removeprefix(".")
    try:  # the codec follows IDNA 2003, which reads these four differently from browsers
        bare = bare if bare.isascii() or set(bare) & set("ßς\u200c\u200d") else bare.encode("idna").decode()
    except UnicodeError:
        bare = ""
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:]+\]", bare):
        fix = "write it without scheme, port, path and wildcard, as 'example.org' or 'xn--bcher-kva.example'"
        raise ConfigError(f"{thing} holds {name!r}, which is not a name; {fix}")
    return bare


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _comments() -> dict[tuple[str, str], str]:
    """The comment behind each field of this file's classes, by class and field."""
    source = Path(__file__).read_text("utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    behind = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    return {
        (node.name, field.target.id): behind.get(field.end_lineno or 0, "")
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }
