"""`windrow store`: the documents of a crawl, and a row per capture, in a database or an object storage.

In come the committed frames of a crawl's log (feed.py), never more; out goes one batch after another, each with the
position behind its last frame. The position is kept in the storage itself, so there is no second record that could
disagree with it: in a database it is written in the transaction of its rows; elsewhere it is written after them, and
writing the same batch again changes nothing. So after a kill at any moment, of this process or of the server, every
document is there exactly once.

Two processes may store the same crawl at the same time, on two machines: a position is only replaced if it is still
the one that the process knows, so one of them succeeds and the other asks again. `part` is one crawl directory, or one
shard; `run` follows one of them, or all shards of a machine in turn; `held` is how it learns which shards those are.

A storage has five verbs (protocol.py): read the position, write a batch, remove pages, remove all pages, close. Each
kind is a module: `postgresql`, `mysql` and `sqlite` are dialects of `sql`; `mongodb`; and `objects` for everything that
fsspec can write: s3://, webhdfs://, a directory (files by file: `folder`). Each imports its library when it is opened.
"""

import functools
import importlib
from collections.abc import Callable
from pathlib import Path

from windrow import config, plugins
from windrow.config import ConfigError
from windrow.config.kinds import Plugin
from windrow.io import storage
from windrow.jobs.store.protocol import Storage
from windrow.plugins import OpenTable

Opener = Callable[[str, bool], Storage]  # of an address, with captures or without


def _kind(name: str, extra: str) -> Callable[[None, Opener | None], Opener]:
    """Return the row of a module here and the extra that it needs."""
    return lambda options, inner: functools.partial(_open, name, extra)


def _open(name: str, extra: str, target: str, captures: bool) -> Storage:
    try:
        module = importlib.import_module(f"windrow.jobs.store.{name}")
    except ImportError as error:
        fix = f"install it with: pip install 'windrow-corpus[{extra}]'"
        raise ConfigError(f"{storage.without_password(target)}: this needs another library ({error}); {fix}") from None
    opened: Storage = module.open(target, captures)
    return opened


KINDS = {  # by scheme
    "postgresql": _kind("postgresql", "postgresql"),
    "postgres": _kind("postgresql", "postgresql"),
    "mysql": _kind("mysql", "mysql"),
    "mariadb": _kind("mysql", "mysql"),
    "mongodb": _kind("mongodb", "mongodb"),
    "mongodb+srv": _kind("mongodb", "mongodb"),
    "sqlite": _kind("sqlite", ""),
    "": _kind("objects", "s3"),  # all that fsspec knows, and directories
}


def open(target: str, captures: bool, directory: Path = Path()) -> Storage:
    """Open a storage by its address, and make its tables where they are missing. `captures`: also theirs.

    `directory`: of the crawl. In the place of a scheme the address may name the user's own code.
    ConfigError: the address, the password or the tables are not what they should be, or a library is missing.
    """
    if storage.is_cut_login(target):
        raise ConfigError(f"{storage.without_password(target)} is not an address; {storage.ESCAPES}")
    scheme = target.partition("://")[0] if "://" in target else ""
    sections = config.plugins_of(directory)
    if ":" in scheme:
        scheme = Plugin().apply(scheme, "--to", directory.absolute())
    elif scheme not in KINDS and "use" not in sections.get(scheme, {}):
        scheme = ""
    return plugins.build(OpenTable("--to", KINDS), scheme, sections, None)(target, captures)
