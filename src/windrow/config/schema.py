"""Every option once: its default, its kind, its unit and its reason. `docs/configuration.md` is generated from this
file.

The comment above or behind a field is its documentation. A number without a kind may be anything from 0 upwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from windrow.config.kinds import (
    LIVE,
    Ascii,
    Count,
    Domains,
    Expressions,
    File,
    FileBeside,
    Files,
    GzipLevel,
    HeaderFields,
    Hosts,
    Pattern,
    Plugin,
    Range,
    Share,
    Suffix,
    Timeout,
)

NOT_TEXT = tuple(
    "7z aac apk avi avif bin bmp bz2 css csv deb dmg doc docx eot epub exe flac flv gif gz ico iso jar jpeg jpg js "
    "json m4a m4v mkv mov mp3 mp4 mpeg mpg msi odp ods odt ogg ogv otf pdf png ppt pptx ps rar rpm rtf svg svgz swf "
    "tar tgz tif tiff ttf wav webm webp wma wmv woff woff2 xls xlsx xz zip zst".split()
)

Profile = Literal["research", "training", "record-only"]


@dataclass(frozen=True, slots=True)
class IdentityOptions:
    """How the crawler introduces itself to the servers that it visits."""

    # Product token of the crawler. It chooses the group of a robots.txt, so it has only letters, _ and - (RFC 9309
    # §2.2.1).
    name: Annotated[str, Pattern(r"[A-Za-z_-]+", "made of letters, _ and - only")] = "windrow"
    # URL or e-mail address where a webmaster can reach you. Without it only loopback addresses are crawled.
    contact: Annotated[
        str,
        Pattern(
            r"|https?://[!-.0-?A-~]+(/[!-~]*)?|[^\s@<>:/]+@[^\s@<>:/]+",
            "a URL or an e-mail address, such as 'https://example.org/crawler' or 'crawler@example.org'",
        ),
    ] = ""
    user_agent: Ascii = ""  # Whole User-Agent header; empty: "Mozilla/5.0 (compatible; NAME/VERSION; +CONTACT)".
    operator: str = ""  # Person or institution that runs the crawl, for the warcinfo record.
    description: str = ""  # Purpose of the crawl, for the warcinfo record.


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """Which links are admitted. A link that is refused here is counted by rule and not stored."""

    tlds: Domains = ()  # Admit only these top-level domains or suffixes, such as "cz" or "co.uk"; empty: all.
    tlds_denied: Domains = ()  # Refuse these top-level domains or suffixes.
    domains: Domains = ()  # Admit only these registered domains; empty: all.
    domains_denied: Domains = ()  # Refuse these registered domains.
    hosts: Hosts = ()  # Admit only these hosts; empty: all.
    hosts_denied: Hosts = ()  # Refuse these hosts.
    allow: Expressions = ()  # Regular expressions; at least one must be found in the URL; empty: any URL.
    deny: Expressions = ()  # Regular expressions; none may be found in the URL.
    # Refuse a path with one of these endings: such files are not text.
    skip_suffixes: Annotated[tuple[str, ...], Suffix()] = NOT_TEXT
    # Also request what pages need to be shown: images, styles, scripts, fonts, media and frames, on any host, whatever
    # the rules above admit (rules that refuse still hold).
    requisites: bool = False
    ports: Annotated[tuple[int, ...], Range(1, 65535)] = (80, 443, 8080, 8443)  # Admit only these ports.
    max_depth: int = 0  # Links on the way from a seed; 0: no limit.
    # Changes of registered domain on the way from a seed; -1: no limit, 0: stay on the domains of the seeds.
    max_distance: Annotated[int, Range(-1)] = -1
    max_length: Annotated[int, Range(16, 65536)] = 2048  # Characters of a URL.
    max_segments: Count = 24  # Segments of a path.
    # How often one segment may occur in a path: /a/b/a/b/a/b/a/b is a trap.
    max_repeats: Count = 3
    max_parameters: int = 12  # Parameters of a query.
    # Pages of one host with the same text, digits ignored, after which the links of further such pages are ignored: an
    # endless calendar is a trap; 0: off.
    same_pages: int = 24
    homepages: bool = True  # Also request the home page of each host that another host links to.
    follow_nofollow: bool = False  # Follow links and pages that are marked nofollow.


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Which URLs wait, and which one is next."""

    # Store of the frontier: "lmdb" on disk, or "memory", which loses everything when the process ends: for tests.
    store: Literal["lmdb", "memory"] = "lmdb"
    # Registered domains that are open at once: few for a deep crawl, many for a wide one (SpiderLing: 1000 to 2000).
    open_domains: Count = 2000
    open_hosts: Count = 4000  # Hosts that are open at once.
    # Pages of an open domain after which it goes to the end of the backlog, if other domains wait.
    quantum: Count = 500
    max_host_urls: Annotated[int, LIVE] = 0  # URLs admitted per host; 0: no limit.
    max_domain_urls: Annotated[int, LIVE] = 0  # URLs admitted per registered domain; 0: no limit.
    max_domain_hosts: Annotated[int, LIVE] = (
        64  # Hosts admitted per registered domain, against wildcard DNS; 0: no limit.
    )
    # Yield below which a domain of n pages is retired. "strict", "normal" and "permissive" are 0.01, 0.005 and 0.002
    # times (log10 n - 1); "a,b" is a * (log10 n - b); "off" retires none; your own function of n is
    # "package.module:name". "auto" is "off" with order "value", which ends the tails of queues instead, and "normal"
    # with the others.
    yield_threshold: Annotated[
        str,
        Plugin(
            Pattern(
                r"auto|off|strict|normal|permissive|\[?\s*(\d+\.?\d*|\.\d+)\s*,\s*-?(\d+\.?\d*|\.\d+)\s*\]?",
                "'auto', 'off', 'strict', 'normal', 'permissive', two numbers such as '0.01,1', or your own function "
                "as 'package.module:name'",
            )
        ),
    ] = "auto"
    # Yield of a domain: "bytes" kept per byte downloaded, or "pages", the mean of the yields of its pages.
    yield_form: Literal["bytes", "pages"] = "bytes"
    # Text that counts for the yield: "kept" in the corpus, all "clean" text, or clean text in the "primary" language,
    # which is the first accepted one.
    yield_text: Literal["kept", "clean", "primary"] = "kept"
    grace_pages: int = 8  # Answered requests before which no domain is retired (SpiderLing).
    grace_bytes: int = 512 << 10  # Bytes downloaded from a domain before which it is not retired (SpiderLing).
    # Also retire single hosts, and single first path segments of a host; a good host outlives its domain.
    segments: bool = True
    # Order of links and hosts: "value" learns while crawling what each link is worth, "yield" takes the hosts first
    # that have given the most text per byte, "breadth" each in turn.
    order: Literal["value", "yield", "breadth"] = "value"
    # With order "value", what it learns from: "hosts" (what a host and a domain have given), "links" (the words of a
    # link, around it and in its language), "hops" (how far the last wanted page is), "new-hosts" (where unknown hosts
    # are named), "yield" (the text and the size of the pages of a host).
    learn: tuple[Literal["hosts", "links", "hops", "new-hosts", "yield"], ...] = (
        "hosts",
        "links",
        "hops",
        "new-hosts",
        "yield",
    )
    # With order "value": links that are hardly worth a request end as "low-value" when the wanted text expected behind
    # all that wait is at most this share of what was found; 0: they are all requested.
    give_up: Share = 0.01
    # With order "yield": the terms of a link's rank, "yield", "language" or the user's own as "package.module:name".
    terms: Annotated[tuple[str, ...], Plugin()] = ("yield", "language")
    # With order "value" or "yield": your own terms of the value of a host, as "package.module:name", each a factor.
    host_terms: Annotated[tuple[str, ...], Plugin()] = ()
    # With order "value" or "yield": hosts tried at once whose expected yield is below half of the crawl's present one.
    explore: Count = 8
    # Share of the clean text of a domain in the primary language below which the domain is retired; 0: off.
    min_primary_share: Share = 0.0
    # Seconds between two commits of the store. The log commits every second, see crawl.commit_seconds.
    checkpoint: Annotated[float, Range(0, 3600)] = 20.0


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """How pages are requested."""

    # The client that sends requests: "curl", or your own as "package.module:name".
    client: Annotated[str, Plugin()] = "curl"
    # Seconds between the end of a request and the start of the next one to the same host (Common Crawl's minimum).
    delay: Annotated[float, LIVE] = 5.0
    ip_delay: Annotated[float, LIVE] = 0.5  # Seconds, the same for an IP address, which many hosts may share.
    max_crawl_delay: float = 60.0  # Seconds; a longer Crawl-delay is reduced to this.
    connections: Annotated[int, Range(1, 10000), LIVE] = 256  # Requests in progress at once, each to another host.
    connect_timeout: Timeout = 10.0  # Seconds until the connection is open.
    header_timeout: Timeout = 20.0  # Seconds until the header is complete.
    timeout: Timeout = 60.0  # Seconds until the body is complete; a part that has arrived is kept and marked.
    min_rate: int = 1024  # Bytes per second, over 30 s, below which a transfer is ended.
    max_bytes: Count = 1 << 20  # Bytes of a body on the wire; the rest is cut off (Common Crawl: 1 MiB).
    # Bytes of a body after content decoding; the rest is cut off, so that a compression bomb does no harm.
    max_decoded: Count = 8 << 20
    # Keep bodies in the archive as they were sent, in their content coding (gzip, br, …), for replay and as evidence;
    # chunks are always joined.
    raw_bodies: bool = False
    max_header: Annotated[int, Range(256)] = 64 << 10  # Bytes of all headers.
    max_redirects: int = 10  # Redirects in a row.
    accept: Ascii = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"  # Accept header.
    # Accept-Language header; empty: none is sent, because a fixed "en" biases a crawl (Common Crawl's experience).
    accept_language: Ascii = ""
    # More fields of the request header, as "Name: value"; fields with an option of their own are refused.
    headers: HeaderFields = ()
    # File of cookies in Netscape's format (cookies.txt), sent to their hosts; new ones are not learnt. The archive
    # shows that a cookie was sent, never its value.
    cookies_file: File = ""
    # Proxy for all requests: http://, https:// or socks5h:// with host and port; empty: none. The proxy resolves names,
    # so addresses are neither checked nor archived.
    proxy: Annotated[
        str,
        Pattern(
            r"|(https?|socks5h)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?",
            "such as 'http://127.0.0.1:3128', 'https://…' or 'socks5h://…'; user and password belong in "
            "fetch.proxy_login_file",
        ),
    ] = ""
    proxy_login_file: File = ""  # File with user:password for the proxy, on one line; it is never shown or archived.
    verify_tls: bool = True  # Refuse servers with a bad certificate.
    http2: bool = False  # Offer HTTP/2 over TLS.
    allow_private: bool = False  # Connect to private and loopback addresses.
    # File with lines of host<TAB>address[:port], for tests and mirrors: other names do not exist; "*.name" is a
    # wildcard.
    hosts_file: File = ""
    dns_ttl: float = 3600.0  # Seconds for which an address is used.
    dns_negative_ttl: float = 60.0  # Seconds for which a failed look-up is remembered; doubles up to 15 minutes.
    dns_threads: Annotated[int, Range(1, 1024)] = 16  # DNS look-ups at once.
    robots_ttl: Annotated[float, Range(0, 86400)] = 86400.0  # Seconds for which a robots.txt is used (RFC 9309 §2.4).
    # Bytes of a robots.txt that are read; RFC 9309 §2.5 requires at least 500 KiB.
    robots_max_bytes: Annotated[int, Range(512000)] = 512000
    # Treat a robots.txt answered with 401 or 403 as "disallow all"; the RFC says "allow all".
    forbidden_robots_closes: bool = False
    # Seconds, the shortest first pause of a host that answers with errors; doubles with each further error in a row.
    backoff: float = 1.0
    max_backoff: Annotated[float, LIVE] = 3600.0  # Seconds, the longest such pause.
    host_failures: Annotated[int, LIVE] = 6  # Connection failures in a row after which a host is closed.
    # Seconds over which DNS has to say three times that a host does not exist, before the host is closed.
    no_such_host_seconds: Annotated[float, Range(0, 86400)] = 120.0
    # Seconds for which DNS must not find a host that has answered before, until the host is closed.
    lost_host_seconds: Annotated[float, Range(0)] = 86400.0


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """How captures are stored."""

    # First part of the names of WARC files.
    prefix: Annotated[
        str, Pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*", "usable in file names: letters, digits, '.', '_' and '-'")
    ] = "WINDROW"
    max_bytes: Count = 1 << 30  # Bytes after which a WARC file is closed and the next one begins.
    level: GzipLevel = 2  # Compression level of isal's gzip.
    revisits: bool = False  # Write a revisit record instead of the body if the payload is already in the archive.


