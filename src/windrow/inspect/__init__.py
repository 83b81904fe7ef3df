"""What the log of a crawl says, read only.

In: the files of a crawl directory, running or not. Out: its state, the story of a URL, lists, and a report with
pictures. Nothing here writes into a crawl or imports a driver; a dashboard reads the same.
"""
