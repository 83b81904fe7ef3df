"""One canonical form for a URL, and its parts: host, registered domain, key, SURT.

Parsing follows WHATWG (as browsers do; the `url` crate). On top of that, `canonical` does what a crawler needs: it
removes everything that identifies a visit and not a page (fragment, user name, session ids, tracking parameters; see
`visits`), and it writes equal escapes in one way. Parameters keep their order and `www.` stays: to change those could
change the page that is requested. `parts` reads from canonical URLs, and `suffixes` knows the public suffix list."""

from windrow.urls.canonical import LONGEST as LONGEST
from windrow.urls.canonical import REMEMBERED as REMEMBERED
from windrow.urls.canonical import join as join
from windrow.urls.canonical import parse as parse
from windrow.urls.canonical import redirect as redirect
from windrow.urls.canonical import restored as restored
from windrow.urls.canonical import sort_key as sort_key
from windrow.urls.canonical import target as target
from windrow.urls.parts import authority_of as authority_of
from windrow.urls.parts import below as below
from windrow.urls.parts import host_of as host_of
from windrow.urls.parts import key as key
from windrow.urls.parts import origin as origin
from windrow.urls.parts import port as port
from windrow.urls.parts import surt as surt
from windrow.urls.parts import tld as tld
from windrow.urls.suffixes import domain as domain
from windrow.urls.suffixes import registered as registered