@dataclass(frozen=True, slots=True)
class WorkersOptions:
    """The processes that extract and judge pages. Windrow can end each of them without harm."""

    count: Annotated[int, Range(1, 1024)] = 1  # Processes.
    seconds: Annotated[float, Range(0.01)] = 10.0  # Seconds of CPU time per page.
    megabytes: Annotated[int, Range(64)] = 1024  # Address space of one process, in MiB, besides a topic's model.


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """The extraction of text and links from a page."""

    max_links: int = 10000  # Links taken from one page.
    # Extractor of the main text: "blocks" (learned), "paragraphs" (jusText's rules), "lines" (DGWC's), "none" (no
    # text), or your own as "package.module:name".
    extractor: Annotated[str, Plugin()] = "blocks"
    # What else is read than HTML: "plain" (text/plain), "sitemap" (its links, as those of a page), or your own readers
    # as "package.module:name"; of two for one media type the last. Their URLs must pass scope.skip_suffixes.
    readers: Annotated[tuple[str, ...], Plugin()] = ()
    # Model made by `windrow extract train`, for an extractor that can be trained; empty: Windrow's own model.
    model: File = ""
    title: bool = True  # Keep the headline of a page as a paragraph of its text; for "blocks".
    comments: bool = False  # Keep the comments of readers below a page, as a class of their own; for "blocks".
    marks: bool = False  # Keep links and emphasis within paragraphs; for "blocks".
    # Read what a page says of each link: its anchor, the words around it and its language, from which the frontier
    # learns where the text is. Done only with frontier.order "value", and not with extractor "none".
    link_context: bool = True


