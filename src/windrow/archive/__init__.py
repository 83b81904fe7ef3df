"""Captures to WARC files and back.

The input is Captures, the form of an exchange that is stored. The output is Places, and later, from the files, equal
Captures. The archive owns the directories warc/, robotstxt/ and diagnostics/ of a crawl. They are the three subsets of
Common Crawl: successful pages, robots.txt and other well-known files, and everything else. Each record is a gzip member
of its own, so that any record can be read by its offset. Each file begins with a warcinfo record that says how it was
made.

A page is archived in two steps, because they happen at two times. When the page arrives, `Writer.compress` builds its
request and response records: digests and compression are nearly all of the cost, and the body can then be released.
When its verdict is known and it has its place in the order of commit, `Writer.append` adds the metadata record, which
holds everything of the Capture for which WARC has no header, and puts the three records into a buffer. Nothing is
written to disk before `Writer.flush`, and nothing is durable before `Writer.sync`. If a write fails, the file keeps its
old length and the records stay in memory.

`flush` returns the lengths of the files. They go into the log, and only they count: bytes beyond them after a crash are
not part of the archive. So a Writer never inspects the end of a file. The reader does: `read` and `records` return what
is intact and raise ArchiveError at the first byte that is not, and `tail` finds the end of the last intact record.

Files of other programs are read by the same functions: WARC of every version, and ARC, whose records get the headers
that they would have in a WARC file. Bodies that were stored with their codings are decoded (`bodies`). With a `report`,
`records` and `captures` continue behind damage (`repair`), and `Originals` finds the payloads of foreign revisits.

A file becomes records in four steps: `unpack` gives the bytes of its members, `stream` joins them with their offsets,
`warc` and `arc` make one record of them, `scan` and `repair` all. `heads` holds what is done for every record, in C
where there is a compiler. `purge` makes tombstones: records that take the place of purged ones, byte for byte as long.

`members` builds records and `unpack` decompresses them: only these modules import isal and zstandard. `answers` joins
each response with its metadata record, and `cdxj` writes its line in an index. `fields` holds what both directions
share.
"""

from windrow.archive.bodies import decoded
from windrow.archive.members import Earlier, Members
from windrow.archive.reading.reader import ReadOptions, StoredCapture, captures, open_entry, open_place, read
from windrow.archive.reading.repair import Damage
from windrow.archive.reading.scan import is_archive, records, tail
from windrow.archive.reading.single import capture_of
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import WarcRecord, verify
from windrow.archive.revisits import Originals
from windrow.archive.writer import Writer

__all__ = [
    "ArchiveError",
    "Damage",
    "Earlier",
    "Members",
    "Originals",
    "ReadOptions",
    "StoredCapture",
    "WarcRecord",
    "Writer",
    "capture_of",
    "captures",
    "decoded",
    "is_archive",
    "open_entry",
    "open_place",
    "read",
    "records",
    "tail",
    "verify",
]
