"""Checks before the first request: who answers for the crawl, and whether its languages are known."""

from windrow.config import Config, ConfigError
from windrow.data import Task
from windrow.fetch.resolve import listed_hosts, stays_home
from windrow.judge.language import settings as language


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


def check_language(options: Config) -> None:
    """Refuse a language that nothing can detect, and a model that cannot be read, before anything is written."""
    if options.extract.extractor != "none":  # without text, no language is detected
        language.prepare(options.language)