@dataclass(frozen=True, slots=True)
class ParagraphsOptions:
    """The extractor `paragraphs`: jusText's rules. An option that is not set has the value of its preset.

    The two values in its meaning are those of the presets stock and tuned.
    """

    # "stock": jusText 3.0.2 as it is; "tuned": a mean F1 of .85 instead of .68 on our data sets.
    preset: Literal["stock", "tuned"] = "tuned"
    # Language of the stop list, as an ISO 639-3 or 639-1 code; empty: guessed per page from its most frequent words.
    language: str = ""
    # File with your own stop list, one word per line. A list of single characters is counted by character.
    stoplist: File = ""
    max_link_density: Share | None = None  # Share of a paragraph's characters in links above which it is bad: .2, .3.
    # Characters below which a paragraph is short and only its neighbours decide: 70, 70.
    length_low: int | None = None
    # Characters above which a paragraph with stop words is good, whatever its neighbours are: 200, 120.
    length_high: int | None = None
    stopwords_low: Share | None = None  # Share of stop words below which a paragraph is bad: .3, .15.
    # Share of stop words that makes a long paragraph good and a shorter one nearly good: .32, .2.
    stopwords_high: Share | None = None
    # Characters between a heading and the good paragraph that keeps it: 200, 200.
    max_heading_distance: int | None = None
    headings: bool | None = None  # Keep headings with the text below them: true, true.
    landmarks: bool | None = None  # Treat paragraphs within nav, footer and aside elements as bad: false, true.
    # Factor for lengths and distances in scripts without spaces between words, such as Chinese: 1, .3.
    unspaced: float | None = None
    # If no language is set, judge a paragraph that is plainly in another language than its page by the list of that
    # language: false, true.
    mixed: bool | None = None


