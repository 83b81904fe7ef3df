"""The rules behind reasons and refused links: one line of meaning each, and the option that sets the limit.

A reason says how a URL ended; a rule says what decided. `windrow reasons`, `windrow why`, the notes of a crawl and the
documents take the words from here, so that a rule is explained once. The stages know only the name of a rule.
"""

from typing import Any, NamedTuple

from windrow import config
from windrow.config import Config, comments
from windrow.records import Reason


class Rule(NamedTuple):
    """One rule."""

    meaning: str
    option: str = ""  # "section.option" that sets its limit; empty: there is none
    score: str = ""  # of the judges, that is compared with the limit


class Applied(NamedTuple):
    """A rule with the figures of one case."""

    name: str
    meaning: str
    option: str = ""
    limit: str = ""  # the value of the option, as TOML
    figure: float | None = None  # the score of the page

    def __str__(self) -> str:
        limit = f"{self.option} = {self.limit}" if self.option else ""
        figure = "" if self.figure is None else f"this page has {self.figure:g}"
        known = ", ".join(part for part in (limit, figure) if part)
        return f"{self.meaning} ({known})" if known else self.meaning


# Links that are not admitted, by the rule under which they are counted; also the detail of `out-of-scope`.
LINKS = {
    "length": Rule("the URL is too long", "scope.max_length"),
    "tld": Rule("its top-level domain is not among those admitted", "scope.tlds"),
    "tld-denied": Rule("its top-level domain is denied", "scope.tlds_denied"),
    "domain": Rule("its registered domain is not among those admitted", "scope.domains"),
    "domain-denied": Rule("its registered domain is denied", "scope.domains_denied"),
    "host": Rule("its host is not among those admitted", "scope.hosts"),
    "host-denied": Rule("its host is denied", "scope.hosts_denied"),
    "port": Rule("its port is not among those admitted", "scope.ports"),
    "parameters": Rule("its query has too many parameters", "scope.max_parameters"),
    "suffix": Rule("the ending of its path says that it is not text", "scope.skip_suffixes"),
    "segments": Rule("its path has too many segments", "scope.max_segments"),
    "repeats": Rule("one segment occurs too often in its path", "scope.max_repeats"),
    "allow": Rule("none of the expressions that a URL must contain is found in it", "scope.allow"),
    "deny": Rule("an expression that no URL may contain is found in it", "scope.deny"),
    "depth": Rule("it is too many links away from a seed", "scope.max_depth"),
    "distance": Rule("the way from a seed changes the registered domain too often", "scope.max_distance"),
    "nofollow": Rule("the link, or its page, is marked nofollow", "scope.follow_nofollow"),
    "same-pages": Rule("the link is on one of many pages of a host with the same text: a trap", "scope.same_pages"),
    "host-urls": Rule("its host has as many URLs as allowed", "frontier.max_host_urls"),
    "domain-urls": Rule("its domain has as many URLs as allowed", "frontier.max_domain_urls"),
    "domain-hosts": Rule("its domain has as many hosts as allowed", "frontier.max_domain_hosts"),
    "takedown": Rule("it is on the takedown list, takedown.txt in the directory of the crawl"),
    "embeds": Rule("requisites of requisites are too many in a row"),
    "low-yield": Rule("its domain, host or part of the host was retired", "frontier.yield_threshold"),
    "cutoff": Rule("the page that holds the link is too far from the topic", "focus.cutoff"),
    "host-closed": Rule("its host was closed after failures in a row", "fetch.host_failures"),
}

# The limits of the reason `quality`, in its detail.
QUALITY = {
    "short": Rule("its text has too few characters", "quality.min_characters", "characters"),
    "boilerplate": Rule("too little of its text is in good paragraphs", "quality.min_good", "good"),
    "digits": Rule("too many of its characters are digits", "quality.max_digits", "digits"),
    "symbols": Rule("too many of its characters are symbols", "quality.max_symbols", "symbols"),
    "letters": Rule("too few of its characters are letters", "quality.min_letters", "letters"),
    "repeated-lines": Rule("too many of its paragraphs repeat", "quality.max_repeated_lines", "repeated_lines"),
    "repeated-words": Rule("too many of its word triples repeat", "quality.max_repeated_words", "repeated_words"),
    "no-sentences": Rule("too little of its text is sentences", "quality.min_sentences", "sentences"),
}

