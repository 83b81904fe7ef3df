"""From a Turn to Captures and Failures.

In comes the right to talk to one host at one address, and the tasks for it; out goes, for each task, a Capture or a Failure, and nothing
else: no exception is a server's to cause. The stage owns sockets and caches, none of which outlives it. It decides nothing about the
crawl: when to ask, whether to ask again and what a status means is the frontier's business and the driver's. So a redirect is an answer
like any other, a 404 is a Capture, and politeness is not to be found here.

`resolve` finds the address of a host, once, from a hosts file or through DNS. `address` says which addresses may be called at all; it is
asked when a name is resolved and again when a socket is opened, because a name can change its mind in between. `client` makes the
exchange, with libcurl, at exactly the address it is given: one GET, no cookies, no credentials, no proxy, nothing followed. It keeps what
comes byte for byte and stops at the limits of size and time while it comes; what came until then is kept and marked.

`stored` and `coding` turn the exchange into the form in which it is archived: the body without its content coding, the header rewritten
to match. From here on nobody sees the wire again, and reading a WARC gives the same Capture as the network did. A body that cannot be
decoded, or that would unpack to more than we allow, is no error: it is kept as it came, or cut, and flagged.

`robots` reads robots.txt. It is a pure function of a Capture; fetching the file is a task like any other.
"""
