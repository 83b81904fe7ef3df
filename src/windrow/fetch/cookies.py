"""Cookies from a file in Netscape's format, as browsers' extensions, curl and yt-dlp write it.

The crawl sends them and never learns new ones: a Set-Cookie of a server is archived and otherwise ignored.
"""

import re
from pathlib import Path

import msgspec

from windrow import config

_HTTP_ONLY = "#HttpOnly_"
_UNSENDABLE = re.compile(r"[\0-\x1f\x7f;]")
_FIX = "write seven columns with tabs between them: domain, TRUE or FALSE, path, TRUE or FALSE, expiry, name, value"


class Cookie(msgspec.Struct, frozen=True, gc=False):
    pair: str  # name=value
    path: str
    below: bool  # also for hosts below its domain
    secure: bool  # only over https
    expires: float  # epoch seconds; 0: never

    def goes_to(self, exact: bool, scheme: str, path: str, now: float) -> bool:
        """Return whether it is sent with a request; `exact`: the host is its domain (RFC 6265 §5.4)."""
        if not (exact or self.below) or (self.secure and scheme != "https") or 0 < self.expires <= now:
            return False
        # §5.1.4: the path is a prefix that ends at a slash
        return path.startswith(self.path) and (self.path[-1] == "/" or path[len(self.path) :][:1] in ("", "/", "?"))


class Cookies:
    """The cookies of a file, by domain."""

    def __init__(self, fetch: config.FetchOptions) -> None:
        self._by_domain = read(Path(fetch.cookies_file)) if fetch.cookies_file else {}

    def header(self, scheme: str, host: str, path: str, now: float) -> str:
        """Return the value of the Cookie header of a request, the cookies of longer paths first; "" for none."""
        if not self._by_domain:
            return ""
        sent: list[Cookie] = []
        name, exact = host, True
        while name:
            cookies = self._by_domain.get(name, ())
            sent += [cookie for cookie in cookies if cookie.goes_to(exact, scheme, path, now)]
            name, exact = name.partition(".")[2], False
        sent.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(cookie.pair for cookie in sent)


def read(path: Path) -> dict[str, list[Cookie]]:
    """Read a file of cookies. A message about it names the line and never its text: that is a secret."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise config.ConfigError(
            f"fetch.cookies_file: cannot read {path} ({reason}); give a cookies.txt in Netscape's format, or none"
        ) from None
    by_domain: dict[str, list[Cookie]] = {}
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(_HTTP_ONLY)
        if not line.strip() or line.startswith("#"):
            continue
        cookie = _cookie(line)
        if cookie is None:
            raise config.ConfigError(f"{path}, line {number}: not a cookie; {_FIX}")
        by_domain.setdefault(line.partition("\t")[0].lower().lstrip("."), []).append(cookie)
    return by_domain


def _cookie(line: str) -> Cookie | None:
    columns = line.split("\t")
    if len(columns) == 6:
        columns.append("")  # an empty value at the end of a line
    if len(columns) != 7 or {columns[1].upper(), columns[3].upper()} - {"TRUE", "FALSE"}:
        return None
    domain, below, path, secure, expires, name, value = columns
    pair = f"{name}={value}" if name else value
    if (
        not domain.strip(".")
        or path[:1] != "/"
        or _UNSENDABLE.search(pair)
        or not re.fullmatch(r"-?\d+(\.\d+)?", expires)
    ):
        return None
    return Cookie(pair, path, below.upper() == "TRUE", secure.upper() == "TRUE", max(0.0, float(expires)))
