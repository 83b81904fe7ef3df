"""A random web for the simulation: hosts, their pages, their links and their misbehaviour."""

import dataclasses
import random

from windrow import urls


@dataclasses.dataclass
class SimulatedHost:
    name: str
    address: str
    pages: list[str]
    delay: float = 0.0  # Crawl-delay
    robots: str = "ok"  # "ok", "absent", "broken" (5xx), "shaky" (5xx twice), or the URL that it redirects to
    life: str = "ok"  # "ok", "dead" (refuses), "unknown" (no such name), "shaky" (each page fails once), "throttled"
    kept: int = 0  # bytes of text per page


@dataclasses.dataclass
class World:
    hosts: dict[str, SimulatedHost]
    links: dict[str, list[str]]
    seeds: list[str]

    def reachable(self) -> set[str]:
        """Return every page that the seeds lead to."""
        found = set(self.seeds)
        todo = list(self.seeds)
        while todo:
            for link in self.links.get(todo.pop(), []):
                if link not in found:
                    found.add(link)
                    todo.append(link)
        return found


def world(seed: int, hosts: int = 8, pages: int = 12, kinds: bool = True) -> World:
    """Make a random web. Without `kinds` every host works."""
    rng = random.Random(seed)
    domains = [f"d{number}.org" for number in range(max(1, hosts // 2))]
    addresses = [f"10.0.0.{number}" for number in range(max(1, hosts // 3))]
    made: dict[str, SimulatedHost] = {}
    for number in range(hosts):
        name = f"h{number}.{rng.choice(domains)}"
        scheme = rng.choice(["http", "https"])
        part = random.Random(f"{seed} {name}")
        texts = [
            f"{rng.choice([scheme, scheme, 'http'])}://{name}/{part.choice(['', '', 'poor/', 'rich/'])}{page}"
            for page in range(rng.randint(1, pages))
        ]
        made[name] = SimulatedHost(name, rng.choice(addresses), texts)
        if kinds:
            made[name].delay = rng.choice([0.0, 0.0, 3.0])
            made[name].robots = rng.choice(["ok"] * 5 + ["absent", "broken", "shaky", "moved", "moved"])
            made[name].life = rng.choice(["ok"] * 6 + ["dead", "unknown", "shaky", "throttled"])
            made[name].kept = random.Random(f"{seed} {name}").choice([0, 5, 50, 500])
    everything = [page for host in made.values() for page in host.pages]
    for host in made.values():
        if host.robots == "moved":
            target = rng.choice(everything)
            host.robots = (
                urls.origin(target) + "/robots.txt" if rng.random() < 0.8 else "http://nowhere.example/robots.txt"
            )
    links = {}
    for host in made.values():
        for page in host.pages:
            links[page] = rng.sample(host.pages, rng.randint(0, min(4, len(host.pages)))) + rng.choices(
                everything, k=rng.randint(0, 2)
            )
    return World(made, links, rng.sample(everything, min(4, len(everything))))
