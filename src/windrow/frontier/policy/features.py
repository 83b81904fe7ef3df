"""The features of a link, hashed into tables of a fixed size: those of its host, of its URL, and its hints.

Features are 32-bit numbers below SIZE, one after another in bytes. A table has one number per feature and model, those
of a feature side by side. They are computed by the C kernel `_features`, or by
the reference implementation here: the same numbers in twenty times the time.
"""

import contextlib
import functools
import math
import re
from array import array
from collections.abc import Callable, Iterable
from struct import Struct, unpack_from
from zlib import crc32

SIZE = 1 << 18  # features that a table holds apart
MODELS = 4  # numbers that a table has for each feature
WANTED, NAMES, TEXT, BYTES = range(MODELS)  # chance of wanted text, of a new host; bytes of the text, of the page
HEAD = 3  # bytes before the features of hints of odd length, see value.py

_MASK = SIZE - 1
_MOST = 80  # features of a link: the hints of a hostile log are cut
_WORDS = re.compile(rb"[a-z\x80-\xff]+")
_CODED = (b"lang", b"language", b"l", b"hl", b"locale")  # parameters whose values are codes of languages
_BIAS = 7
_NUMBER = Struct("=I")
_ROW = 4 * MODELS  # bytes of a feature in a table
_ZEROS = bytes(_ROW)
_SAVED = _NUMBER.size + 2 * _ROW

# Seeds of the hashes: one kind of feature is not another.
(_HOST, _DOMAIN, _SUFFIX, _LABEL, _PREFIX, _FOLDER, _ENDING, _WORD, _FORM, _NAME, _VALUE) = range(101, 112)


Totals = tuple[float, float, float, float]  # one number per model
Limits = tuple[float, float, float]  # least and largest logarithm of the text, largest difference of the density
# Chances of wanted text and of a new host, bytes of the text; the logit that all links to the host share, and by how
# much the logarithm of text per byte differs from what they share.
Expected = tuple[float, float, float, float, float]
BIAS = array("I", [_BIAS]).tobytes()  # the feature of every link


@functools.lru_cache(8192)
def of_host(host: str, domain: str) -> bytes:
    """Return the features that all links to a host share."""
    *labels, suffix = host.encode().split(b".")
    found = [_BIAS, crc32(host.encode(), _HOST), crc32(domain.encode(), _DOMAIN), crc32(suffix, _SUFFIX)]
    return _packed([*found, *[crc32(label, _LABEL) for label in labels[-4:]]])


def _of_page(text: str, host: str, hints: bytes) -> bytes:
    """Return the other features of a link to this URL."""
    lower = text.encode().lower()
    path, _, query = lower[lower.index(b"/", 8) + 1 :].partition(b"?")
    *folders, name = path.split(b"/")
    own = crc32(host.encode(), _PREFIX)
    found = [crc32(b"%d %d %d" % (len(folders), bool(name), bool(query)), _FORM)]
    prefix = own
    for folder in folders[:4]:
        prefix = crc32(folder, prefix)
        found.append(prefix)
    found += [crc32(folder, _FOLDER) for folder in folders[:6]]
    stem, *endings = name.split(b".")
    for ending in endings[-2:]:
        found += (crc32(ending, _ENDING), crc32(ending, own ^ _ENDING))
    found += [crc32(word, _WORD) for word in _WORDS.findall(stem)[:6]]
    if query:
        found += _of_query(query, own)
    start = HEAD if len(hints) & 1 else 0
    return _packed([*found, *unpack_from(f">{max(0, len(hints) - start) >> 1}H", hints, min(start, len(hints)))])


def _of_query(query: bytes, own: int) -> list[int]:
    found: list[int] = []
    for part in query.split(b"&")[:4]:
        name, _, value = part.partition(b"=")
        found += (crc32(name, _NAME), crc32(name, own ^ _NAME))
        if len(value) <= 5:
            found.append(crc32(value, crc32(name, _VALUE)))
    return found


