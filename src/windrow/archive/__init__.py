"""Captures to WARC files and back.

In come Captures, the form of an exchange that is stored; out go Places, and later, from the files, equal Captures. The archive owns
the three directories warc/, robotstxt/ and diagnostics/ of a crawl, which are Common Crawl's: pages that were there, robots.txt files,
and everything else. Each record is a gzip member of its own, so that any one can be read by its offset, and each file begins
with a warcinfo record that says how it was made.

A page is archived in two steps, because they happen at two times. When it arrives, `Writer.compress` makes its request and response
records: digests and compression are nearly all of the cost, and the page's body may be let go. When its verdict is known and it has its
place in the order of commit, `Writer.append` adds the metadata record, which holds whatever of the Capture WARC has no header for, and
puts the three behind one another into a buffer. Nothing touches the disk until `Writer.flush`, and nothing is durable before
`Writer.sync`. A write that fails leaves the file as long as it was, and what it should have held in memory.

The lengths that flush returns go into the log, and only they count: what stands behind them after a crash was never there. So a Writer
never asks what a file ends in. The reader does: `read` and `records` give out what is whole and then raise ArchiveError at the first byte
that is not, and `tail` finds the end of the last whole record.

members makes records and stream takes gzip apart: these two modules alone know isal. fields is what both directions share.
"""

from windrow.archive.members import Members, Origin
from windrow.archive.reader import Entry, open_entry, open_place, read
from windrow.archive.record import Record, records, tail, verify
from windrow.archive.stream import ArchiveError
from windrow.archive.writer import Writer

__all__ = [
    "ArchiveError",
    "Entry",
    "Members",
    "Origin",
    "Record",
    "Writer",
    "open_entry",
    "open_place",
    "read",
    "records",
    "tail",
    "verify",
]