@dataclass(frozen=True, slots=True)
class LanguageOptions:
    """Which languages are wanted, and how they are recognised."""

    # Languages to keep, as ISO 639 codes, tags or English names ("ces", "cs", "Czech"); the first one is the primary
    # language; empty: all.
    accepted: tuple[str, ...] = ()
    # Languages considered where a text is short or unclear. Include similar languages that you want to drop; empty:
    # all.
    recognised: tuple[str, ...] = ()
    models: Files = ()  # Models made by `windrow language train`, for languages that no other detector knows.
    # Share of a page's characters in accepted languages below which the page is rejected. Paragraphs in other
    # languages are always dropped.
    min_share: Share = 0.2
    # Characters; a shorter paragraph counts as another language only if py3langid agrees.
    short: int = 120
    # Characters of each paragraph that are read: more changes no result and costs time.
    read: Annotated[int, Range(50)] = 300
    # Paragraphs per page for which py3langid gives a second opinion (0.1 ms each); 0: never, nor for the page.
    second: int = 8


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """Which text is running text."""

    # Characters of a page's text below which it is a caption or a message; an ideograph or kana counts three times.
    min_characters: int = 100
    # Share of a page's characters in good paragraphs, for an extractor that also reports the others.
    min_good: Share = 0.0
    min_letters: Share = 0.45  # Share of letters among the characters that are not spaces.
    max_digits: Share = 0.35  # Share of digits among the same characters.
    max_symbols: Share = 0.25  # Share of characters that are neither letter, digit nor punctuation among the same.
    max_repeated_lines: Share = 0.7  # Share of characters in paragraphs that occur earlier on the page.
    # Share of word triples that occur earlier, in texts of 200 words and more; sermons reach 0.75.
    max_repeated_words: Share = 0.85
    min_sentences: Share = 0.005  # Share of characters in paragraphs that are long enough or end like a sentence.
    drop_machine_translations: bool = True  # Reject pages that state that a machine translated them.
    # Similarity to the host's answer for a page that cannot exist, from which a page is a soft 404; 0: off.
    soft_404: Share = 0.85
    # Pages of an origin after which one soft-404 probe is sent, once per robots.txt; see soft_404.
    probe_after: int = 16


