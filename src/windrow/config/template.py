"""Write a crawl.toml for a new crawl: the options that users change most, each with its meaning and default.

The words come from the schema. An option that has its default is a comment, so that a later Windrow with a better
default is not held back by an old file.
"""

import textwrap
import typing
from collections.abc import Mapping

from windrow.config.dump import plugins, toml
from windrow.config.reference import Option, default, options
from windrow.config.schema import SECTIONS, Config

USUAL = (  # what users change most; every other option that was set is written too
    "identity.contact",
    "identity.operator",
    "identity.description",
    "scope.tlds",
    "scope.domains",
    "scope.domains_denied",
    "scope.hosts_denied",
    "scope.allow",
    "scope.deny",
    "scope.max_depth",
    "scope.max_distance",
    "frontier.max_domain_urls",
    "frontier.yield_threshold",
    "frontier.order",
    "fetch.delay",
    "fetch.connections",
    "fetch.max_bytes",
    "fetch.verify_tls",
    "archive.prefix",
    "workers.count",
    "extract.extractor",
    "extract.comments",
    "paragraphs.preset",
    "language.accepted",
    "language.recognised",
    "language.min_share",
    "quality.min_characters",
    "focus.model",
    "focus.max_perplexity",
    "signals.profile",
    "judge.judges",
    "dedup.near_duplicates",
    "corpus.shard_bytes",
    "crawl.seeds",
    "crawl.max_pages",
    "crawl.max_seconds",
    "crawl.max_tokens",
    "crawl.max_documents",
    "crawl.min_free_bytes",
)
_WIDTH = 110
_HEAD = """\
# The options of this crawl. A line such as "#delay = 5.0" shows a default: remove the # and change the value.
# `windrow options` lists all options, `windrow options NAME` explains one. Relative paths start in this directory.
"""


def new_file(config: Config, reasons: Mapping[str, str] = {}) -> str:
    """Return a crawl.toml that loads back as these options. reasons: of a preset, by the name of the option."""
    parts = [_HEAD]
    every = options()
    for section in SECTIONS:
        title = (typing.cast(type, section.type).__doc__ or "").strip().splitlines()[0]
        lines = [f"[{section.name}]  # {title}\n"]
        values = getattr(config, section.name)
        for option in every:
            owner, _, name = option.name.partition(".")
            if owner == section.name and (option.name in USUAL or getattr(values, name) != option.default):
                lines.append(_option(option, name, getattr(values, name), reasons.get(option.name, "")))
        parts.append("".join(lines))
    return "\n".join(parts + plugins(config))


def _option(option: Option, name: str, value: object, reason: str) -> str:
    meaning = f"{option.meaning} Allowed: {option.allowed}." if option.allowed else option.meaning
    if value == option.default:
        written = f"#{name} = {default(option)}"
    else:
        meaning += f" Default: {default(option)}."
        meaning += f" Here: {reason}" if reason else ""
        written = f"{name} = {toml(value)}"
    comment = textwrap.wrap(meaning, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    return "\n".join([*comment, written]) + "\n"
