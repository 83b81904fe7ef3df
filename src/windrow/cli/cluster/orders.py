"""`windrow cluster add`, `set`, `block`, `unblock` and `retry`: orders to all shards of a job."""

from typing import Annotated, Any

import typer

from windrow import orders, units
from windrow.cli.cluster import show
from windrow.cli.crawl import limits
from windrow.cli.crawl.orders import Hosts, Names, Reasons, name_refused
from windrow.cli.crawl.shards import load_nodes
from windrow.cli.registry import Job, RedisUrl, within
from windrow.cli.terminal import Json, print_json
from windrow.config import ConfigError
from windrow.crawler.orders import give
from windrow.records import Order

Wait = Annotated[
    float, typer.Option("--wait", help="Wait so long for the shards that run to take it.", metavar="SECONDS")
]


def add(
    name: Job,
    sources: Annotated[list[str], typer.Argument(help="URLs, or files of URLs; - for stdin.", metavar="URL-OR-FILE")],
    wait: Wait = 15.0,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Add seeds to a job. Those that its scope refuses are named with the rule."""
    creation = load_nodes("controller.creation")
    _, spec, _ = within(redis, lambda registry: registry.job(name))
    urls = give.read_seeds(sources, creation.options_of(spec))
    name_refused(urls.refused)
    if not urls.tasks:
        raise ConfigError("[scope] of the job refuses every URL; add others")
    lines = [task.url.text for task in urls.tasks]
    creation.check_size("\n".join(lines), sources[0])
    given = _give(redis, name, orders.make("add", lines), wait)
    _given(name, given, f"{units.count(len(lines), 'seed')} given", as_json)


def block(name: Job, names: Names, wait: Wait = 15.0, redis: RedisUrl = "", as_json: Json = False) -> None:
    """Request nothing more from hosts or domains. Their waiting URLs end as `blocked`; links to them are refused."""
    given = _give(redis, name, orders.make("block", names), wait)
    _given(name, given, f"blocked: {', '.join(given.order.content.split())}", as_json)


def unblock(name: Job, names: Names, wait: Wait = 15.0, redis: RedisUrl = "", as_json: Json = False) -> None:
    """Let blocked hosts or domains in again. Their URLs that ended as `blocked` wait again."""
    given = _give(redis, name, orders.make("unblock", names), wait)
    _given(name, given, f"unblocked: {', '.join(given.order.content.split())}", as_json)


def retry(
    name: Job, reason: Reasons, host: Hosts = None, wait: Wait = 15.0, redis: RedisUrl = "", as_json: Json = False
) -> None:
    """Let URLs that ended with these reasons wait again, as if never tried, and open hosts closed for them."""
    given = _give(redis, name, orders.make("retry", reason, host or []), wait)
    only = f" on {', '.join(given.order.hosts)}" if given.order.hosts else ""
    _given(name, given, f"retry of {', '.join(given.order.content.split())}{only}", as_json)


def _give(redis: str, name: str, order: Order, wait: float) -> Any:
    return within(redis, lambda registry: load_nodes("controller.steering").give(registry, name, order, wait))


def _given(name: str, given: Any, done: str, as_json: bool) -> None:
    if as_json:
        return print_json(given)
    show.order(name, given, done)


def change(
    name: Job,
    settings: Annotated[
        list[str],
        typer.Argument(help="fetch.delay=10; fetch.delay= for the value of the job.", metavar="NAME=VALUE"),
    ],
    wait: Wait = 15.0,
    redis: RedisUrl = "",
    as_json: Json = False,
) -> None:
    """Change options of all shards while they run, as `windrow set` does for one crawl, and the limits of the job.

    A job that has reached a limit continues when that is raised; crawl.max_tokens=0 removes it.
    """
    values = orders.make("set", limits.plain(settings)).values  # refuses options that cannot change while a crawl runs
    steering = load_nodes("controller.steering")
    made = within(redis, lambda registry: steering.set_options(registry, name, values, wait))
    if as_json:
        return print_json(made)
    show.changes(name, made)
