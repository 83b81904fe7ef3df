"""Which tasks are new, and which of the new ones the caps allow."""

from collections.abc import Callable, Iterable

from windrow import config
from windrow.frontier.local.backlog import Backlog
from windrow.frontier.local.blocks import Blocks
from windrow.frontier.local.hosts import OpenHost
from windrow.frontier.local.ledgers import Ledgers
from windrow.frontier.local.rows import RowCache
from windrow.frontier.store.protocol import Store
from windrow.frontier.store.rows import BLOCKED, LOW_YIELD, HostRow
from windrow.records import Task, Url

RECENT = 100_000  # keys remembered, twice over, to save a look into the store; about 75 bytes each
LONGEST = 65_535  # characters of a URL that a store can keep
SHAPES = 8  # page shapes counted per host

Ranked = Callable[[Task], Task | None]  # a link with its rank; None: it is dropped
CUTOFF = "cutoff"  # the rule that drops links of pages that are too far from the topic

_CLOSED = {LOW_YIELD: "low-yield", BLOCKED: "blocked"}  # rules by the code of the reason


class Admission:
    """Admits tasks."""

    def __init__(self, store: Store, rows: RowCache, backlog: Backlog, ledgers: Ledgers, blocks: Blocks) -> None:
        self._store = store
        self._rows = rows
        self._backlog = backlog
        self._meta = rows.meta
        self._ledgers = ledgers
        self._blocks = blocks
        self._recent: set[int] = set()
        self._older: set[int] = set()

    def limit(self, caps: config.FrontierOptions) -> None:
        """Admit by these caps from now on."""
        self._caps = caps
        self._capped = caps.max_host_urls > 0 or caps.max_domain_urls > 0

    def admit(
        self, tasks: Iterable[Task], via: int, refused: dict[str, int] | None, ranked: Ranked | None = None
    ) -> tuple[list[Task], list[OpenHost]]:
        """Admit the new tasks, with the ranks that `ranked` gives them; return them, and the open hosts that got work.

        Tasks that a cap refuses are counted in `refused` by rule. Without it nothing is refused: the tasks were
        admitted before, and the log says so.
        """
        new: list[Task] = []
        hosts: list[OpenHost] = []
        recent, older, rows = self._recent, self._older, self._rows
        blocks = self._blocks if self._blocks.names else ()
        for task in tasks:
            url = task.url
            key = url.key
            if key in recent:
                continue
            if key in older:
                recent.add(key)
                continue
            row = rows.hosts.get(url.host) or rows.host(url.host)
            domain = rows.domains.get(url.domain) or rows.domain(url.domain)
            if refused is not None and (
                row is None or row.closed or row.closed_parts or not row.urls
                or domain is None or domain.closed or self._capped or len(url.text) > LONGEST
                or url.host in blocks
            ):  # fmt: skip
                rule = self._refuses(row, url)
                if rule:
                    refused[rule] = refused.get(rule, 0) + 1
                    continue
            row = row or rows.make_host(url)
            described = ranked(task) if ranked is not None else task
            if described is None:
                self._drop(row, key, refused)
                continue  # it may be admitted from another page
            task = described
            recent.add(key)
            if self._store.add(row.id, task, via):
                new.append(task)
                host = self._enter(row, task)
                if host is None and refused is not None and self._ledgers.is_rich(row, task.priority):
                    host = self._backlog.open_now(row)
                if host is not None:
                    hosts.append(host)
        if len(recent) > RECENT:
            self._older, self._recent = recent, set()
        return new, hosts

    def _drop(self, row: HostRow, key: int, refused: dict[str, int] | None) -> None:
        """Count a link that is dropped, unless its URL is known."""
        if refused is not None and not self._store.find(row.id, key):
            refused[CUTOFF] = refused.get(CUTOFF, 0) + 1

    def _enter(self, row: HostRow, task: Task) -> OpenHost | None:
        """Count a new URL of a host; return the host if it is open."""
        rows, meta = self._rows, self._meta
        domain = rows.domains.get(row.domain) or rows.make_domain(row.domain)
        if not row.urls:
            meta.hosts += 1
            meta.domains += not domain.urls
            domain.hosts += 1
        row.urls += 1
        row.waiting += 1
        domain.urls += 1
        meta.waiting += 1
        rows.changed_hosts.add(row.name)
        rows.changed_domains.add(domain.name)
        if not row.position:
            self._backlog.enter(row)
        host = self._backlog.hosts.get(row.name)
        if host is not None and task.priority < host.rank:
            host.rank = task.priority
        return host

    def _refuses(self, row: HostRow | None, url: Url) -> str:
        """Return the name of the cap that refuses a URL; empty if none does, or if the URL is known already."""
        rule = self._cap(row, url)
        return "" if rule and row is not None and self._store.find(row.id, url.key) else rule

    def _cap(self, row: HostRow | None, url: Url) -> str:
        caps = self._caps
        domain = self._rows.domain(url.domain)
        if len(url.text) > LONGEST:
            return "length"
        if closed := self._ledgers.closed(url):
            return _CLOSED.get(closed, "host-closed")
        if row is None or not row.urls:
            if domain is not None and 0 < caps.max_domain_hosts <= domain.hosts:
                return "domain-hosts"
        elif 0 < caps.max_host_urls <= row.urls:
            return "host-urls"
        return "domain-urls" if domain is not None and 0 < caps.max_domain_urls <= domain.urls else ""


def count_shape(shapes: dict[int, int], shape: int) -> int:
    """Count a page shape among the most frequent of a host; return a lower bound of its count.

    The algorithm of Misra and Gries (1982): a shape of more than one page in nine is never missed.
    """
    if shape in shapes or len(shapes) < SHAPES:
        shapes[shape] = shapes.get(shape, 0) + 1
        return shapes[shape]
    for known in list(shapes):
        shapes[known] -= 1
        if not shapes[known]:
            del shapes[known]
    return 0
