"""`windrow rebuild`: a corpus made again from a crawl's archive, or from archives of any program."""
