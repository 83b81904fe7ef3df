"""From a lease to Captures and Failures.

The input is the right to talk to one host at one address, and the tasks for that host. The output is one record per
task, a Capture or a Failure, and nothing else: no server can cause an exception. The stage owns sockets and caches,
which do not outlive it. It decides nothing about the crawl: the frontier and the driver decide when to request, whether
to try again and what a status means. So a redirect is an answer like any other, a 404 is a Capture, and politeness is
not found here.

`resolve` finds the address of a host, once, from a hosts file or through DNS. `address` decides to which addresses we
may connect. It is checked twice, when a name is resolved and when a socket is opened, because a name can change its
address in between. `clients` says what a client is, and has the table of them. `client` is the usual one: it makes the
exchange, with libcurl, at exactly the address it is given, or through the proxy that the operator named: one GET, no
redirect followed. It keeps the answer byte for byte and stops at the limits of size and time during the transfer; the
part received until then is kept and marked. `cookies` reads the operator's cookies; those of servers are never kept.

`client.stored` and `windrow.io.coding` turn the exchange into its archived form: the body without its content coding,
the header rewritten to match (with `fetch.raw_bodies`, that form as well as the body as sent). No later stage but the
archive sees the form on the wire, and reading a WARC gives the same Capture as the network did. A body that cannot be
decoded is kept as it arrived, and one that would unpack to more than the limit is cut; both are marked.
"""