# Reasons that an option decides. The meaning of a reason is the comment at its member of `Reason`.
_OPTIONS = {
    Reason.BLOCKED_ADDRESS: ("fetch.allow_private", ""),
    Reason.HOST_DEAD: ("fetch.host_failures", ""),
    Reason.REDIRECTS: ("fetch.max_redirects", ""),
    Reason.TIMEOUT: ("fetch.timeout", ""),
    Reason.PARSE_TIMEOUT: ("workers.seconds", ""),
    Reason.PARSE_MEMORY: ("workers.megabytes", ""),
    Reason.LOW_YIELD: ("frontier.yield_threshold", ""),
    Reason.LOW_VALUE: ("frontier.give_up", ""),
    Reason.TOPIC: ("focus.max_perplexity", "perplexity"),
    Reason.OPTED_OUT: ("signals.profile", ""),
    Reason.LANGUAGE: ("language.min_share", "accepted"),
    Reason.MACHINE_TRANSLATED: ("quality.drop_machine_translations", ""),
    Reason.SOFT_404: ("quality.soft_404", "soft_404"),
    Reason.NEAR_DUPLICATE: ("dedup.max_seen", "near_duplicates"),
}


def reasons() -> dict[str, Rule]:
    """Return every reason with its meaning and its option, by name."""
    meanings = comments.read(Reason)
    return {each.value: Rule(meanings[each.name], *_OPTIONS.get(each, ("", ""))) for each in Reason}


def applied(reason: Reason, detail: str, scores: dict[str, float], options: Config) -> Applied | None:
    """Return the rule that ended a URL, with the figures of this case; None where the reason says it all."""
    if reason is Reason.OUT_OF_SCOPE and detail in LINKS:
        return _applied(detail, LINKS[detail], scores, options)
    if reason is Reason.QUALITY and detail in QUALITY:
        return _applied(detail, QUALITY[detail], scores, options)
    if reason in _OPTIONS:
        return _applied("", Rule(comments.read(Reason)[reason.name], *_OPTIONS[reason]), scores, options)
    return None


def refusal(name: str, options: Config) -> Applied:
    """Return the rule that refuses a link, with the value of its option."""
    return _applied(name, LINKS.get(name, Rule(f"the rule '{name}' refuses it")), {}, options)


def _applied(name: str, rule: Rule, scores: dict[str, float], options: Config) -> Applied:
    limit = _shown(_value(rule.option, options)) if rule.option else ""
    return Applied(name, rule.meaning, rule.option, limit, scores.get(rule.score))


def _value(option: str, options: Config) -> Any:
    section, _, name = option.partition(".")
    return getattr(getattr(options, section), name)


def _shown(value: Any) -> str:
    """Return a value as TOML; of a long list only the beginning."""
    if isinstance(value, tuple) and len(value) > 6:
        return f"{config.toml(value[:6])[:-1]}, …]"
    return config.toml(value)


_PAGE = """# Reasons and rules

`python -m windrow.rules` writes this page from `src/windrow/rules.py` and from `Reason` in `src/windrow/records/`; edit
those.

`windrow reasons` prints the same lists (`--json` for programs). `windrow status` counts URLs by reason and refused
links by rule. `windrow list DIR --reason NAME` lists the URLs. `windrow why DIR URL` shows which rule decided about one
URL, with the figure of the page and with the option as it is in crawl.toml now.
"""
_TABLES = {
    "How a URL ends, or why an attempt fails": "reason",
    "Why a link is refused": "rule",
    "What `quality` means": "limit",
}


def page() -> str:
    """Return docs/reasons.md."""
    lines = [_PAGE.rstrip("\n")]
    for (title, what), table in zip(_TABLES.items(), (reasons(), LINKS, QUALITY), strict=True):
        lines += ["", f"## {title}", "", f"| {what} | meaning | option that decides |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {rule.meaning} | {f'`{rule.option}`' if rule.option else ''} |"
            for name, rule in table.items()
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
