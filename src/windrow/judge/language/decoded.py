"""py3langid's model, decoded once: all processes of a user map the same copy.

To decode it takes each process 0.5 s of CPU, most of it for LZMA, and 70 MB. To map the copy takes 10 ms, and its
memory is shared. The copy is a file in the user's cache directory, named by the digest of the model that it was made
from. It is never changed, and it may be removed at any time. A copy that is damaged, or that other users can change, is
made again; where none can be written, the process keeps what it has decoded. The answers are the same.
"""

import contextlib
import mmap
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import xxhash

_FORMAT = 1  # in the name of the copy: another version of Windrow may use another one
_DIGEST, _START = 16, 20  # bytes: the digest of all behind it; with the length of the layout, where the layout begins
_ALIGNED = 64  # bytes


class _Layout(msgspec.Struct):
    """What stands in a copy behind its digest; the arrays follow."""

    labels: list[str]
    arrays: list[tuple[str, list[int]]]  # type and shape


def directory() -> Path:
    """Return the user's directory for what can be made again, as freedesktop.org names it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "windrow"


def identifier(caches: Path) -> Any:
    """Return py3langid's identifier for all its languages. `caches`: the directory of the copy."""
    # Imported when first needed: with numpy it takes a tenth of a second.
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    model = MODEL_DIR / MODEL_FILE
    path = caches / f"py3langid-{_FORMAT}-{xxhash.xxh3_128_hexdigest(model.read_bytes())}"
    copy = _mapped(path)
    if copy is None:
        decoded = LanguageIdentifier.from_model_file(model, norm_probs=True)
        with contextlib.suppress(OSError):  # no home, no space, no right to write
            _write(path, decoded)
        copy = _mapped(path)
        if copy is None:
            return decoded
    labels, (features, priors, moves, rows, outputs) = copy
    # An element of a memory view is found as fast as one of the lists that py3langid makes, and is a number of Python.
    views = memoryview(moves), memoryview(outputs)
    return LanguageIdentifier(features, priors, labels, *views, norm_probs=True, tk_row=memoryview(rows))


def _mapped(path: Path) -> tuple[list[str], list[Any]] | None:
    """Return the labels and the arrays of a copy; None if there is none that can be trusted."""
    import numpy as np

    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                return None
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # ValueError: it is empty
        return None
    if held[:_DIGEST] != xxhash.xxh3_128_digest(memoryview(held)[_DIGEST:]):
        return None
    held.madvise(mmap.MADV_DONTNEED)  # most of it will not be read again
    at = _START + int.from_bytes(held[_DIGEST:_START], "little")
    layout = msgspec.msgpack.decode(held[_START:at], type=_Layout)
    arrays = []
    for kind, shape in layout.arrays:
        at = -(-at // _ALIGNED) * _ALIGNED
        arrays.append(np.frombuffer(held, kind, int(np.prod(shape)), at).reshape(shape))
        at += arrays[-1].nbytes
    return layout.labels, arrays


def _write(path: Path, decoded: Any) -> None:
    """Write a copy, complete or not at all. Of processes that do so at once, the first one is heard."""
    import numpy as np

    arrays = [
        *(decoded.nb_ptc, decoded.nb_pc),
        *(np.asarray(decoded.tk_nextmove), np.asarray(decoded.tk_row), np.asarray(decoded.tk_output, np.int32)),
    ]
    layout = _Layout(decoded.nb_classes, [(array.dtype.str, list(array.shape)) for array in arrays])
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.") as new:
        digest = xxhash.xxh3_128()
        new.write(bytes(_DIGEST))
        for part in _parts(layout, arrays):
            digest.update(part)
            new.write(part)
        new.seek(0)
        new.write(digest.digest())
        new.flush()
        if _mapped(path) is None:
            path.unlink(missing_ok=True)
            os.link(new.name, path)


def _parts(layout: _Layout, arrays: Sequence[Any]) -> list[bytes]:
    """Return what stands behind the digest."""
    head = msgspec.msgpack.encode(layout)
    parts, at = [len(head).to_bytes(_START - _DIGEST, "little"), head], _START + len(head)
    for array in arrays:
        parts += [bytes(-at % _ALIGNED), array.tobytes()]
        at += len(parts[-2]) + len(parts[-1])
    return parts
