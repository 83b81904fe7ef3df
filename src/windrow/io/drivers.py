"""Corrections for drivers of fsspec: time limits, refusals that they do not notice, and cheap listings.

`prepare` corrects a file system that was just opened; `below` lists all files below a folder.
"""

import functools
from typing import Any

FileSystem = Any  # of fsspec, which has no types

_FLAT = ("s3", "s3a", "gs", "gcs", "abfs", "az", "memory")  # no folders: the driver lists all files with one request
_WEBHDFS = ("webhdfs",)
_PATIENCE = (10.0, 120.0)  # seconds: for a connection, for the next bytes of an answer
_AHEAD = 1 << 16  # bytes that are read behind a range; that of the driver is 4 MB, with every record


def protocol(system: FileSystem) -> str:
    names = system.protocol
    return names if isinstance(names, str) else str(names[0])


def prepare(system: FileSystem) -> None:
    """Give the driver of WebHDFS a time limit, and make it notice refusals.

    Without this it returns a DataNode's error message as the content of the file, and takes a rename that the NameNode
    refused for one that succeeded.
    """
    if protocol(system) not in _WEBHDFS or isinstance(system.session.request, functools.partial):
        return
    system.session.request = functools.partial(_requested, system.session.request)
    system.mv = functools.partial(_moved, system)
    system.blocksize = _AHEAD


def _requested(request: Any, *given: Any, **options: Any) -> Any:
    answer = request(*given, **{"timeout": _PATIENCE, **options})
    if options.get("params") is None:  # the address is one to which the NameNode has sent us; the driver does not look
        answer.raise_for_status()
    return answer


def _moved(system: FileSystem, source: str, target: str, **options: Any) -> None:
    """Rename a file; the name must be free. The NameNode does this in one step."""
    answer = system._call("RENAME", method="put", path=source, destination=system._strip_protocol(target))
    if not answer.json()["boolean"]:
        raise FileExistsError(f"{source} cannot be renamed to {target}: one is missing, or the other exists")


def below(system: FileSystem, folder: str) -> list[str]:
    """Return the paths of the files below a folder, in order.

    fsspec's own `find` takes a folder that cannot be read, because the server does not answer, for an empty one. A
    folder that vanishes meanwhile is empty.
    """
    if protocol(system) in _FLAT:
        return sorted(system.find(folder))
    names: set[str] = set()
    seen = {folder.rstrip("/")}
    waiting = list(_listing(system, folder))
    while waiting:
        name, is_folder = waiting.pop()
        if not is_folder:
            names.add(name)
        elif name not in seen:
            seen.add(name)
            try:
                waiting += _listing(system, name)
            except FileNotFoundError:
                continue
    return sorted(names)


def _listing(system: FileSystem, folder: str) -> list[tuple[str, bool]]:
    return [(info["name"].rstrip("/"), info["type"] == "directory") for info in system.ls(folder, detail=True)]
