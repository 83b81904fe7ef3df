"""The header of every request, and the URLs that may be requested."""

import re
from collections.abc import Iterable
from pathlib import Path

import windrow
from windrow import config
from windrow.io import coding
from windrow.records import Header

_FIELD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [!-~]([ -~]*[!-~])?")
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
    return [f"{name}: {value}" for name, value in pairs if value] + list(fetch.headers)


def lines(headers: Iterable[Header]) -> list[str] | None:
    """Return the lines of header fields; None if one cannot be sent: its value may come from a server."""
    fields = [f"{name}: {value}" for name, value in headers]
    return fields if all(map(_FIELD.fullmatch, fields)) else None


def check_proxy(fetch: config.FetchOptions, identity: config.IdentityOptions) -> None:
    """Refuse a proxy where a rule about addresses could not be kept."""
    if fetch.proxy and not identity.contact:
        raise config.ConfigError(
            "fetch.proxy is set and no contact, without which only loopback addresses are requested: a proxy cannot "
            "keep to that; set contact under [identity]"
        )
    if fetch.proxy and fetch.hosts_file:
        raise config.ConfigError(
            "fetch.proxy resolves names, so fetch.hosts_file would have no effect; remove one of them"
        )


def proxy_login(fetch: config.FetchOptions) -> str:
    """Return user:password for the proxy; "" for none. A message never shows them."""
    if not fetch.proxy_login_file:
        return ""
    try:
        login = Path(fetch.proxy_login_file).read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise config.ConfigError(
            f"fetch.proxy_login_file: cannot read {fetch.proxy_login_file} ({reason}); give a file with user:password"
        ) from None
    if ":" not in login or "\n" in login:
        raise config.ConfigError(f"{fetch.proxy_login_file}: not user:password on one line; write it so")
    return login
