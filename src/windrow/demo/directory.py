"""The crawl directory of the demo."""

import shutil
from pathlib import Path

from windrow.config import ConfigError
from windrow.demo import OPTIONS
from windrow.demo.web import Web

CONTENTS = {  # of the directory after the crawl
    "corpus": "the documents, one per line, by language",
    "warc": "the pages",
    "robotstxt": "robots.txt files",
    "diagnostics": "redirects and errors",
    "log": "every request and its result",
}


def clear(directory: Path) -> None:
    """Remove an earlier demo; refuse to touch any other directory."""
    options = directory / "crawl.toml"
    if options.exists() and options.read_text() == OPTIONS:
        shutil.rmtree(directory)
    elif directory.exists() and any(directory.iterdir()):
        raise ConfigError(f"{directory} is not empty and not an earlier demo; name another: windrow demo --dir DIR")
    elif directory.exists():
        directory.rmdir()


def write(directory: Path, site: Web) -> None:
    """Make the directory of a crawl of this web."""
    directory.mkdir(parents=True)
    (directory / "seeds.txt").write_text("\n".join(site.seeds) + "\n")
    (directory / "hosts").write_text("".join(f"{host}\t{address}\n" for host, address in site.hosts.items()))
    (directory / "crawl.toml").write_text(OPTIONS)
