"""The log of a crawl is its truth; the frontier's store is a view of it.

The crawl appends one frame per group commit: the reports of about a second, the links they admitted, and the length of
every other file at that moment. A frame that was cut short does not exist, so the log alone says what was committed.
Recovery cuts the other files to those lengths and replays the later frames. Status, `why`, the live display, the report
and the what-if tables read the same lines, and one fold counts them.

- `format`: a frame to bytes and back; the lines are derived from the records
- `writer`: appends frames
- `reader`: whole frames from a position on, raw lines
- `following`: gives folds what follows a position, as often as there is more; `views` keeps folds between commands
- `fold`: reports to counts; `accounts` counts what only the report and the what-if tables want, `meter` what only
  metrics want, `purges` the pages that `windrow purge` has removed
- `search`: the frames that have a URL, by `postings`, which `newpostings` makes; `mentions`: what they say about it
- `outbox`: links to other shards, read again from any frame on
"""

from windrow.log.accounts import Accounts as Accounts
from windrow.log.accounts import SiteAccount as SiteAccount
from windrow.log.fold import Hosts as Hosts
from windrow.log.fold import Tally as Tally
from windrow.log.fold import Totals as Totals
from windrow.log.fold import fold as fold
from windrow.log.following import START as START
from windrow.log.following import Bookmark as Bookmark
from windrow.log.following import Fold as Fold
from windrow.log.following import Watch as Watch
from windrow.log.following import follow as follow
from windrow.log.format import Head as Head
from windrow.log.format import Line as Line
from windrow.log.format import decode as decode
from windrow.log.format import encode as encode
from windrow.log.mentions import Mention as Mention
from windrow.log.mentions import first_seen as first_seen
from windrow.log.mentions import mentions as mentions
from windrow.log.mentions import rules as rules
from windrow.log.meter import Meter as Meter
from windrow.log.outbox import Outbox as Outbox
from windrow.log.outbox import SentLinks as SentLinks
from windrow.log.outbox import sent as sent
from windrow.log.purges import PurgeNote as PurgeNote
from windrow.log.purges import Removals as Removals
from windrow.log.purges import purged as purged
from windrow.log.reader import Position as Position
from windrow.log.reader import ends as ends
from windrow.log.reader import frames as frames
from windrow.log.reader import home as home
from windrow.log.reader import length as length
from windrow.log.reader import lost_frame as lost_frame
from windrow.log.reader import names as names
from windrow.log.reader import raw_frames as raw_frames
from windrow.log.views import View as View
