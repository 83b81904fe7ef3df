"""The learned value of links: predictions for the queue and for the open hosts, learning from every answered page.

The value of a link is the wanted text that it is expected to give per byte: the chance that its page is wanted, times
the text of a wanted page, over the size of a page. The rank of a link in its host's queue keeps only what distinguishes
it from the other links to the host. What they share is added when the host is compared with others, so that it is never
out of date. The ranks of a queue are computed again as the host has more pages (leases.py).

A link may also be worth a request because its page names hosts that the crawl does not know yet: whole hosts with
wanted text are found that way. Such a page counts up to as much as a wanted one, and the less the more hosts were named
and not tried yet. A host that has not answered gets a look by the share of hosts that have wanted text. In a topic
crawl the links to such pages and hosts are scouts: they have a bucket of their own, the second one.

The same expectations say how much wanted text is left. They are grouped by their size, and each group is compared with
what became of it, so the estimate is corrected by what was found.
"""

import math

import msgspec

from windrow import config
from windrow.frontier.policy import features, hints, value
from windrow.frontier.policy.features import BYTES, NAMES, TEXT, WANTED
from windrow.frontier.policy.rank import LAST, RANK, TERMS
from windrow.frontier.policy.value import Models, Parent
from windrow.frontier.store.rows import HostRow, Meta, ValueSums
from windrow.records import Kind, Reason, Report, Task, Url

STEPS = 8.0  # ranks per logit
BAND = 64  # ranks of a bucket, if the crawl has buckets
HIGH, SCOUT, MEDIUM, NORMAL = range(4)  # the buckets; one of them is for links to new hosts and those that lead there
BAND_STEPS = 2.5  # ranks per logit within a bucket
WIDEST = 2.0  # by which the text per byte of a link differs from that of its host at most, as a logarithm
LEAST, LARGE = math.log(50.0), math.log(1e7)  # bytes that are expected of a page
USUAL = (value.TEXT_START, value.BYTES_START)  # of a page
LIMITS = (LEAST, LARGE, WIDEST)
LARGEST = 4.0  # times the text that is expected of a page, in the groups by rank
TEXT_OF_HOST = 5_000.0  # bytes of wanted text, before any is known
SHARE = 0.5  # of the wanted pages of an unknown host, for the order of links
NEW = 1.0  # wanted pages: more does not count for an unknown host, for the order of links
UNTRIED = 10.0  # hosts that were named and not tried yet, with which another one counts half
HOSTS = 8  # of which one has text, before any is known
LATEST = 40  # hosts that say what the next new one will be like
RECENT = 500  # pages of a group that count fully
UNKNOWN = 0.2  # share of the chance that a host has text at all, which is left to the first page of a new one
SHARES = (0.2, 0.5)  # of the pages: the first bucket is for the best fifth, the first two for the best half
FITTED, REFIT = 200, 50  # pages with a score after which the buckets are fitted to them, and then again
DEAD = 0.25  # weight of an answer that is no page: it costs few bytes
SURE = 5  # wanted pages before which nothing ends
POOR = 0.05  # share of the crawl's yield below which a link is not worth a request, if little is left
MOST = 0.98
_NOTHING = (0.0, 0.0)


class Prediction(msgspec.Struct, frozen=True):
    """The expectations of a link."""

    wanted: float  # chance that its page gives wanted text
    names: float  # chance that its page names a new host
    text: float  # bytes of it, if it does
    host: float  # logit that all links to its host share
    density: float  # logarithm of text per byte by which it differs from what they share


