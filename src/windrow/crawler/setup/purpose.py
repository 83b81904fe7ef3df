"""What a directory of `windrow corpus` was made for: the same command continues it, another one is refused.

The record is written before crawl.toml and does not change after it. The size of the corpus and the format of its
export are no part of it: both may differ the next time.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import files
from windrow.config import ConfigError
from windrow.records import Url

FILE = "purpose.json"


class Purpose(msgspec.Struct, frozen=True):
    """A topic, languages and seeds."""

    seeds: str  # SHA-256 of the seed URLs
    languages: tuple[str, ...] = ()  # ISO 639-3, the primary one first
    topic: str = ""  # SHA-256 of the topic's files; "": no topic
    topic_names: tuple[str, ...] = ()  # of these files, for people


def of(seeds: Sequence[Url], languages: Sequence[str], topic: Sequence[Path]) -> Purpose:
    digest = _digest("\n".join(sorted(url.text for url in seeds)).encode())
    texts = [_digest(path.read_bytes()) for path in topic]
    return Purpose(
        seeds=digest,
        languages=tuple(languages),
        topic=_digest("".join(texts).encode()) if texts else "",
        topic_names=tuple(path.name for path in topic),
    )


def claim(directory: Path, purpose: Purpose) -> None:
    """Take a directory for this purpose, or refuse one that has another."""
    path = directory / FILE
    if not (directory / "crawl.toml").exists():  # until then a purpose may be replaced: the user corrected the command
        directory.mkdir(parents=True, exist_ok=True)
        files.write(path, msgspec.json.format(msgspec.json.encode(purpose)) + b"\n")
    elif path.exists():
        if differs := _difference(_read(path), purpose):
            raise ConfigError(f"{directory} was made for {differs}; name another directory with -o")
    else:
        fix = f"continue it with `windrow crawl {directory} --max-tokens N`, or name another directory with -o"
        raise ConfigError(f"{directory} holds a crawl that `windrow corpus` did not make; {fix}")


def _read(path: Path) -> Purpose:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Purpose)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); restore it, or name another directory with -o") from None


def _difference(earlier: Purpose, purpose: Purpose) -> str:
    """Return what is different in the earlier purpose; "" if they are the same."""
    if earlier.topic != purpose.topic:
        return f"another topic (of {', '.join(earlier.topic_names)})" if earlier.topic else "no topic"
    if earlier.languages != purpose.languages:
        return f"other languages ({', '.join(earlier.languages)})" if earlier.languages else "all languages"
    return "other seeds" if earlier.seeds != purpose.seeds else ""


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
