"""The state of a job, as operators and nodes share it in Redis: whether it is to run, and up to which limits."""

from collections.abc import Mapping, Sequence

import msgspec

RUN, PAUSE, STOP, FORGET = "run", "pause", "stop", "forget"  # what may be wanted of a job
_LIMIT = "limit:"  # begins the fields of the hash that hold limits


class JobState(msgspec.Struct, frozen=True):
    """What the operator wants of a job. The highest version holds, so a copy may be put back at any time."""

    wanted: str  # "run", "pause" or "stop"; "forget": end its shards, and never put it back
    version: int  # milliseconds of Redis's clock at which this began to hold, or more
    limits: dict[str, int | float] = {}  # by name, as in `nodes.limits`: all shards together end at the first of them
    limit: str = ""  # the one that was reached, so that a node has stopped the job
    ran: int = 0  # milliseconds before this version in which the job was not stopped

    @property
    def runs(self) -> bool:
        """Whether processes of the job are wanted."""
        return self.wanted in (RUN, PAUSE)

    def seconds(self, now: float) -> float:
        """Return for how long the job was not stopped until now, by Redis's clock."""
        return self.ran / 1000 + (max(0.0, now - self.version / 1000) if self.runs else 0.0)


def words(state: JobState) -> list[str | int]:
    """Return the fields of the hash and their values, one after another."""
    fields: Mapping[str, str | int] = {
        "wanted": state.wanted,
        "version": state.version,
        "limit": state.limit,
        "ran": state.ran,
        **{f"{_LIMIT}{name}": repr(value) for name, value in state.limits.items()},
    }
    return [word for pair in fields.items() for word in pair]


def decoded(answer: Sequence[bytes]) -> JobState | None:
    """Return the state behind the fields of the hash; None if there is none, or if it is damaged."""
    try:
        return _decoded(answer)
    except ValueError:
        return None


def _decoded(answer: Sequence[bytes]) -> JobState | None:
    texts = [word.decode("utf-8", "replace") for word in answer]
    fields = dict(zip(texts[::2], texts[1::2], strict=True))
    if not fields.get("wanted") or not fields.get("version"):
        return None
    limits = {name.removeprefix(_LIMIT): value for name, value in fields.items() if name.startswith(_LIMIT)}
    return JobState(
        fields["wanted"],
        int(fields["version"]),
        limits={name: msgspec.json.decode(value, type=int | float) for name, value in limits.items()},
        limit=fields.get("limit", ""),
        ran=int(fields.get("ran", 0)),
    )
