"""Checks before the first request: who answers for the crawl, its languages, its topic, and the free space."""

from pathlib import Path

from windrow import sharding
from windrow.config import Config, ConfigError
from windrow.crawler.machine.disk import free_bytes
from windrow.fetch.resolve import listed_hosts, stays_home
from windrow.judge.focus import topic
from windrow.judge.language import settings as language
from windrow.records import Task


def check_contact(options: Config, tasks: list[Task]) -> None:
    """Refuse to crawl anything but loopback without a contact: webmasters must be able to reach the operator."""
    if options.identity.contact:
        return
    hosts = listed_hosts(options.fetch)  # once: with a read per seed, start-up would be quadratic
    away = next((task.url for task in tasks if not stays_home(hosts, task.url.host)), None)
    if away is not None:
        raise ConfigError(
            f"no contact is set and the seed {away.text} is not on this machine; set contact under [identity] in "
            "crawl.toml to a URL or an e-mail address that a webmaster can write to"
        )


def check_alone(directory: Path) -> None:
    """Refuse a crawl with shards, and one of its shards: alone it would request the hosts of all the others."""
    whole = sharding.whole(directory)
    run = "start a node with: windrow node" if (whole / "state.json").exists() else f"run: windrow crawl {whole}"
    if sharding.is_divided(directory):
        raise ConfigError(f"{directory} is divided into shards, which run together; {run}")
    known = sharding.identity(directory)
    if known is not None and known.shard >= 0:
        run = run if whole != directory else f"run: windrow shard {directory} --redis URL"
        raise ConfigError(f"{directory} is shard {known.shard} of {known.job.title}, and shards run together; {run}")


def check_judges(options: Config) -> None:
    """Refuse what the judges could not work with, before anything is written: a language that nothing can detect, and
    models of languages or of the topic that cannot be read."""
    if options.extract.extractor != "none":
        language.prepare(options.language)
        topic.check(options.focus)
    elif options.focus.model:
        raise ConfigError('[focus] needs text, and extract.extractor is "none"; choose an extractor, or no topic')


def check_space(options: Config, directory: Path) -> None:
    """Refuse to start on a disk that is nearly full."""
    free = free_bytes(directory)
    if free < options.crawl.min_free_bytes:
        raise ConfigError(
            f"{directory} has {free >> 20} MiB free, less than crawl.min_free_bytes "
            f"({options.crawl.min_free_bytes >> 20} MiB); free some space, or lower the option"
        )
