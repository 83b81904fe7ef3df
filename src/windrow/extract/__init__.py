"""Capture in, Page out: what a page says, with nothing of how it was fetched or what will be made of it.

`html.extract` is the whole stage. It asks `decode` for the text of the body, as a browser would read it, builds the tree once, and takes
from it everything that later stages ask for: the links as canonical URLs, each once; what the author wants of robots, said in the
page or in the header; the declared language; and `shape`, by which the pages of a calendar without end are known to be one page.

The functions here are pure and hold nothing. They run on input written by anyone, so they run in worker processes (crawl/workers.py) that
may be killed at any instant: no function here needs to defend itself against taking too long or too much memory, only against
costing more than linear time. Whatever comes in, what goes out is valid Unicode.

turbohtml, the parser, is imported in `html` and, for its decoders and its detector of encodings, in `decode`; nowhere else.
"""
