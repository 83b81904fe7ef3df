"""`windrow init` and `crawl`."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from windrow import config, files
from windrow.cli.corpus import storing
from windrow.cli.corpus.storing import StoreCaptures, StoreTo, StoringProcess
from windrow.cli.crawl import limits, shards
from windrow.cli.crawl.limits import MaxDocuments, MaxPages, MaxSeconds, MaxTokens
from windrow.cli.crawl.shards import ENDINGS
from windrow.cli.run import Voice, run
from windrow.cli.terminal import (
    Directory,
    Json,
    Metrics,
    Settings,
    command,
    load,
    out,
    print_json,
)
from windrow.cli.text import lines
from windrow.config import Config, ConfigError, FocusOptions
from windrow.crawler.display import live
from windrow.crawler.ending import Ending
from windrow.crawler.setup import checks, seedlist
from windrow.frontier import seeds
from windrow.frontier.policy.scope import Scope
from windrow.judge.language import codes
from windrow.records import Url
from windrow.sharding import is_divided
from windrow.units import count, share, size, span

_LIMITS = ("scope.tlds=", "scope.domains=", "scope.hosts=", "scope.allow=", "scope.max_distance=")

NO_TOPIC = "--background says what a topic is compared with; give the topic with --topic TEXT"
Background = Annotated[
    str,
    typer.Option(
        help="General language for the words of the topic: wordfreq, stoplist, sample, or a file of text; default: "
        "the first of these that is there for the language.",
        metavar="BACKGROUND",
    ),
]


def init(
    directory: Directory,
    seed_file: Annotated[
        str, typer.Option("--seeds", help="File of seed URLs, one per line; - for standard input.", metavar="FILE")
    ],
    contact: Annotated[
        str, typer.Option(help="URL or e-mail address for the webmasters whose sites you visit.", metavar="CONTACT")
    ] = "",
    language: Annotated[
        list[str] | None,
        typer.Option(
            help="Keep only text in these languages: ces, cs or Czech; several with commas. The first one is primary.",
            metavar="LANGUAGE",
        ),
    ] = None,
    tld: Annotated[
        list[str] | None, typer.Option(help="Stay within these top-level domains: cz, or cz,sk.", metavar="TLD")
    ] = None,
    preset: Annotated[
        str, typer.Option(help="Options for a purpose: archive (whole sites for replay).", metavar="PRESET")
    ] = "",
    topic: Annotated[
        list[str] | None,
        typer.Option(
            help="Text of the wanted topic, or a language model of it (ARPA, or of windrow lm train): pages like it "
            "go first. Repeatable.",
            metavar="TEXT-OR-MODEL",
        ),
    ] = None,
    background: Background = "",
    settings: Settings = None,
) -> None:
    """Make a crawl directory with crawl.toml and seeds.txt, and with --topic the files of the topic."""
    from windrow.jobs.topic import samples as topics  # with the parser of pages; `crawl` does without it

    if (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} already has a crawl.toml; edit it, or choose another directory")
    urls = seeds.read(seed_file)
    chosen = [*_overrides(contact, words(language), words(tld)), *(settings or [])]
    comments: dict[str, str] = {}
    if preset:
        given, comments = _preset(preset, urls, chosen)
        chosen = given + chosen
    options = config.make(chosen, directory, Path())
    checks.check_judges(dataclasses.replace(options, focus=FocusOptions()) if topic else options)
    if topic:
        made = topics.make(topic, background, options.language.accepted)
        options, reasons = topics.applied(options, made, chosen)
        comments |= reasons
    elif background:
        raise ConfigError(NO_TOPIC)
    directory.mkdir(parents=True, exist_ok=True)
    if topic:
        topics.write(made, directory)
    (directory / "seeds.txt").write_text("".join(url.text + "\n" for url in urls))
    files.write(directory / "crawl.toml", config.new_file(options, comments).encode())  # last, and whole or not at all
    _say_written(directory, urls, options, made.notes if topic else ())


def _say_written(directory: Path, urls: Sequence[Url], options: Config, notes: Sequence[str]) -> None:
    """Say what `init` has written, what will not work as expected, and what to do next."""
    out.print(f"{directory / 'crawl.toml'} and {directory / 'seeds.txt'} ({count(len(urls), 'seed')}) written.")
    if notes:
        out.print("\n".join(notes))
    refused = list(seedlist.refused(seeds.tasks(urls), Scope(options.scope)))
    if refused:
        out.print(seedlist.describe(refused, len(urls), options))
    if not options.identity.contact:
        out.print("No contact is set, so only loopback addresses will be crawled: set contact under [identity].")
    out.print(f"Now: {command('crawl', directory)}")


def words(given: list[str] | None) -> list[str]:
    """Return the values of a repeatable option; "cs,de" is two of them."""
    return [word.strip() for value in given or () for word in value.split(",") if word.strip()]


def _preset(name: str, urls: Sequence[Url], chosen: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the settings of a preset and their comments. An archive stays on the domains of its seeds, unless a
    setting says which hosts are wanted."""
    if name not in config.PRESETS:
        raise ConfigError(f"there is no preset {name!r}; the presets are {', '.join(config.PRESETS)}")
    settings = [choice.setting for choice in config.PRESETS[name]]
    comments = {choice.setting.partition("=")[0]: choice.reason for choice in config.PRESETS[name]}
    if not any(setting.startswith(_LIMITS) for setting in chosen):
        domains = sorted({url.domain for url in urls})
        settings.append(f"scope.domains={domains!r}")
        comments["scope.domains"] = "Pages of the seeds' domains only."
    return settings, comments