class Values:
    """The models and the sums. `topic`: the options of a topic crawl; its buckets are used if `topic.high` is set."""

    def __init__(self, meta: Meta, state: bytes, options: config.Config, codes: tuple[str, ...] = ()) -> None:
        # The terms of the user need the page that holds a link: its rank with them is computed once.
        self.reranks = set(options.frontier.terms) <= TERMS.keys()
        topic, self._learned = options.focus, frozenset(options.frontier.learn)
        self._meta = meta
        self.bounds = meta.bounds  # counts with the boundaries of the buckets
        self._bounds: list[int] = []
        self._predicted: dict[int, Prediction] = {}  # the links of the present page, by key: `learn` needs them again
        self.sums: ValueSums = meta.values
        self._by_yield = "yield" in self._learned
        self._models = Models(state)
        if not state:
            value.prime(self._models, codes, [hints.features(hints.named(code))[0] for code in codes])
        self._count_hosts()
        self.configure(topic)

    def configure(self, topic: config.FocusOptions) -> None:
        """Use these boundaries from now on."""
        self._by = topic.by
        self.banded = bool(topic.model and topic.high)
        self.similar = round(BAND_STEPS if self.banded else STEPS)  # ranks: links so near may be in one lease
        self._set = [value.pressed(bound) if bound else 255 for bound in (topic.high, topic.medium)]
        self._bind()
        self._cutoff = value.pressed(topic.cutoff) if topic.model and topic.cutoff else 255

    def _bind(self) -> None:
        """Use the boundaries of the options, or those that were fitted to the crawl if they are narrower."""
        bounds = [min(pair) for pair in zip(self._set, self.sums.fitted or self._set, strict=True)]
        self._bound = value.widened(bounds[0]) if self.banded else 0.0
        if bounds != self._bounds:
            self._bounds = bounds
            self.bounds = self._meta.bounds = self._meta.bounds + 1

    def _quantile(self, share: float) -> int:
        below, wanted = 0, share * self.sums.scored
        for score in sorted(self.sums.scores):
            below += self.sums.scores[score]
            if below >= wanted:
                return score
        return 255

    def state(self) -> bytes:
        return self._models.state()

    # Links

    def above(self, report: Report) -> Parent:
        """Return what a page says of its links, which are described next."""
        self._predicted.clear()
        return value.parent(report, self._by, self._bound)

    def dropped(self, above: Parent, reason: Reason) -> bool:
        """Return whether the links of a page are dropped, because its score is above the cut-off.

        The score of a page in another language says nothing of its topic.
        """
        return above.score > self._cutoff and reason is not Reason.LANGUAGE

    def described(self, task: Task, above: Parent, new: bool = False) -> Task:
        """Return a link with its hints and its rank. above: the page that holds it. new: its host has not answered."""
        own = task.hints if "links" in self._learned else b""
        hints = value.hints(task.url, own, above, "hops" in self._learned)
        found = self.predict(task.url, hints)
        self._predicted[task.url.key] = found
        return msgspec.structs.replace(task, hints=hints, priority=self._rank(found, hints, new))

    def seed(self, task: Task) -> Task:
        """Return a seed with its rank. Seeds are in the first bucket."""
        return msgspec.structs.replace(task, priority=self.rank(task)) if task.kind is Kind.PAGE else task

    def rank(self, task: Task, new: bool = False) -> int:
        """Return the rank of a seed, or of a link that is described already."""
        return self._rank(self.predict(task.url, task.hints), task.hints, new)

    def _rank(self, found: Prediction, hints: bytes, new: bool) -> int:
        """Return the rank of a link among those of its host. `new`: the host has not answered yet."""
        worth = found.wanted + found.names * self._lead
        own = value.logit(min(worth, MOST)) - found.host + (found.density if self._by_yield else 0.0)
        if not self.banded:
            return max(0, min(LAST, round(RANK - STEPS * own)))
        place = max(0, min(BAND - 1, round(BAND / 2 - BAND_STEPS * own)))
        bucket = self._bucket_of(hints)
        if bucket is not HIGH and new:
            return SCOUT * BAND + place // 4
        if bucket is not HIGH and self._is_lead(found.names):
            return SCOUT * BAND + min(BAND - 1, BAND // 4 - round(4 * math.log2(found.names)))
        return bucket * BAND + place

    def _bucket_of(self, hints: bytes) -> int:
        """Return the bucket of a link by the score of the page that holds it."""
        score = value.head(hints)[0]
        return HIGH if score <= self._bounds[0] else MEDIUM if score <= self._bounds[1] else NORMAL

    def bucket(self, rank: int) -> int:
        """Return the bucket of a rank."""
        return rank // BAND if self.banded else HIGH

    def predict(self, url: Url, hints: bytes) -> Prediction:
        shared = self._shared(url.host, url.domain)
        return Prediction(*features.expect(self._models.weights, shared, url.text, url.host, hints, LIMITS))

    def _shared(self, host: str, domain: str) -> bytes:
        """Return the features that all links to a host share."""
        return features.of_host(host, domain) if "hosts" in self._learned else features.BIAS

    def _is_lead(self, names: float) -> bool:
        """Return whether a link names a new host more probably than the pages of this crawl did on average."""
        return "new-hosts" in self._learned and names >= (self.sums.hosts + 1) / (self.sums.pages + 1)

    def _count_hosts(self) -> None:
        """Compute what a link to a new host counts for, in wanted pages."""
        lead = min(NEW, SHARE * (self.sums.documents + 1) / (self.sums.hosts + 1)) / (1.0 + self.sums.untried / UNTRIED)
        self._lead = lead if "new-hosts" in self._learned else 0.0

    # Hosts

    def expected(self, row: HostRow, rank: int) -> float:
        """Return the wanted text per byte of a host's link with this rank."""
        chance, text, size = self._of_host(row, rank)
        rich = (self.sums.rich + 1) / (self.sums.hosts + HOSTS)
        return max(chance, UNKNOWN * rich / (1 + row.pages)) * text / size

    def likely(self, row: HostRow, rank: int) -> float:
        """Return the same, corrected by what became of such expectations."""
        chance, text, size = self._of_host(row, rank)
        return _came(self.sums.ranked, chance) * text / size

    def _of_host(self, row: HostRow, rank: int) -> tuple[float, float, float]:
        """Return the chance of a host's link with this rank, and the text and the bytes of a page of the host."""
        shared = features.totals(self._models.weights, self._shared(row.name, row.domain))
        if self.banded:
            own = (BAND / 2 - min(rank - self.bucket(rank) * BAND, BAND)) / BAND_STEPS
        else:
            own = (RANK - rank) / STEPS
        chance = features.chance(shared[WANTED] + own)
        return (chance, _bytes(shared[TEXT]), _bytes(shared[BYTES])) if self._by_yield else (chance, *USUAL)

    # Learning

    def learn(self, report: Report, row: HostRow, new: list[Task], hosts: int) -> None:
        """Learn from an answered page. new: its links that were admitted. hosts: how many of their hosts were new."""
        task, sums = report.task, self.sums
        target = value.wanted(report, self._by, self._bound)
        found = self.predict(task.url, task.hints)
        links = [self._found(link) for link in new]
        self._predicted.clear()
        gain = target * report.kept
        chance, text, _ = self._of_host(row, task.priority)
        _enter(sums.ranked, chance, min(gain / text, LARGEST))
        _enter(sums.wanted, found.wanted * found.text, gain)
        behind = sum([_came(sums.wanted, link.wanted * link.text) for link in links])
        _enter(sums.behind, found.wanted * found.text, behind)
        _enter(sums.naming, found.names, hosts)
        through = value.THROUGH * max([link.wanted for link in links], default=0.0) if "hops" in self._learned else 0.0
        self._step(report, max(target, through), 1.0 if hosts else 0.0)
        if self.banded and (score := value.score_of(report, self._by)):
            sums.scores[score] = sums.scores.get(score, 0) + 1
            sums.scored += 1
            if sums.scored >= FITTED and not sums.scored % REFIT:
                sums.fitted = [self._quantile(share) for share in SHARES]
                self._bind()
        sums.pages += 1
        sums.downloaded += report.downloaded
        sums.untried += hosts
        if not row.number:
            sums.hosts += 1
            if task.via:
                sums.untried = max(0, sums.untried - 1)
            row.number = sums.hosts
            sums.latest = [*sums.latest[1 - LATEST :], 0.0]
        if target:
            sums.rich += row.kept == report.kept
            sums.documents += target
            sums.text += round(gain)
            if sums.hosts - row.number < len(sums.latest):
                sums.latest[row.number - sums.hosts - 1] += gain
        self._count_hosts()

    def _step(self, report: Report, wanted: float, names: float) -> None:
        """Let the models learn. A dead link tells little of the pages near it, and nothing of their size."""
        url, models = report.task.url, self._models
        found = self._shared(url.host, url.domain) + features.of_page(url.text, url.host, report.task.hints)
        weight = 1.0 if report.status == 200 else DEAD
        models.learn(WANTED, found, wanted, weight)
        models.learn(NAMES, found, names, weight)
        if report.status == 200:
            models.learn_bytes(BYTES, found, report.downloaded)
        if report.kept:
            models.learn_bytes(TEXT, found, report.kept)

    def _found(self, link: Task) -> Prediction:
        """Return what is expected of an admitted link. A replay has not described it, and predicts it here."""
        return self._predicted.get(link.url.key) or self.predict(link.url, link.hints)

    def give_up(self, task: Task) -> None:
        """Note that a link has ended as low-value."""
        self.sums.given_up += self.left(task)

    # The end

    def is_poor(self, expected: float) -> bool:
        """Return whether a link with this value is hardly worth a request."""
        sums = self.sums
        return sums.documents >= SURE and expected < POOR * sums.text / max(1, sums.downloaded)

    def left(self, task: Task) -> float:
        """Return how much wanted text is expected of a link, in bytes: its own, that behind its links, that of new
        hosts."""
        found, sums = self.predict(task.url, task.hints), self.sums
        text = found.wanted * found.text
        mean = (sums.text + TEXT_OF_HOST) / (sums.hosts + 1)
        latest = (sum(sums.latest) + mean) / (len(sums.latest) + 1)
        return _came(sums.wanted, text) + _came(sums.behind, text) + _came(sums.naming, found.names) * min(latest, mean)

    def is_little(self, left: float, share: float) -> bool:
        """Return whether so much wanted text is at most this share of what was found."""
        return left + self.sums.given_up <= share * self.sums.text


def _bytes(logarithm: float) -> float:
    return math.exp(max(LEAST, min(LARGE, logarithm)))


def _group(chance: float) -> int:
    return max(-16, math.floor(math.log2(max(chance, 2.0**-16))))


def _enter(groups: dict[int, list[float]], chance: float, came: float) -> None:
    """Enter what became of a page into the group of its expectation. Old entries count less."""
    group = groups.setdefault(_group(chance), [0.0, 0.0])
    if group[0] >= RECENT:
        group[0], group[1] = group[0] / 2, group[1] / 2
    group[0] += 1
    group[1] += came


def _came(groups: dict[int, list[float]], chance: float) -> float:
    """Return what such an expectation came to on average."""
    pages, came = groups.get(_group(chance), _NOTHING)
    return (came + chance) / (pages + 1)
