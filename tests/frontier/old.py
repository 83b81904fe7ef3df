"""A crawl that an earlier Windrow began, with a store of version 4: `old.tar.gz`, and the web that it crawled.

The archive was made by the version before the one that knows revisits, as `python -m tests.frontier.old DIRECTORY`. It
stopped after 12 pages; `state/` is older than the log, as after a kill, so that a start replays frames of that version.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.web import Site, serve

ARCHIVE = Path(__file__).with_suffix(".tar.gz")
PAGES = {"a.old.test": 16, "b.old.test": 6}
SENTENCES = (
    "The river carries the boats past the mill and the old town, where people have lived for many years.",
    "On market days the farmers come early and sell what they have grown on the hills behind the church.",
    "Nobody knows who built the first bridge, but it was there when the war ended and the mill was opened.",
    "In winter the water is high, and the children of the village cannot go to school for several weeks.",
    "A teacher from the city wrote a book about it, which was read by everybody who could find a copy.",
    "Later the railway came, and with it came workers, shops and a newspaper that appears every week.",
    "The mayor said that the station would be closed, because only a few people use the train today.",
)
SETTINGS = ("fetch.delay=0", "fetch.ip_delay=0", "fetch.allow_private=true", "fetch.backoff=0.01")


def fill(site: Site) -> None:
    """Serve the web of the crawl: each page links to the next two, a missing one, the other host and a broken one."""
    for host, count in PAGES.items():
        for page in range(count):
            links = [f"/{page + 1}", f"/{page + 2}", f"/missing{page}", f"http://b.old.test/{page % 3}", "/bad/reset"]
            text = "".join(f"<p>{SENTENCES[(page + n) % 7]} {SENTENCES[(3 * page + n + 1) % 7]}</p>" for n in range(4))
            body = text + "".join(f'<a href="{link}">link {link}</a> ' for link in links)
            site.page(host, f"/{page}", f"<!doctype html><title>{host} {page}</title>{body}".encode())


def make(directory: Path) -> None:
    """Crawl two parts of the web; keep the store of the first and the log of both."""
    with serve() as site:
        fill(site)
        directory.mkdir(parents=True)
        (directory / "crawl.toml").write_text('[identity]\ncontact = "mail@example.org"\n', "utf-8")
        (directory / "seeds.txt").write_text("http://a.old.test/0\n", "utf-8")
        hosts = site.hosts_file(directory.parent / "hosts")
        crawl(directory, hosts, "6")
        shutil.copytree(directory / "state", directory.parent / "state")
        crawl(directory, hosts, "6")
    shutil.rmtree(directory / "state")
    (directory.parent / "state").rename(directory / "state")


def crawl(directory: Path, hosts: Path, pages: str) -> None:
    settings = [f"--set={setting}" for setting in (*SETTINGS, f"fetch.hosts_file={hosts}")]
    command = [sys.executable, "-m", "windrow.cli", "crawl", str(directory)]
    subprocess.run([*command, "--max-pages", pages, *settings], check=True, env=os.environ)


if __name__ == "__main__":
    made = Path(sys.argv[1]) / "crawl"
    make(made)
    with tarfile.open(ARCHIVE, "w:gz") as archive:
        archive.add(
            made, "crawl", filter=lambda member: None if member.name.endswith(("lock", "crawl.log")) else member
        )