def of_code(code: str) -> bytes:
    """Return the features that URLs with this code of a language have."""
    word = code.lower().encode()
    seeds = [_SUFFIX, _LABEL, _FOLDER, _ENDING, _WORD, *(crc32(name, _VALUE) for name in _CODED)]
    return _packed([crc32(word, seed) for seed in seeds])


def _packed(found: Iterable[int]) -> bytes:
    return array("I", [number & _MASK for number in found][:_MOST]).tobytes()


def _totals(weights: "array[float]", features: bytes) -> Totals:
    """Return the sums of the weights of these features, one per model."""
    sums = [0.0] * MODELS
    for feature in memoryview(features).cast("I"):
        for model in range(MODELS):
            sums[model] += weights[MODELS * feature + model]
    return sums[0], sums[1], sums[2], sums[3]


def chance(logit: float) -> float:
    """Return the probability of a logit."""
    return 1.0 / (1.0 + math.exp(-logit)) if logit > -30.0 else math.exp(logit)


def _expect(weights: "array[float]", shared: bytes, text: str, host: str, hints: bytes, limits: Limits) -> Expected:
    """Return what is expected of a link; `shared`: the features of its host."""
    least, most, widest = limits
    every, own = _totals(weights, shared), _totals(weights, _of_page(text, host, hints))
    return (
        chance(every[WANTED] + own[WANTED]),
        chance(every[NAMES] + own[NAMES]),
        math.exp(max(least, min(most, every[TEXT] + own[TEXT]))),
        every[WANTED],
        max(-widest, min(widest, own[TEXT] - own[BYTES])),
    )


def _step(
    weights: "array[float]",
    squares: "array[float]",
    features: bytes,
    model: int,
    error: float,
    rate: float,
    ease: float,
) -> None:
    """Move the weights of these features in a model against an error, each by the rate over the root of its squared
    errors."""
    move, more = rate * error, error * error
    for feature in memoryview(features).cast("I"):
        place = MODELS * feature + model
        total = squares[place] + more
        squares[place] = total
        weights[place] -= move / math.sqrt(total + ease)


def _save(weights: "array[float]", squares: "array[float]") -> bytes:
    """Return the features with a weight or a square other than 0, and these numbers: a small crawl has few."""
    left, right = weights.tobytes(), squares.tobytes()
    found = bytearray()
    for feature in range(SIZE):
        at = feature * _ROW
        one, other = left[at : at + _ROW], right[at : at + _ROW]
        if one != _ZEROS or other != _ZEROS:
            found += _NUMBER.pack(feature) + one + other
    return bytes(found)


def load(saved: bytes) -> tuple["array[float]", "array[float]"]:
    """Return the weights and squares that were saved."""
    weights, squares = bytearray(_ROW * SIZE), bytearray(_ROW * SIZE)
    if len(saved) % _SAVED:
        raise ValueError("this is no saved table")
    for start in range(0, len(saved), _SAVED):
        at = (_NUMBER.unpack_from(saved, start)[0] & _MASK) * _ROW
        middle = start + _NUMBER.size + _ROW
        weights[at : at + _ROW], squares[at : at + _ROW] = saved[middle - _ROW : middle], saved[middle : middle + _ROW]
    return array("f", bytes(weights)), array("f", bytes(squares))


of_page: Callable[[str, str, bytes], bytes] = _of_page
totals: Callable[["array[float]", bytes], Totals] = _totals
expect: Callable[["array[float]", bytes, str, str, bytes, Limits], Expected] = _expect
save: Callable[["array[float]", "array[float]"], bytes] = _save
step: Callable[["array[float]", "array[float]", bytes, int, float, float, float], None] = _step
with contextlib.suppress(ImportError):
    from windrow.frontier.policy import _features

    of_page, totals, expect, step = _features.of_page, _features.totals, _features.expect, _features.step
    save = _features.save
