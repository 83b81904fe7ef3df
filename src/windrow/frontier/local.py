"""The frontier of one machine: admits, orders, leases and settles over a shelf that remembers."""

from collections.abc import Iterable, Sequence

from windrow import config, urls
from windrow.data import Counts, Fate, Frame, Kind, Ledger, Reason, Report, Robots, Task, Turn, Url
from windrow.frontier import retry
from windrow.frontier.schedule import Schedule, Seat
from windrow.frontier.shelf import CODES, REASONS, Domain, Host, Meta, Shelf, fate

_MOST_TASKS = 16  # in one turn, where no delay lies between them
_LONG_TURN = 0.25  # seconds a turn may hold an address for the sake of several tasks
_FAR = 86400.0  # seconds: no host rests longer, whatever it says or the clock does
_RECENT = 50_000  # keys remembered to save a look into the shelf
_ROWS = 20_000  # host rows held in memory, written back in bulk
_SHAPES = 8  # page shapes counted per host (Misra-Gries: what fills a host is never missed)


class LocalFrontier:
    """Implements `Frontier`, see the package. `now` is the crawl's steady clock, in epoch seconds."""

    def __init__(self, shelf: Shelf, options: config.Config, now: float) -> None:
        self._shelf = shelf
        self._frontier = options.frontier
        self._fetch = options.fetch
        self._same_pages = options.scope.same_pages
        self.meta: Meta = shelf.meta()
        self._now = now
        self._checked = now  # time of the last checkpoint
        # After a stop any host may have been asked an instant ago: all wait their delay from here.
        self._floor = now if self.meta.frame else 0.0
        self._schedule = Schedule(self._floor, options.fetch.ip_delay)
        self._seats: dict[str, Seat] = {}
        self._domains_open: dict[str, list[int]] = {}  # domain -> [hosts open, pages served, ticket of the last host opened]
        self._hungry: dict[str, None] = {}  # open domains that may have more hosts to open, in order
        self._domain_cursor = 0
        self._hosts: dict[str, Host] = {}
        self._domains: dict[str, Domain] = {}
        self._dirty_hosts: set[str] = set()
        self._dirty_domains: set[str] = set()
        self._recent: set[int] = set()
        self._older: set[int] = set()
        self._leases = 0
        self._in_hand = 0

    # -- admission

    async def add(self, tasks: Iterable[Task]) -> list[Task]:
        return self._admit(tasks, 0, self.meta.refused, trusted=False)

    def _admit(self, tasks: Iterable[Task], via: int, refused: dict[str, int], trusted: bool) -> list[Task]:
        """Enters the tasks that are new; those a cap refuses are counted by rule."""
        new = []
        recent, older = self._recent, self._older
        for task in tasks:
            key = task.url.key
            if key in recent or key in older:
                continue
            recent.add(key)
            host = self._hosts.get(task.url.host) or self._host(task.url, trusted)
            rule = "" if trusted else self._capped(host, task)
            if rule:
                if rule != "known":
                    refused[rule] = refused.get(rule, 0) + 1
                continue
            if not self._shelf.add(host.id, task, via):
                continue
            new.append(task)
            self._entered(host, task)
        if len(recent) > _RECENT:
            self._older, self._recent = recent, set()
        return new

    def _capped(self, host: Host, task: Task) -> str:
        caps = self._frontier
        rule = ""
        if host.id == 0:
            rule = "domain-hosts"
        elif host.closed:
            rule = "host-closed"
        elif 0 < caps.max_host_urls <= host.urls:
            rule = "host-urls"
        elif caps.max_domain_urls and self._domain(host.domain).urls >= caps.max_domain_urls:
            rule = "domain-urls"
        return "known" if rule and host.id and self._shelf.look(host.id, task.url.key) else rule

    def _entered(self, host: Host, task: Task) -> None:
        domain = self._domains.get(host.domain) or self._domain(host.domain)
        host.urls += 1
        host.waiting += 1
        domain.urls += 1
        self.meta.waiting += 1
        self._dirty_hosts.add(host.name)
        self._dirty_domains.add(domain.name)
        if not host.ticket:
            self._list(host, domain)
        seat = self._seats.get(host.name)
        if seat is not None:
            seat.rank = min(seat.rank, task.priority)
            if seat.state == "idle" and not seat.retiring:
                self._rest(seat, self._now)

    def _host(self, url: Url, trusted: bool) -> Host:
        """The row of a host, made where it is new. A host beyond its domain's cap gets number 0 and is not kept."""
        row = self._hosts.get(url.host) or self._shelf.load_host(url.host)
        if row is None:
            domain = self._domain(url.domain)
            if 0 < self._frontier.max_domain_hosts <= domain.hosts and not trusted:
                return Host(0, url.host, url.domain)
            domain.hosts += 1
            self.meta.hosts += 1
            row = Host(self.meta.hosts, url.host, url.domain)
            self._dirty_hosts.add(row.name)
            self._dirty_domains.add(domain.name)
        if len(self._hosts) >= _ROWS:
            self._write_rows()
        self._hosts[url.host] = row
        return row

    def _domain(self, name: str) -> Domain:
        row = self._domains.get(name) or self._shelf.load_domain(name)
        if row is None:
            self.meta.domains += 1
            row = Domain(self.meta.domains, name)
        if len(self._domains) >= _ROWS:
            self._write_rows()
        self._domains[name] = row
        return row

    def _write_rows(self) -> None:
        """Writes the changed rows to the shelf; keeps in memory only those of open hosts."""
        for name in self._dirty_hosts:
            self._shelf.save_host(self._hosts[name])
        for name in self._dirty_domains:
            self._shelf.save_domain(self._domains[name])
        self._dirty_hosts.clear()
        self._dirty_domains.clear()
        self._hosts = {name: seat.host for name, seat in self._seats.items()}
        self._domains = {name: self._domains[name] for name in self._domains_open if name in self._domains}

    # -- the line of hosts with work

    def _list(self, host: Host, domain: Domain) -> None:
        self.meta.ticket += 1
        host.ticket = self.meta.ticket
        self.meta.listed += 1
        domain.listed += 1
        self._shelf.list_host(domain.id, host.ticket, host.name)
        if not domain.ticket:
            self.meta.ticket += 1
            domain.ticket = self.meta.ticket
            self._shelf.list_domain(domain.ticket, domain.name)
        elif domain.name in self._domains_open:
            self._hungry[domain.name] = None

    def _unlist(self, host: Host) -> None:
        domain = self._domain(host.domain)
        self._shelf.unlist_host(domain.id, host.ticket)
        host.ticket = 0
        self.meta.listed -= 1
        domain.listed -= 1
        if not domain.listed:
            self._shelf.unlist_domain(domain.ticket)
            domain.ticket = 0
        self._dirty_hosts.add(host.name)
        self._dirty_domains.add(domain.name)

    def _fill(self, now: float) -> None:
        """Opens hosts until as many are open as may be: first new domains, then further hosts of open ones."""
        while len(self._seats) < self._frontier.open_hosts and len(self._domains_open) < self._frontier.open_domains:
            found = self._shelf.next_domain(self._domain_cursor)
            if found is None:
                break
            self._domain_cursor, name = found
            if name not in self._domains_open:
                self._domains_open[name] = [0, 0, 0]
                self._hungry[name] = None
                self._open_next(name, now)
        for name in list(self._hungry):
            if len(self._seats) >= self._frontier.open_hosts:
                break
            if self._served(name) or not self._open_next(name, now):
                self._hungry.pop(name, None)

    def _open_next(self, domain_name: str, now: float) -> bool:
        """Opens the next host of an open domain; False where it has none left."""
        entry = self._domains_open[domain_name]
        domain = self._domain(domain_name)
        while True:
            found = self._shelf.next_host(domain.id, entry[2])
            if found is None:
                if not entry[0]:
                    del self._domains_open[domain_name]
                return False
            entry[2], name = found
            if name not in self._seats:
                self._open(name, domain, entry, now)
                return True

    def _open(self, name: str, domain: Domain, entry: list[int], now: float) -> None:
        host = self._hosts.get(name) or self._shelf.load_host(name)
        assert host is not None, f"the line names {name}, which has no row"
        self._hosts[name] = host
        # A rest that lies further ahead than any host may rest is a clock that jumped.
        due = host.until if host.until <= now + _FAR else now
        seat = self._seats[name] = Seat(host, max(due, self._floor + self._delay(host)))
        for rank, _ in self._shelf.head(host.id, (), 1):
            seat.rank = rank
        entry[0] += 1
        self._schedule.put(seat, now)

    def _close(self, seat: Seat) -> None:
        """The host leaves its seat: it has nothing to do, or its domain's time is up."""
        host = seat.host
        del self._seats[host.name]
        if seat.due > host.until:
            host.until = seat.due
            self._dirty_hosts.add(host.name)
        self._hosts.setdefault(host.name, host)
        entry = self._domains_open[host.domain]
        entry[0] -= 1
        if seat.retiring and host.ticket:
            self._unlist(host)
            self._list(host, self._domain(host.domain))
        if not entry[0] and (seat.retiring or host.domain not in self._hungry):
            self._hungry.pop(host.domain, None)
            del self._domains_open[host.domain]
            self._relist_domain(host.domain)

    def _relist_domain(self, name: str) -> None:
        """A domain whose seats are gone goes to the end of the line, where it still has work."""
        domain = self._domain(name)
        if domain.ticket:
            self._shelf.unlist_domain(domain.ticket)
            self.meta.ticket += 1
            domain.ticket = self.meta.ticket
            self._shelf.list_domain(domain.ticket, name)
            self._dirty_domains.add(name)

    # -- leasing

    async def lease(self, hosts: int, now: float) -> tuple[list[Turn], float | None]:
        """The best turns that may be had now, and when to ask again: infinity after the next settling, None when all is done."""
        self._now = now
        self._fill(now)
        turns: list[Turn] = []
        while len(turns) < hosts:
            seat = self._schedule.pop(now)
            if seat is None:
                break
            turn = self._turn(seat, now)
            if turn is None:
                self._schedule.free(seat, 0.0)
                self._rest(seat, now)
            else:
                turns.append(turn)
        if turns or self.meta.waiting:
            return turns, self._schedule.next()
        return turns, None

    def _turn(self, seat: Seat, now: float) -> Turn | None:
        host = seat.host
        if seat.errands and host.closed:
            return self._grant(seat, [], tuple(seat.errands), (), REASONS[host.closed - 1])
        if not seat.errands and (host.waiting <= len(seat.hand) or seat.retiring):
            return None
        if not host.closed and (not seat.address or seat.address_until <= now):
            seat.address = ""
            return self._grant(seat, [], (Task(Url(f"http://{host.name}/", host.name, host.domain, 0), kind=Kind.RESOLVE),), ())
        if seat.errands:
            return self._grant(seat, [], (seat.errands[0],), ())
        spots = self._shelf.head(host.id, set(seat.hand.values()), self._room(host))
        tasks = tuple([self._shelf.read(ref, host) for _, ref in spots])
        if host.closed:
            return self._grant(seat, spots, tasks, (), REASONS[host.closed - 1])
        robots = self._robots(seat, tasks, now)
        if not robots:
            origin = urls.origin(tasks[0].url.text)
            return None if origin in seat.pending else self._grant(seat, [], (_robots_task(origin, host),), ())
        fit = len(robots)
        return self._grant(seat, spots[:fit], tasks[:fit], tuple({rules.origin: rules for rules in robots}.values()))

    def _room(self, host: Host) -> int:
        """How many tasks a turn holds: several only where they do not hold the address for long."""
        delay = max(self._delay(host), self._fetch.ip_delay)
        return _MOST_TASKS if delay <= 0 or host.closed else max(1, min(_MOST_TASKS, int(_LONG_TURN / delay)))

    def _robots(self, seat: Seat, tasks: tuple[Task, ...], now: float) -> list[Robots]:
        """The rules for each task, up to the first whose origin's robots.txt has to be fetched first."""
        found = []
        for task in tasks:
            origin = urls.origin(task.url.text)
            rules = seat.robots.get(origin) or self._shelf.robots(origin)
            if rules is None or rules.expires <= now:
                break
            seat.robots[origin] = rules
            found.append(rules)
        return found

    def _grant(
        self,
        seat: Seat,
        spots: list[tuple[int, int]],
        tasks: tuple[Task, ...],
        robots: tuple[Robots, ...],
        closed: Reason | None = None,
    ) -> Turn:
        self._leases += 1
        seat.lease = self._leases
        for task, (rank, ref) in zip(tasks, spots, strict=False):
            seat.hand[task.url.key] = ref
            seat.rank = rank  # what waits behind it is of this rank or a lower one
        self._in_hand += len(spots)
        self._schedule.take(seat)
        delay = max(self._delay(seat.host), self._fetch.ip_delay)
        return Turn(seat.host.name, "" if closed else seat.address, tasks, delay, robots, seat.lease, closed)

    def _delay(self, host: Host) -> float:
        return max(self._fetch.delay, host.delay, host.pace)

    async def release(self, turn: Turn, unused: Sequence[Task], last: float) -> None:
        """Ends a turn. Tasks that were not tried go back; `last` is when the last request ended, 0 where none was made."""
        seat = self._seats.get(turn.host)
        if seat is None or seat.lease != turn.lease:
            return
        for task in unused:
            if seat.hand.pop(task.url.key, None) is not None:
                self._in_hand -= 1
        seat.due = max(seat.due, last + self._delay(seat.host) if last else 0.0, seat.host.until)
        self._schedule.free(seat, last)
        self._domains_open[seat.host.domain][1] += len(turn.tasks) - len(unused)
        seat.retiring = self._served(seat.host.domain)
        self._rest(seat, max(self._now, last))

    def _served(self, domain: str) -> bool:
        """Whether an open domain had its share and others wait for its seats."""
        return self._domains_open[domain][1] >= self._frontier.quantum and self._others_wait()

    def _others_wait(self) -> bool:
        return len(self._domains_open) >= self._frontier.open_domains and self._shelf.next_domain(self._domain_cursor) is not None

    def _rest(self, seat: Seat, now: float) -> None:
        """Puts a free seat where it belongs: back into the schedule, idle until its pages are settled, or closed."""
        if seat.state != "idle" or (seat.pending and not seat.errands):
            return
        if seat.errands or (not seat.retiring and seat.host.waiting > len(seat.hand)):
            self._schedule.put(seat, now)
        elif not seat.hand:
            self._close(seat)

    # -- settling

    async def settle(self, reports: Sequence[Report], frame: int) -> list[Report]:
        """Takes in what became of tasks. Returns the reports as the log keeps them: with the links that were new."""
        return [self._settle(report, frame, trusted=False) for report in reports]

    async def replay(self, frame: Frame, log: tuple[str, int]) -> None:
        """Takes in a frame of the log again: what it admitted is admitted, whatever the caps say now."""
        self._admit(frame.seeds, 0, self.meta.refused, trusted=True)
        for report in frame.reports:
            self._settle(report, frame.number, trusted=True)
        await self.commit(frame, log)

    def _settle(self, report: Report, frame: int, trusted: bool) -> Report:
        task = report.task
        host = self._hosts.get(task.url.host) or self._host(task.url, trusted=True)
        self._dirty_hosts.add(host.name)
        seat = self._seats.get(host.name)
        self._judge_host(host, report)
        if task.kind is Kind.RESOLVE:
            self._settle_address(seat, report)
            return report
        if task.kind is Kind.ROBOTS:
            self._settle_robots(host, seat, report)
            return report
        return self._settle_page(host, seat, report, (frame, trusted))

    def _settle_page(self, host: Host, seat: Seat | None, report: Report, when: tuple[int, bool]) -> Report:
        task = report.task
        frame, trusted = when
        ref = seat.hand.pop(task.url.key, 0) if seat else 0
        if ref:
            self._in_hand -= 1
        row = self._shelf.look(host.id, task.url.key) if not ref else (ref, 0, 0)
        if row is None or row[1]:
            return report  # a frame replayed on top of itself
        ref = row[0]
        if report.final:
            self._shelf.finish(host.id, task, ref, CODES[report.reason], frame)
            host.waiting -= 1
            self.meta.waiting -= 1
            name = report.reason.value
            self.meta.finished[name] = self.meta.finished.get(name, 0) + 1
        else:
            self._shelf.requeue(host.id, _next_try(task), ref)
        domain = self._domain(host.domain)
        if report.status:
            domain.pages += 1
            domain.downloaded += report.downloaded
            domain.kept += report.kept
            self._dirty_domains.add(domain.name)
        refused = dict(report.refused)
        found = self._links(host, report, refused, trusted)
        admitted = self._admit(found, ref, refused, trusted) if found else []
        for rule, count in refused.items():
            self.meta.refused[rule] = self.meta.refused.get(rule, 0) + count
        if not host.waiting and host.ticket:
            self._unlist(host)
        if seat is not None:
            self._rest(seat, report.time)
        if trusted or (not found and not report.refused):
            return report
        return _with_links(report, tuple(admitted), refused)

    def _links(self, host: Host, report: Report, refused: dict[str, int], trusted: bool) -> Sequence[Task]:
        """The links to follow: none where the host has shown this page, digits aside, too often already."""
        if not report.shape or not self._same_pages:
            return report.found
        often = _count_shape(host.shapes, report.shape)
        if often <= self._same_pages or trusted or not report.found:
            return report.found
        refused["same-pages"] = refused.get("same-pages", 0) + len(report.found)
        return ()

    def _judge_host(self, host: Host, report: Report) -> None:
        """What this outcome says of the host: how long it rests, how fast it may be asked, whether it is closed."""
        reason = report.reason
        resolved = report.task.kind is Kind.RESOLVE and reason is Reason.OK  # a name in the DNS says nothing of the server
        if resolved or reason in retry.UNASKED or host.closed:
            return
        rule = retry.TABLE.get(reason, retry.FINAL)
        host.errors = host.errors + 1 if rule.pauses else 0
        host.failures = host.failures + 1 if rule.counts else 0
        host.pace = retry.pace(reason, host.pace, max(self._fetch.delay, host.delay), self._fetch)
        if rule.pauses:
            rest = max(report.time + retry.pause(reason, host.errors, self._delay(host), self._fetch), report.until)
            host.until = max(host.until, min(rest, report.time + _FAR))
        closed = retry.closes(reason, host.failures, self._fetch)
        if closed is not None:
            host.closed = CODES[closed]

    def _settle_address(self, seat: Seat | None, report: Report) -> None:
        if seat is not None and report.address:
            seat.address = report.address
            seat.address_until = report.until

    def _settle_robots(self, host: Host, seat: Seat | None, report: Report) -> None:
        """Keeps what robots.txt said. While it cannot be had its origin stays closed, after the last try for a day."""
        if seat is not None and seat.errands and seat.errands[0].via == report.task.via:
            seat.errands.popleft()
        for task in report.found:
            self._errand(seat, task)
        robots = report.robots
        asking = urls.parse(robots.origin + "/") if robots else None
        if robots is None or asking is None:
            return
        row = self._hosts.get(asking.host) or self._host(asking, trusted=True)
        asked = self._seats.get(row.name)
        row.robots_tries = row.robots_tries + 1 if robots.closed else 0
        if not robots.closed or not retry.again(Reason.ROBOTS_UNREACHABLE, row.robots_tries - 1):
            self._shelf.save_robots(robots)
            row.delay = min(robots.delay, self._fetch.max_crawl_delay)
            if asked is not None:
                asked.robots[robots.origin] = robots
        self._dirty_hosts.add(row.name)
        if asked is not None and robots.origin in asked.pending:
            asked.pending.discard(robots.origin)
            asked.due = max(asked.due, row.until)
            self._rest(asked, self._now)

    def _errand(self, asking: Seat | None, task: Task) -> None:
        """A robots.txt was moved to another host: that host is asked for it, first of all, and the asking origin waits."""
        if asking is None:
            return  # a replay: the origin will ask again
        asking.pending.add(task.via)
        host = self._hosts.get(task.url.host) or self._host(task.url, trusted=True)
        seat = self._seats.get(host.name)
        if seat is None:
            entry = self._domains_open.setdefault(host.domain, [0, 0, 0])
            self._open(host.name, self._domain(host.domain), entry, self._now)
            seat = self._seats[host.name]
        seat.errands.append(task)
        seat.rank = 0
        self._rest(seat, self._now)

    async def claim(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        return [self._shelf.claim(digest, key) for digest, key in pairs]

    # -- durability

    async def commit(self, frame: Frame, log: tuple[str, int]) -> None:
        """The log has this frame and goes on at this place."""
        self.meta.frame = frame.number
        self.meta.log = log
        self.meta.files.update(frame.lengths)
        for report in frame.reports:
            self.meta.seq = max(self.meta.seq, report.seq)

    def checkpoint_due(self, now: float) -> bool:
        return now - self._checked >= self._frontier.checkpoint or self._shelf.crowded()

    async def checkpoint(self, now: float) -> None:
        """Makes durable what was settled. To be called only when all of it is in a frame that was committed."""
        self._write_rows()
        self._shelf.checkpoint(self.meta)
        self._checked = now

    async def close(self) -> None:
        self._shelf.close()

    # -- questions

    async def find(self, url: Url) -> Fate | None:
        host = self._hosts.get(url.host) or self._shelf.load_host(url.host)
        row = self._shelf.look(host.id, url.key) if host else None
        if host is None or row is None:
            return None
        ref, code, frame = row
        task = self._shelf.read(ref, host)
        seat = self._seats.get(host.name)
        if seat is not None and url.key in seat.hand:
            return Fate("in hand", task)
        return fate(task, code, frame, host.closed)

    async def ledger(self, domain: str) -> Ledger | None:
        row = self._domains.get(domain) or self._shelf.load_domain(domain)
        if row is None:
            return None
        closed = REASONS[row.closed - 1] if row.closed else None
        return Ledger(row.name, row.pages, row.downloaded, row.kept, row.urls, row.hosts, closed)

    async def counts(self) -> Counts:
        ready, waiting = self._schedule.counts()
        finished = {Reason(name): count for name, count in self.meta.finished.items()}
        return Counts(
            seen=self.meta.waiting + sum(finished.values()),
            waiting=self.meta.waiting - self._in_hand,
            in_hand=self._in_hand,
            finished=finished,
            refused=dict(self.meta.refused),
            hosts=self.meta.hosts,
            domains=self.meta.domains,
            hosts_ready=ready,
            hosts_waiting=waiting,
            hosts_backlog=max(0, self.meta.listed - len(self._seats)),
        )


def _robots_task(origin: str, host: Host) -> Task:
    text = origin + "/robots.txt"
    return Task(Url(text, host.name, host.domain, urls.key(text)), kind=Kind.ROBOTS, priority=0)


def _next_try(task: Task) -> Task:
    return Task(
        task.url,
        task.kind,
        task.priority,
        task.depth,
        task.distance,
        task.redirects,
        task.via,
        task.attempt + 1,
    )


def _with_links(report: Report, found: tuple[Task, ...], refused: dict[str, int]) -> Report:
    fields = {name: getattr(report, name) for name in report.__struct_fields__}
    fields.update(found=found, refused=refused)
    return Report(**fields)


def _count_shape(shapes: dict[int, int], shape: int) -> int:
    """Counts a shape among the most frequent (Misra and Gries 1982) and says how often it was seen at least."""
    if shape in shapes or len(shapes) < _SHAPES:
        shapes[shape] = shapes.get(shape, 0) + 1
        return shapes[shape]
    for known in list(shapes):
        shapes[known] -= 1
        if not shapes[known]:
            del shapes[known]
    return 0

