"""One record of an archive, whatever its format: `warc` and `arc` make it, `scan` reads all of a file."""

import base64
import hashlib

import msgspec

from windrow.archive import fields
from windrow.archive.reading import heads

_DIGESTS = ("md5", "sha1", "sha256", "sha384", "sha512")


class WarcRecord(msgspec.Struct, frozen=True, gc=False):
    """One WARC record. A record of an ARC file has the headers that it would have in a WARC file."""

    offset: int  # of its gzip member, or of its first byte in a plain file
    length: int  # of its gzip members, or of its bytes; 0 if it shares a member (not yet verified) or has no proper end
    version: str  # "WARC/1.1", "ARC/1.0"
    headers: tuple[tuple[str, str], ...]  # in order, as written
    block: bytes
    size: int  # Content-Length; more than len(block) if the block was cut at MAX_BLOCK, or the file ends inside it

    @property
    def type(self) -> str:
        return self.header("WARC-Type").lower()

    @property
    def id(self) -> bytes:
        """The UUID of the record, without brackets and prefix."""
        return self.header("WARC-Record-ID").removeprefix("<urn:uuid:").removesuffix(">").encode()

    @property
    def target(self) -> str:
        """The target URI; some programs that write WARC/1.0 put it in angle brackets."""
        return self.header("WARC-Target-URI").removeprefix("<").removesuffix(">")

    def header(self, name: str) -> str:
        """Return the first header with this name; "" if there is none."""
        for field, value in self.headers:
            if field == name:  # the usual spelling
                return value
        return next(iter(self.all(name)), "")

    def http(self) -> tuple[dict[str, str], bytes]:
        """Return the fields of the HTTP header by their names in lower case, and the payload as it is stored.

        Of a field that is repeated, the values are joined by commas.
        """
        usual = heads.http(self.block)
        if usual is not None:
            return usual[1], self.block[usual[0] :]
        head, payload = fields.split(self.block, {})
        values: dict[str, str] = {}
        for line in fields.regular(head).decode("latin-1").split("\r\n")[1:]:
            name, colon, value = line.partition(":")
            if colon:
                name, value = name.strip().lower(), value.strip()
                values[name] = f"{values[name]}, {value}" if name in values else value
        return values, payload

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        wanted = name.lower()
        return [value for field, value in self.headers if field.lower() == wanted]


def is_tombstone(record: WarcRecord) -> bool:
    """Return whether a record takes the place of one that was purged, see purge.py."""
    return record.block.startswith(b"purged: ") and record.type == "metadata" and not record.target


def verify(record: WarcRecord) -> bool | None:
    """Return whether the block matches its digest; None if there is no digest of a known kind.

    Known are MD5, SHA-1, SHA-256, SHA-384 and SHA-512 in hex, base32 or base64, as other programs write them.
    """
    algorithm, _, written = record.header("WARC-Block-Digest").partition(":")
    algorithm = algorithm.lower().replace("-", "")
    if algorithm not in _DIGESTS or not written or len(record.block) < record.size:
        return None
    digest = hashlib.new(algorithm, record.block, usedforsecurity=False).digest()
    try:
        return _unwritten(written.rstrip("="), len(digest)) == digest
    except ValueError:
        return False


def _unwritten(text: str, size: int) -> bytes:
    """Return the bytes of a digest of this size. Its length tells hex, base32 and base64; padding may be missing."""
    if len(text) == 2 * size:
        return bytes.fromhex(text)
    if len(text) == -(-8 * size // 5):
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    text = text.replace("-", "+").replace("_", "/")  # the alphabet that is safe in URLs
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
