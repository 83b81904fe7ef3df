"""A small web to crawl without a network.

The web has eight hosts under demo.test and about 360 pages: the Universal Declaration of Human Rights in twelve
languages, one article per page. Each page links to its neighbours and to its translations. The web also has what a
crawler finds on the real web: pages that robots.txt forbids, redirects, a missing page, a page that fails at its
first request, a host that compresses, a host that is a copy of another, pages in old character sets, links with
session ids, and a calendar without end.

`web.serve()` generates everything from the texts in `texts/` when it starts. The result is always the same, so
`Web.pages` can say in advance which pages a crawl must archive. `declaration` reads the texts. `site` makes the pages
and knows the truth about them. `server` speaks just enough HTTP/1.1 to serve pages quickly and knows nothing about
them. `web` runs all three in a thread. `directory` is the crawl of `windrow demo`; `serving` keeps the web running for
crawls of the user's own.
"""

OPTIONS = """\
# The options of the demo crawl. Its web is on loopback, so it needs no contact and almost no delay.
[identity]
description = "windrow demo"

[fetch]
delay = 0.01
ip_delay = 0.0
allow_private = true
hosts_file = "hosts"

[scope]
tlds = ["test"]
"""
