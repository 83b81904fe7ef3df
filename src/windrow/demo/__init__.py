"""A small web to crawl without a network.

Eight hosts under demo.test, some 360 pages: the Universal Declaration of Human Rights in twelve languages, an article a page, each
linked to its neighbours and to itself in the other languages. Among them stand the things a crawler meets outside: a part that
robots.txt forbids, redirects, a missing page, a page that fails the first time it is asked for, a host that compresses, a host that is
a copy of another, pages in old character sets, links with session ids, and a calendar without end.

Everything is made from the texts in `texts/` when `web.serve()` starts, always the same, so that `Web.pages` can say in
advance which pages a crawl must bring home. `declaration` reads the texts, `site` makes the pages and holds the truth about them, `server`
speaks just enough HTTP/1.1 to serve pages quickly and knows nothing of them, `web` puts the three together in a thread.
"""

OPTIONS = """\
# The options of the demo crawl. Its web is on loopback, so it needs no contact and hardly any delay.
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
