"""`windrow purge`: remove the pages of the takedown list from archive and corpus for good.

`plan` reads the log and finds the captures of listed pages and the shards that have their documents. `run` overwrites
every record of such a capture in place by a tombstone of the same length, and every member of a shard that has such a
document by one without it. So each place in log and corpus stays right, and no length changes.

A purge may die at any moment. First the file `purge.redo` marks the directory: nobody reads or crawls it until the
purge is finished. Then a frame of the log says which pages are purged. The bytes to write are put into `purge.redo`,
which is synced, before they are written to their files: `redo` writes again what was half written. At the end the mark
is removed. So the next `windrow purge` finishes one that was interrupted, whatever it had done by then.
"""

from windrow.crawler.orders.purge.plan import PurgedContent as PurgedContent
from windrow.crawler.orders.purge.plan import content as content
from windrow.crawler.orders.purge.removal import Purged as Purged
from windrow.crawler.orders.purge.removal import preview as preview
from windrow.crawler.orders.purge.removal import purge as purge
from windrow.crawler.orders.purge.removal import total as total
