"""Which documents of a corpus are wanted: by language, place, time, score and signal; and which were taken down and never are."""

import dataclasses
import datetime
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from windrow import urls
from windrow.config import ConfigError, Profile, Signals
from windrow.corpus.document import host
from windrow.data import Document
from windrow.judge import signals
from windrow.judge.language import codes

TAKEDOWN = "takedown.txt"  # in a crawl's directory

_TIME = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?Z?)?)?)?")
_SIGNAL = re.compile(r"[A-Za-z0-9_.*-]+(=.*)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """As it was asked for; empty: no matter."""

    languages: Sequence[str] = ()  # codes or names
    tlds: Sequence[str] = ()
    domains: Sequence[str] = ()  # with all hosts below them
    since: str = ""  # of the request; a day, a month, or a moment
    until: str = ""  # included
    date_from: str = ""  # of publication, as far as the page told it
    date_to: str = ""
    least: Sequence[str] = ()  # "score=value"
    most: Sequence[str] = ()
    signals: Sequence[str] = ()  # "name" or "name=value": only documents with one of these
    without: Sequence[str] = ()  # no documents with any of these
    profile: str = ""  # one of [signals] profile: what it refuses is left out


Rule = Callable[[Document], bool]  # whether the document stays


class Filter:
    """The rules by name, in the order in which they are asked."""

    def __init__(self, wanted: Wanted, takedown: "Takedown") -> None:
        self.scores: set[str] = set()  # names of scores that were met
        self.asked: dict[str, str] = {}  # name of a score -> the option that asks for it
        self.languages = [codes.parse(code) for code in wanted.languages]
        self._rules: list[tuple[str, Rule]] = (
            [("takedown", lambda document: not takedown.covers(document))] if takedown else []
        )
        self._add(
            "language",
            self.languages,
            lambda document: any(codes.covers(code, document.language) for code in self.languages),
        )
        self._by_place(wanted)
        self._by_time(wanted)
        self._by_score(wanted)
        self._by_signal(wanted)

    def refuses(self, document: Document) -> str:
        """The rule that leaves it out; "" where none does."""
        if self.asked:
            self.scores.update(document.scores)
        return next((name for name, stays in self._rules if not stays(document)), "")

    def unknown(self) -> str:
        """Of the scores asked for, one that no document has."""
        return next((name for name in self.asked if name not in self.scores), "")

    def _add(self, name: str, asked: object, rule: Rule) -> None:
        if asked:
            self._rules.append((name, rule))

    def _by_place(self, wanted: Wanted) -> None:
        tlds = {_ascii(tld.lstrip("."), "--tld") for tld in wanted.tlds}
        domains = {_ascii(name, "--domain") for name in wanted.domains}
        self._add("tld", tlds, lambda document: urls.tld(host(document.url)) in tlds)
        self._add("domain", domains, lambda document: _below(host(document.url), domains))

    def _by_time(self, wanted: Wanted) -> None:
        since, until = _moment(wanted.since, "--since"), _moment(wanted.until, "--until")
        first, last = _moment(wanted.date_from, "--date-from")[:10], _moment(wanted.date_to, "--date-to")[:10]
        _check_order("--since", since, "--until", until)
        _check_order("--date-from", first, "--date-to", last)
        self._add("since", since, lambda document: document.time >= since)
        self._add("until", until, lambda document: document.time[: len(until)] <= until)
        self._add("date", first, lambda document: bool(document.date) and document.date >= first)
        self._add("date", last, lambda document: bool(document.date) and document.date[: len(last)] <= last)

    def _by_score(self, wanted: Wanted) -> None:
        least = [_score(text, "--min-score") for text in wanted.least]
        most = [_score(text, "--max-score") for text in wanted.most]
        for name, limit in least:
            self._add_score(name, limit, 1)
        for name, limit in most:
            self._add_score(name, limit, -1)
            over = next((f"{other:g}" for same, other in least if same == name and other > limit), "")
            if over:
                raise ConfigError(
                    f"no document fits both --min-score {name}={over} and --max-score {name}={limit:g}; change one of them"
                )

    def _add_score(self, name: str, limit: float, sign: int) -> None:
        """A document without the score is not known to fit, so it does not."""
        self.asked[name] = "--min-score" if sign > 0 else "--max-score"
        self._add(
            f"score {name}",
            name,
            lambda document: name in document.scores and sign * (document.scores[name] - limit) >= 0,
        )

    def _by_signal(self, wanted: Wanted) -> None:
        for text in (*wanted.signals, *wanted.without):
            if not _SIGNAL.fullmatch(text):
                raise ConfigError(f"{text!r} is no signal; write its name, or name=value: noindex, train-ai=n")
        self._add("signal", wanted.signals, lambda document: any(_says(document, text) for text in wanted.signals))
        self._add(
            "without signal", wanted.without, lambda document: not any(_says(document, text) for text in wanted.without)
        )
        if wanted.profile:
            options = _profile(wanted.profile)
            self._add("profile", options, lambda document: not signals.refuses(document.signals, options))


class Takedown:
    """Pages, hosts and domains that are not to be given on."""

    def __init__(self) -> None:
        self._names: set[str] = set()  # hosts and domains
        self._pages: set[str] = set()  # URLs without scheme
        self._starts: tuple[str, ...] = ()  # the same, for all that begin so

    def __bool__(self) -> bool:
        return bool(self._names or self._pages or self._starts)

    def read(self, path: Path) -> None:
        """One URL, host or domain a line; # begins a comment; * at the end of a URL stands for anything."""
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise ConfigError(f"{path} is not UTF-8; it must have one URL, host or domain a line") from None
        for number, line in enumerate(lines, 1):
            entry = re.sub(r"(^|\s)#.*", "", line).strip()
            if entry and not self._add(entry):
                raise ConfigError(
                    f"{path}, line {number}: {entry!r} is neither a URL nor a host or domain; mend or remove that line"
                )

    def covers(self, document: Document) -> bool:
        if _below(host(document.url), self._names):
            return True
        page = _schemeless(document.url)
        return page in self._pages or page.startswith(self._starts or ("\n",))

    def _add(self, entry: str) -> bool:
        page = "//" in entry or "/" in entry
        bare = entry.removeprefix("*.")
        if len(bare.split()) > 1:
            return False
        url = urls.parse((bare if "//" in bare else f"http://{bare}").removesuffix("*"))
        if url is None or ("." not in url.host and "[" not in url.host and url.host != "localhost"):
            return False
        if not page:
            self._names.add(url.host)
        elif entry.endswith("*"):
            self._starts += (_schemeless(url.text),)
        else:
            self._pages.add(_schemeless(url.text))
        return True


def _schemeless(url: str) -> str:
    return url.partition("//")[2]


def _below(name: str, names: Iterable[str]) -> bool:
    """Whether a host, or a domain above it, is among the names."""
    while name:
        if name in names:
            return True
        name = name.partition(".")[2]
    return False


def _ascii(name: str, option: str) -> str:
    url = urls.parse(f"http://{name.strip().lower()}/")
    if url is None or url.text != f"http://{url.host}/":
        raise ConfigError(f"{option} {name!r} is not a name in the DNS; write it as in example.org")
    return url.host


def _moment(text: str, option: str) -> str:
    """As in documents, as far as it was given."""
    if not text:
        return ""
    found = _TIME.fullmatch(text.strip())
    try:
        year, *rest = (int(part) for part in (found.groups("1") if found else ()))
        datetime.datetime(year, rest[0], rest[1], *(rest[2:] if found and found[4] else ()))
    except (ValueError, TypeError):
        raise ConfigError(
            f"{option} {text!r} is not a time; write it as 2026, 2026-11, 2026-11-15 or 2026-11-15T10:44"
        ) from None
    return text.strip().replace(" ", "T").removesuffix("Z")


def _check_order(option: str, first: str, other: str, last: str) -> None:
    if first and last and first[: len(last)] > last:
        raise ConfigError(f"no document fits both {option} {first} and {other} {last}; change one of them")


def _score(text: str, option: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if not name.strip() or limit != limit:
        raise ConfigError(f"{option} {text!r} is not name=value; write it as in {option} language=0.9")
    return name.strip(), limit


def _says(document: Document, text: str) -> bool:
    name, equals, value = text.partition("=")
    said = (
        *document.signals,
        *signals.effective(document.signals),
    )  # as it stands there, and as it is meant: "none" is noindex too
    return any(found.name == name and (not equals or found.value == value) for found in said)


def _profile(name: str) -> Signals:
    if name not in ("research", "training", "record-only"):
        raise ConfigError(f"--profile {name!r} is unknown; it must be research, training or record-only")
    return Signals(profile=typing.cast(Profile, name))
