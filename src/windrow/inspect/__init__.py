"""What the log of a crawl says, read only.

In: the files of a crawl directory, running or not. Out: its state, the story of a URL, lists, and a report with
pictures. Nothing here imports a driver, or writes into a crawl anything but the report and `views/`. Counts come from
folds that `log.follow` feeds, kept by `log.View`; a story from the frames that `log.search` finds.
"""
