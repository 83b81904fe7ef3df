"""The header of every request, and the URLs that may be requested."""

import re

import windrow
from windrow import config
from windrow.fetch import coding

# Scheme, host with port, path with query. A user name and a fragment are accepted and never sent.
TARGET = re.compile(r"(https?)://(?:[^/?#]*@)?([0-9a-z._\-]+(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?)(/[!-\"$-~]*)(?:#.*)?")


def user_agent(identity: config.IdentityOptions) -> str:
    """Return the User-Agent with which we identify ourselves."""
    contact = f"; +{identity.contact}" if identity.contact else ""
    return identity.user_agent or f"Mozilla/5.0 (compatible; {identity.name}/{windrow.__version__}{contact})"


def fields(fetch: config.FetchOptions, identity: config.IdentityOptions) -> list[str]:
    """Return the header fields of every request, in the order in which they follow Host."""
    contact = identity.contact.removeprefix("mailto:")
    pairs = [
        ("User-Agent", user_agent(identity)),
        ("From", contact if "@" in contact and "/" not in contact else ""),
        ("Accept", fetch.accept),
        ("Accept-Language", fetch.accept_language),
        ("Accept-Encoding", coding.ACCEPTED),
    ]
    for name, value in pairs:
        if not (value.isprintable() and value.isascii()):
            raise config.ConfigError(
                f"the request header {name} would be {value!r}; use printable ASCII in [identity] and [fetch]"
            )
    return [f"{name}: {value}" for name, value in pairs if value]