@dataclass(frozen=True, slots=True)
class FocusOptions:
    """The topic of the crawl: which pages are on it, and which links go first because of it."""

    # Model of the topic, made by `windrow init --topic` or `windrow lm train`, or an ARPA file; empty: no topic.
    model: File = ""
    # File of the topic's words with their weights against general language, made by `windrow init --topic`: they find
    # fluent text on another topic, which the model takes for the topic. Empty: none.
    words: File = ""
    # Score that decides the bucket of a link, always that of the page that holds it, lower is better: "perplexity"
    # under the model, "ratio" of the words, or the "odds" against the topic by both.
    by: Literal["perplexity", "ratio", "odds"] = "perplexity"
    high: Annotated[float, LIVE] = 0.0  # Links of pages with a score up to this go first; 0: no buckets.
    medium: Annotated[float, LIVE] = 0.0  # Links of pages with a score up to this come second.
    cutoff: Annotated[float, LIVE] = 0.0  # Links of pages with a higher score are dropped; 0: none.
    # Pages with a higher perplexity are kept out of the corpus, whichever links are followed; 0: none.
    max_perplexity: float = 0.0
    # Perplexity of text that is surely on the topic: `windrow init --topic` measures it on parts of the sample that it
    # leaves out of the model. Relevance and odds are computed from it; 0: pages get none.
    typical_perplexity: float = 0.0
    typical_ratio: float = 0.0  # Ratio of text that is surely on the topic, measured in the same way.
    worst_ratio: float = 0.0  # Ratio of text in the same language without any word of the topic.


@dataclass(frozen=True, slots=True)
class SignalsOptions:
    """What authors ask for beyond robots.txt. Every signal is stored with its document, whatever the profile."""

    # Signals that reject a page: "research" noindex and noai, "training" also reservations from training, "record-only"
    # none.
    profile: Profile = "research"
    # With "training": reject pages that robots.txt closes to known crawlers of AI companies.
    honour_peer_ai_blocks: bool = True
    # Request the tdmrep.json of each origin before its first page: one request per day, none if no text is extracted.
    tdmrep: bool = True


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """The judges of a page. They see the page alone, not other pages."""

    # Stop at the first judge that rejects a page: cheaper, but the scores of the later judges are missing.
    stop_early: bool = False
    # Your own judges as "package.module:name"; they run after the built-in ones.
    judges: Annotated[tuple[str, ...], Plugin()] = ()


