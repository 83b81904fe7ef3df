"""Runs the spider of the tests on a web on loopback, and reads what it left behind."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import web

ROOT = Path(__file__).resolve().parents[2]
ADDON = {"windrow.scrapy.Addon": 0}
WORDS = (
    "river house garden window morning letter teacher bridge winter village doctor market story train island kitchen "
    "forest music paper summer horse family office language mountain picture street night water old young quiet green "
    "early warm narrow bright heavy simple strange little modern northern wooden broken famous careful empty gentle "
    "hungry ancient distant common private golden silver tired friendly wild"
).split()
SENTENCE = "The {} {} has a {} {} and the {} of {} is {} with {} {}."


class Spiders:
    """One web, one directory, and any number of spiders one after another or at the same time."""

    def __init__(self, site: web.Site, directory: Path) -> None:
        self.site = site
        self.directory = directory
        self.crawl = directory / "crawl"
        self.items_file = directory / "items.jsonl"

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.site.port}{path}"

    def settings(self, **options: object) -> dict[str, Any]:
        """Return the settings of Windrow's order. `options`: of Windrow, with __ for the dot."""
        chosen = {"fetch__delay": 0.0, "fetch__ip_delay": 0.0, "fetch__allow_private": True, **options}
        chosen |= {"scope__ports": [self.site.port], "crawl__commit_seconds": 0.1, "fetch__backoff": 0.05}
        chosen |= {"dedup__table_bytes": 16 << 20, "crawl__min_free_bytes": 0}
        named = {name.replace("__", "."): value for name, value in chosen.items()}
        return {"ADDONS": ADDON, "WINDROW_DIR": str(self.crawl), "WINDROW_OPTIONS": named}

    def start(self, urls: Sequence[str], settings: dict[str, Any]) -> "subprocess.Popen[str]":
        order = {"urls": list(urls), "settings": settings, "items": str(self.items_file)}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.scrapy.spider", json.dumps(order)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # its workers end with it: they are in its group
        )

    def run(self, urls: Sequence[str], settings: dict[str, Any]) -> str:
        """Run a spider to its end; return what it wrote on standard error."""
        return ended(self.start(urls, settings))

    def items(self) -> list[dict[str, Any]]:
        return (
            [json.loads(line) for line in self.items_file.read_text().splitlines()] if self.items_file.exists() else []
        )

    def seen(self) -> list[str]:
        """Return the paths that the callback saw."""
        return sorted(item["url"].partition(f":{self.site.port}")[2] for item in self.items() if "status" in item)

    def requested(self) -> list[str]:
        """Return the paths of pages that were requested, in their order."""
        files = ("/robots.txt", "/.well-known/tdmrep.json")
        return [request.path for request in list(self.site.log) if request.path not in files]


def ended(process: "subprocess.Popen[str]") -> str:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return errors


def prose(number: int, sentences: int = 12) -> str:
    """Return English text that no other number has."""
    chosen = random.Random(number)
    return " ".join(SENTENCE.format(*chosen.sample(WORDS, 9)) for _ in range(sentences))


def page(number: int, links: str = "") -> bytes:
    return f"<!doctype html><html lang=en><title>Page {number}</title><p>{prose(number)}</p>{links}".encode()


def tree(site: web.Site, pages: int, host: str = "127.0.0.1") -> list[str]:
    """Serve a tree of pages, each with links to two others and to the first; return their paths."""
    for number in range(pages):
        below = [child for child in (2 * number + 1, 2 * number + 2) if child < pages]
        links = "".join(f'<a href="/{child}">{child}</a> ' for child in [*below, 0])
        site.page(host, f"/{number}", page(number + 1000 * int(host.rpartition(".")[2]), links))
    return [f"/{number}" for number in range(pages)]