def _overrides(contact: str, wanted: list[str], tlds: list[str]) -> list[str]:
    chosen = [f"identity.contact={contact}"] if contact else []
    chosen += [f"language.accepted={[codes.parse(name) for name in wanted]!r}"] if wanted else []
    return chosen + ([f"scope.tlds={tlds!r}"] if tlds else [])


def crawl(
    directory: Directory,
    max_pages: MaxPages = 0,
    max_seconds: MaxSeconds = 0.0,
    max_tokens: MaxTokens = "",
    max_documents: MaxDocuments = "",
    settings: Settings = None,
    store_to: StoreTo = "",
    store_captures: StoreCaptures = False,
    wanted: Annotated[
        int | None, typer.Option("--shards", help="Divide a new crawl among so many processes.", metavar="N")
    ] = None,
    redis: shards.Redis = "",
    metrics: Metrics = "",
    log_json: lines.LogJson = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print a line per outcome.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")] = False,
    as_json: Json = False,
) -> None:
    """Run a crawl, or continue one that was stopped or killed. Ctrl-C stops it cleanly."""
    if verbose and quiet:
        raise ConfigError("--verbose and --quiet exclude each other; leave one of them out")
    if log_json:
        lines.use_json(directory)
    given = [*limits.plain(settings or []), *limits.settings(max_pages, max_seconds, max_tokens, max_documents)]
    where = storing.target(store_to, store_captures)
    if wanted is not None and wanted < 1:
        raise ConfigError(f"--shards {wanted} cannot be used; give 1 or more, for example the number of cores")
    if wanted or is_divided(directory):
        return shards.crawl_all(directory, wanted or 0, given, shards.Service(redis, metrics, where), as_json)
    voice: Voice = "verbose" if verbose else "quiet" if quiet else "normal"
    options = load(directory, given)
    with StoringProcess(directory, where) as child:
        ending = run(directory, options, given, voice, begun=child.start, metrics=metrics)
    if as_json:
        print_json(ending)
    elif not quiet and not log_json:  # programs have the last line
        show_ending(directory, ending)
        if settings:
            keep = f"to keep it, write it into {directory / 'crawl.toml'}"
            out.print(f"--set {', '.join(settings)} held for this run only; {keep}")
    if ending.why == "offline":
        raise typer.Exit(1)
    if child.failed:
        raise typer.Exit(2)


def show_ending(directory: Path, ending: Ending) -> None:
    """Print how a run ended, in the words and numbers of `windrow status`."""
    tally, waiting = ending.tally, ending.counts.waiting
    sent = f"{count(tally.requests, 'request')}, {count(tally.captures, 'capture')}, {count(tally.pages, 'page')}"
    out.print(f"{ENDINGS.get(ending.why, ending.why)} after {span(ending.seconds)}: {sent}, ", end="")
    out.print(f"{size(tally.downloaded)} downloaded, {count(waiting, 'URL')} waiting.")
    if tally.clean:
        kept = f"{size(tally.kept)} of text kept, a yield of {share(tally.kept, tally.downloaded)}"
        out.print(f"{count(tally.documents, 'document')} with {kept}.")
    if ending.counts.tokens:
        corpus = f"{count(ending.counts.documents, 'document')} with {count(ending.counts.tokens, 'token')}"
        out.print(f"The corpus has {corpus}.")
    out.print(f"Finished in this run: {live.reasons(tally.finished)}")
    out.print(f"More: {command('status', directory)}")