@dataclass(frozen=True, slots=True)
class DedupOptions:
    """Which text is a duplicate of earlier text."""

    # Drop paragraphs most of whose words belong to n-grams that were seen before, by onion's rule.
    near_duplicates: bool = True
    ngram: Annotated[int, Range(1, 64)] = 7  # Words per n-gram (SpiderLing: 7).
    # Share of a paragraph's words in n-grams seen before; a duplicate has more (SpiderLing: 0.5).
    threshold: Share = 0.5
    # Words; new text between two duplicate paragraphs is dropped with them if it has at most this many (onion: 20);
    # 0: none.
    smoothing: int = 20
    # Share of a page's words in duplicate paragraphs; a page with more is dropped: its new text is a scrap, or spam.
    max_seen: Share = 0.7
    # Bytes for the n-grams seen, 6 to 11 each, allocated as needed; when the table is full, the older half is
    # forgotten.
    table_bytes: Annotated[int, Range(16 << 20)] = 2_200_000_000


@dataclass(frozen=True, slots=True)
class CorpusOptions:
    """How documents are stored."""

    shard_bytes: Count = 256 << 20  # Bytes after which a shard of a language is closed and the next one begins.
    level: GzipLevel = 2  # Compression level of isal's gzip.


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """How the crawl runs."""

    seeds: FileBeside = "seeds.txt"  # File of seed URLs, read at each start; new URLs in it are added.
    in_flight: Annotated[int, Range(1), LIVE] = (
        1024  # URLs requested and not yet committed: a kill makes us fetch at most so many again.
    )
    in_flight_bytes: Count = 64 << 20  # Bytes of bodies held for these URLs.
    commit_seconds: Annotated[float, Range(0.01, 3600)] = 1.0  # Seconds between two group commits.
    commit_pages: Count = 256  # Pages per group commit.
    max_pages: Annotated[int, LIVE] = 0  # Pages (URLs answered with a 2xx status) after which a run stops; 0: no limit.
    max_seconds: Annotated[float, LIVE] = 0.0  # Seconds after which a run stops; 0: no limit.
    # Tokens (words of the text kept, over all runs) with which the corpus is complete and the crawl ends; 0: no limit.
    max_tokens: Annotated[int, LIVE] = 0
    max_documents: Annotated[int, LIVE] = 0  # Documents, over all runs, after which the crawl ends; 0: no limit.
    # Seconds between two lines of progress, in crawl.log and, without a terminal, on standard error; 0: none.
    progress_seconds: float = 60.0
    # Seconds without network for which the crawl waits; then failures count against hosts again; 0: no limit.
    offline_seconds: Annotated[float, Range(0)] = 0.0
    # The same if hosts at fewer than three addresses have answered: then the hosts may be gone, not the network.
    offline_few_seconds: Annotated[float, Range(0)] = 1800.0
    # Free bytes on the disk below which fetching pauses, until there are twice as many.
    min_free_bytes: Annotated[int, LIVE] = 256 << 20
    # Name of this machine in file names.
    node: Annotated[
        str, Pattern(r"[A-Za-z0-9][A-Za-z0-9._]*", "usable in file names: letters, digits, '.' and '_'")
    ] = "n0"


@dataclass(frozen=True, slots=True)
class Config:
    identity: IdentityOptions = IdentityOptions()
    scope: ScopeOptions = ScopeOptions()
    frontier: FrontierOptions = FrontierOptions()
    fetch: FetchOptions = FetchOptions()
    archive: ArchiveOptions = ArchiveOptions()
    workers: WorkersOptions = WorkersOptions()
    extract: ExtractOptions = ExtractOptions()
    paragraphs: ParagraphsOptions = ParagraphsOptions()
    language: LanguageOptions = LanguageOptions()
    quality: QualityOptions = QualityOptions()
    focus: FocusOptions = FocusOptions()
    signals: SignalsOptions = SignalsOptions()
    judge: JudgeOptions = JudgeOptions()
    dedup: DedupOptions = DedupOptions()
    corpus: CorpusOptions = CorpusOptions()
    crawl: CrawlOptions = CrawlOptions()
    # [plugins.NAME]: options of the user's own code, as they are written; see windrow.plugins
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


SECTIONS = tuple(section for section in fields(Config) if section.name != "plugins")  # those whose options are known
