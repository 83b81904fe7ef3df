"""Which links are admitted: pure rules over one URL, the cheapest first. A refusal is the name of a rule."""

import re

from windrow import config, urls
from windrow.records import Task, Url
from windrow.takedown import RULE, Takedown

EMBED_RANK = 64  # of a requisite: before other pages of its host, so that a page is soon complete
MOST_EMBEDS = 3  # requisites in a row: a frame, its style sheet, the font in that


class Scope:
    """The rules of one configuration, compiled. `refuses` needs only the URL, so that a worker process can run it."""

    def __init__(self, rules: config.ScopeOptions, takedown: Takedown | None = None) -> None:
        """`takedown`: the list of the crawl. The driver has it; a worker has not, because the list may change."""
        self._rules = rules
        self.obey(takedown or Takedown())
        self._skipped = frozenset(suffix.lower().lstrip(".") for suffix in rules.skip_suffixes)
        self._longest = max(map(len, self._skipped), default=0)
        self._tlds = tuple("." + tld.strip(".").lower() for tld in rules.tlds)
        self._tlds_denied = tuple("." + tld.strip(".").lower() for tld in rules.tlds_denied)
        self._domains = frozenset(rules.domains)
        self._domains_denied = frozenset(rules.domains_denied)
        self._hosts = frozenset(rules.hosts)
        self._hosts_denied = frozenset(rules.hosts_denied)
        self._allow = [re.compile(pattern) for pattern in rules.allow]
        self._deny = [re.compile(pattern) for pattern in rules.deny]
        self.homepages = rules.homepages
        self._known: dict[str, str] = {}  # host -> the rule that refuses it: the links of a page share few hosts

    def obey(self, takedown: Takedown) -> None:
        """Refuse what is on this list, and nothing that was only on an earlier one."""
        self.takedown = takedown
        self._listed = takedown if takedown else None  # None costs less per link than an empty list

    def refuses(self, url: Url) -> str:
        """Return the name of the rule that refuses this URL, or an empty string."""
        text = url.text
        if len(text) > self._rules.max_length:
            return "length"
        if self._listed is not None and self._listed.covers(text):
            return RULE
        rule = self._known.get(url.host)
        if rule is None:
            rule = self._refuses_host(url)
            if len(self._known) > 20000:
                self._known.clear()
            self._known[url.host] = rule
        if rule:
            return rule
        start = text.find("/", 8)  # after scheme://; a canonical URL always has a path
        if text.find(":", 8, start) > 0 and urls.port(text) not in self._rules.ports:
            return "port"
        path, mark, query = text[start:].partition("?")
        if mark and query.count("&") >= self._rules.max_parameters:
            return "parameters"
        return self._refuses_path(path) or (self._refuses_pattern(text) if self._allow or self._deny else "")

    def refuses_requisite(self, url: Url) -> str:
        """Return the name of the rule that refuses a requisite. It may lie anywhere and be any file, but rules that
        refuse hosts, and those against traps, hold."""
        host = "." + url.host
        if len(url.text) > self._rules.max_length:
            return "length"
        if self._listed is not None and self._listed.covers(url.text):
            return RULE
        if url.host in self._hosts_denied:
            return "host-denied"
        if url.domain in self._domains_denied:
            return "domain-denied"
        if self._tlds_denied and host.endswith(self._tlds_denied):
            return "tld-denied"
        if urls.port(url.text) not in self._rules.ports:
            return "port"
        return "deny" if any(pattern.search(url.text) for pattern in self._deny) else ""

    def refuses_task(self, task: Task) -> str:
        """Return the name of the rule that refuses the URL of a task."""
        return self.refuses_requisite(task.url) if task.embed else self.refuses(task.url)

    def refuses_origin(self, url: Url) -> str:
        """Return the name of the rule that refuses every URL of this origin: only rules on hosts and ports apply."""
        if self.takedown.covers_origin(url.text):
            return RULE
        return self._refuses_host(url) or ("" if urls.port(url.text) in self._rules.ports else "port")

    def _refuses_host(self, url: Url) -> str:
        host = "." + url.host
        if self._tlds and not host.endswith(self._tlds):
            return "tld"
        if self._tlds_denied and host.endswith(self._tlds_denied):
            return "tld-denied"
        if self._domains and url.domain not in self._domains:
            return "domain"
        if url.domain in self._domains_denied:
            return "domain-denied"
        if self._hosts and url.host not in self._hosts:
            return "host"
        return "host-denied" if url.host in self._hosts_denied else ""

    def _refuses_path(self, path: str) -> str:
        dot = path.rfind(".")
        if 0 < len(path) - dot - 1 <= self._longest and path[dot + 1 :].lower() in self._skipped:
            return "suffix"
        depth = path.count("/")
        if depth > self._rules.max_segments:
            return "segments"
        if depth <= self._rules.max_repeats:
            return ""
        segments = path.split("/")
        for segment in set(segments):
            if segment and segments.count(segment) > self._rules.max_repeats:
                return "repeats"
        return ""

    def _refuses_pattern(self, text: str) -> str:
        if self._allow and not any(pattern.search(text) for pattern in self._allow):
            return "allow"
        return "deny" if any(pattern.search(text) for pattern in self._deny) else ""

    def follow(self, task: Task, url: Url, redirect: bool = False, hints: bytes = b"") -> Task | str:
        """Return the task for a link on the page of this task, or the name of the rule on depth that refuses it. What a
        link said of a page holds for the page that it redirects to."""
        distance = task.distance + (url.domain != task.url.domain)
        if 0 <= self._rules.max_distance < distance:
            return "distance"
        depth = task.depth if redirect else task.depth + 1
        if 0 < self._rules.max_depth < depth:
            return "depth"
        return Task(
            url,
            priority=task.priority,
            depth=depth,
            distance=distance,
            redirects=task.redirects + 1 if redirect else 0,
            via=task.url.text,
            hints=task.hints if redirect else hints,
        )

    def embed(self, task: Task, url: Url, redirect: bool = False) -> Task | str:
        """Return the task for a requisite of this task's page, or the name of the rule that refuses it."""
        if task.embed >= MOST_EMBEDS and not redirect:
            return "embeds"
        return Task(
            url,
            priority=EMBED_RANK,
            depth=task.depth,
            distance=task.distance,
            redirects=task.redirects + 1 if redirect else 0,
            via=task.url.text,
            embed=task.embed if redirect else task.embed + 1,
        )
