"""A WACZ file while it is written: a ZIP file whose members are listed with size and hash in its datapackage.json.

Members are written one after another in pieces, so memory stays bounded, and ZIP64 is used where sizes need it. A
member that is compressed already is stored, so that a reader can read a record by its offset with one range request.
"""

import hashlib
import json
import re
import time
import zipfile
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

VERSION = "1.1.1"  # of the WACZ specification
MANIFEST, DIGEST = "datapackage.json", "datapackage-digest.json"
_STORED = (".gz", ".zst")
_NOT_IN_NAMES = re.compile(r"[^-a-z0-9._/]")  # of resources, as Data Package allows them


class PackageMember(msgspec.Struct, frozen=True):
    name: str
    path: str
    hash: str
    bytes: int


class Package:
    """Valid inside a `with` block; after an exception the file is not a ZIP file, and the caller removes it."""

    def __init__(self, file: BinaryIO, now: float) -> None:
        """`now`: epoch seconds, the time of the members and of the manifest."""
        self.resources: list[PackageMember] = []
        self._zip = zipfile.ZipFile(file, "w", allowZip64=True)
        self._now = time.gmtime(now)

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self._zip.fp = None  # else the object would write an end of the file when it is collected

    def add(self, path: str, pieces: Iterable[bytes]) -> PackageMember:
        """Write a member and list it."""
        sha, size = hashlib.sha256(), 0
        with self._zip.open(self._info(path), "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                sha.update(piece)
                size += len(piece)
        made = PackageMember(
            _NOT_IN_NAMES.sub("-", path.rpartition("/")[2].lower()), path, f"sha256:{sha.hexdigest()}", size
        )
        self.resources.append(made)
        return made

    def close(self, facts: Mapping[str, Any]) -> None:
        """Write the manifest with these facts, and its digest, and end the file."""
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", self._now)
        listed = [msgspec.structs.asdict(resource) for resource in self.resources]
        manifest = {"profile": "data-package", "wacz_version": VERSION, "created": created, **facts}
        data = _json({**manifest, "resources": listed})
        self._zip.writestr(self._info(MANIFEST), data)
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._zip.writestr(self._info(DIGEST), _json({"path": MANIFEST, "hash": digest}))
        self._zip.close()

    def _info(self, path: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(path, (max(1980, self._now.tm_year), *self._now[1:6]))
        info.compress_type = zipfile.ZIP_STORED if path.endswith(_STORED) else zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        return info


def _json(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"
