"""Which documents of a corpus an export takes: by language, host, time, score and signal, and by the takedown list."""

import dataclasses
import datetime
import re
import typing
from collections.abc import Callable, Sequence

from windrow import urls
from windrow.config import ConfigError, Profile, SignalsOptions
from windrow.judge import signals
from windrow.judge.language import codes
from windrow.records import Document
from windrow.takedown import Takedown

_TIME = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?Z?)?)?)?")
_SIGNAL = re.compile(r"[A-Za-z0-9_.*-]+(=.*)?")


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """The filters as the user wrote them; an empty one accepts every document."""

    languages: Sequence[str] = ()  # codes or names
    tlds: Sequence[str] = ()
    domains: Sequence[str] = ()  # with all hosts below them
    since: str = ""  # time of the request: a year, month, day or moment
    until: str = ""  # included
    date_from: str = ""  # date of publication, where the page states one
    date_to: str = ""
    least: Sequence[str] = ()  # "score=value", for a score of any judge
    most: Sequence[str] = ()
    signals: Sequence[str] = ()  # "name" or "name=value": only documents with one of these
    without: Sequence[str] = ()  # no documents with any of these
    profile: str = ""  # a value of [signals] profile: leave out the documents that it refuses


Keeps = Callable[[Document], bool]  # whether a filter accepts the document


class Filter:
    """The filters by name, in the order in which they run."""

    def __init__(self, wanted: Wanted, takedown: Takedown) -> None:
        self.scores: set[str] = set()  # names of the scores that documents had so far
        self.score_options: dict[str, str] = {}  # name of a score -> the option that names it
        self.languages = [codes.parse(code) for code in wanted.languages]
        self._filters: list[tuple[str, Keeps]] = []
        self._add("takedown", takedown, lambda document: not takedown.covers(document.url))
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
        """Return the name of the filter that leaves the document out; "" if it passes all of them."""
        if self.score_options:
            self.scores.update(document.scores)
        return next((name for name, keeps in self._filters if not keeps(document)), "")

    def unknown(self) -> str:
        """Return a score that an option names and that no document had; "" if there is none."""
        return next((name for name in self.score_options if name not in self.scores), "")

    def _add(self, name: str, given: object, keeps: Keeps) -> None:
        if given:
            self._filters.append((name, keeps))

    def _by_place(self, wanted: Wanted) -> None:
        tlds = {_ascii(tld.lstrip("."), "--tld") for tld in wanted.tlds}
        domains = {_ascii(name, "--domain") for name in wanted.domains}
        self._add("tld", tlds, lambda document: urls.tld(urls.host_of(document.url)) in tlds)
        self._add("domain", domains, lambda document: urls.below(urls.host_of(document.url), domains))

    def _by_time(self, wanted: Wanted) -> None:
        since, until = _time(wanted.since, "--since"), _time(wanted.until, "--until")
        first, last = _time(wanted.date_from, "--date-from")[:10], _time(wanted.date_to, "--date-to")[:10]
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
                pair = f"--min-score {name}={over} and --max-score {name}={limit:g}"
                raise ConfigError(f"no document fits both {pair}; change one of them")

    def _add_score(self, name: str, limit: float, sign: int) -> None:
        """Leave out documents without the score too: whether they would fit is unknown."""
        self.score_options[name] = "--min-score" if sign > 0 else "--max-score"
        self._add(
            f"score {name}",
            name,
            lambda document: name in document.scores and sign * (document.scores[name] - limit) >= 0,
        )

    def _by_signal(self, wanted: Wanted) -> None:
        for text in (*wanted.signals, *wanted.without):
            if not _SIGNAL.fullmatch(text):
                raise ConfigError(f"{text!r} is not a signal; write its name, or name=value: noindex, train-ai=n")
        self._add("signal", wanted.signals, lambda document: any(_has(document, text) for text in wanted.signals))
        self._add(
            "without signal", wanted.without, lambda document: not any(_has(document, text) for text in wanted.without)
        )
        if wanted.profile:
            options = _profile(wanted.profile)
            self._add("profile", options, lambda document: not signals.refuses(document.signals, options))


def _ascii(name: str, option: str) -> str:
    url = urls.parse(f"http://{name.strip().lower()}/")
    if url is None or url.text != f"http://{url.host}/":
        raise ConfigError(f"{option} {name!r} is not a DNS name; write a name such as example.org")
    return url.host


def _time(text: str, option: str) -> str:
    """Check a time and return it as documents write it, to the precision that was given."""
    if not text:
        return ""
    match = _TIME.fullmatch(text.strip())
    try:
        year, *rest = (int(part) for part in (match.groups("1") if match else ()))
        datetime.datetime(year, rest[0], rest[1], *(rest[2:] if match and match[4] else ()))
    except (ValueError, TypeError):
        raise ConfigError(
            f"{option} {text!r} is not a time; write it as 2026, 2026-11, 2026-11-15 or 2026-11-15T10:44"
        ) from None
    return text.strip().replace(" ", "T").removesuffix("Z")


def _check_order(option: str, first: str, other: str, last: str) -> None:
    if first and last and first[: len(last)] > last:
        raise ConfigError(f"no document fits both {option} {first} and {other} {last}; change one of them")


def _score(text: str, option: str) -> tuple[str, float]:
    """Split at the last "=": the name of a score may be anything that a judge gave it."""
    name, _, value = text.rpartition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = float("nan")
    if not name.strip() or limit != limit:
        raise ConfigError(f"{option} {text!r} is not name=value; write it as in {option} language=0.9")
    return name.strip(), limit


def _has(document: Document, text: str) -> bool:
    """Compare with the signals as written and with their meaning: "none" includes noindex."""
    name, equals, value = text.partition("=")
    all_signals = (*document.signals, *signals.effective(document.signals))
    return any(signal.name == name and (not equals or signal.value == value) for signal in all_signals)


def _profile(name: str) -> SignalsOptions:
    if name not in typing.get_args(Profile):
        raise ConfigError(f"--profile {name!r} is unknown; it must be one of {', '.join(typing.get_args(Profile))}")
    return SignalsOptions(profile=typing.cast(Profile, name))
