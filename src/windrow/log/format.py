"""The log as a format: a frame to bytes and back.

A frame is one gzip member of JSON lines. The first line, the head, holds the fields of the frame itself: its number and
the length of every other file at this commit. Each further line is an entry. Both are derived from the records of
`windrow.records`: a field that is added to Frame, Entry, Report or Task is in the log without an edit here.

- A field keeps its name and is left out while it has its default.
- The fields of an Entry's Report, and of its Task, stand in one line.
- A Url is its text, a Place is [file, offset, length], an admitted Task is an array, see `Admitted`.
"""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple, get_args

import msgspec
from isal import igzip_lib

from windrow import urls
from windrow.records import Entry, Frame, History, Place, Reason, Report, Task, Url

Head = Any  # struct derived from Frame: frame, time, lengths, seeds, …
Line = Any  # struct derived from Entry, its Report and its Task: url, reason, time, …

START = b'{"frame":'  # of the text of every frame
_HEAD_NAMES = {"number": "frame"}
_FLATTENED = (Report, Task)  # a field of such a type puts its own fields into the line
_UNWRITTEN = ((Report, "links"), (Report, "refused"))  # the Entry says what the frontier made of them
_EMPTY = {int: 0, str: ""}  # a required number or text of a report is left out when it is zero or empty


class _Codec(NamedTuple):
    """How a field is written when its own type is not what the line holds."""

    type: Any  # in the line
    write: Callable[[Any], Any]
    read: Callable[[Any, Line], Any]  # takes the written value, and the line around it


class _Field(NamedTuple):
    """A field of a line."""

    name: str
    path: str  # from the record to the value
    type: Any
    default: Any  # msgspec.NODEFAULT: the field is always written
    codec: _Codec | None


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


def _struct(name: str, fields: Iterable[tuple[str, Any, Any]], array_like: bool = False) -> Any:
    made = [field[:2] if field[2] is msgspec.NODEFAULT else field for field in fields]
    return msgspec.defstruct(name, made, omit_defaults=True, array_like=array_like, gc=False)


# An admitted task is always a page on its first attempt, and the `via` of a link is the URL of its report. These fields
# come last: the array of a link ends before `via`, the array of a seed after it, and reading fills in the rest.
# `embed`, `hints` and `request` follow `via`: few links have them.
_IMPLIED = ("via", "embed", "hints", "request", "kind", "attempt", "file", "history")
_TASK = {field.name: field for field in msgspec.structs.fields(Task)}
_WRITTEN = [name for name in _TASK if name not in _IMPLIED]
_URL, _VIA = list(_TASK).index("url"), list(_TASK).index("via")

Admitted = _struct(
    "Admitted",
    [
        (name, str if _TASK[name].type is Url else _TASK[name].type, _default(_TASK[name]))
        for name in (*_WRITTEN, *_IMPLIED)
    ],
    array_like=True,
)


class AdmittedUrl(msgspec.Struct, array_like=True, gc=False):
    """The URL of an admitted task, for a `view`: the rest of the array is skipped."""

    url: str


_paths = {name: f"{name}.text" if field.type is Url else name for name, field in _TASK.items()}
_link = attrgetter(*[_paths[name] for name in _WRITTEN])
_seed = attrgetter(*[_paths[name] for name in (*_WRITTEN, "via")])


def _written(task: Task) -> Any:
    if task.request:
        return (*_link(task), "", task.embed, task.hints, task.request)
    if task.hints:
        return (*_link(task), "", task.embed, task.hints)
    return (*_link(task), "", task.embed) if task.embed else _link(task)


def _written_seed(task: Task) -> Any:
    """A link that another shard has sent is written like a seed, with all that its page said of it."""
    if task.request:
        return (*_seed(task), task.embed, task.hints, task.request)
    if task.hints:
        return (*_seed(task), task.embed, task.hints)
    return (*_seed(task), task.embed) if task.embed else _seed(task)


_task_fields = attrgetter(*_TASK)


def _task(admitted: Any, via: str) -> Task:
    values = list(_task_fields(admitted))
    values[_URL], values[_VIA] = urls.restored(admitted.url), via
    return Task(*values)


def _earlier(history: History | None) -> tuple[int, str] | None:
    """Return what a line says of earlier visits: their number, and how the last one ended. Their own lines have the
    rest, and a replay finds it in the store."""
    return (history.visits, history.reason.value) if history is not None and history.visits else None


def _history(earlier: tuple[int, str] | None, line: Line) -> History | None:
    return None if earlier is None else History(visits=earlier[0], reason=Reason(earlier[1]))


_ARRAYS: Any = list.__class_getitem__(Admitted)
_NUMBERS: Any = tuple.__class_getitem__(tuple(field.type for field in msgspec.structs.fields(Place)))
_IN_REPORT: Mapping[Any, _Codec] = {
    Url: _Codec(str, lambda url: url.text, lambda text, _: urls.restored(text)),
    Url | None: _Codec(
        str | None,
        lambda url: None if url is None else url.text,
        lambda text, _: None if text is None else urls.restored(text),
    ),
    Place | None: _Codec(
        _NUMBERS | None,
        lambda place: None if place is None else msgspec.structs.astuple(place),
        lambda values, _: None if values is None else Place(*values),
    ),
    History | None: _Codec(tuple[int, str] | None, _earlier, _history),
    tuple[Task, ...]: _Codec(
        _ARRAYS,
        lambda tasks: [_written(task) for task in tasks],
        lambda links, line: tuple([_task(link, line.url) for link in links]),
    ),
}
_ENTRIES = next(field.type for field in msgspec.structs.fields(Frame) if field.name == "entries")
_IN_FRAME: Mapping[Any, _Codec] = {
    tuple[Task, ...]: _Codec(
        _ARRAYS,
        lambda tasks: [_written_seed(task) for task in tasks],
        lambda seeds, _: tuple([_task(seed, seed.via) for seed in seeds]),
    ),
    _ENTRIES: _Codec(list[None], lambda entries: [], lambda empty, _: ()),  # they follow as lines of their own
}


class _Form:
    """A record as a line, and back. Most fields are copied in one call; only those with a codec cost more."""

    def __init__(self, record: type, codecs: Mapping[Any, _Codec]) -> None:
        self._codecs = codecs
        self._record = record
        self._nested: list[tuple[type, int, int]] = []  # a flattened record, and where its fields begin and end
        self.fields = self._flat(record, "", 0)
        ordered = sorted(self.fields, key=lambda field: field.default is not msgspec.NODEFAULT)  # as a struct wants it
        self._struct = _struct(record.__name__, [(field.name, field.type, field.default) for field in ordered])
        self._values = attrgetter(*[field.path for field in ordered])
        self._named = attrgetter(*[field.name for field in self.fields])
        self._writes = [(n, field.codec.write) for n, field in enumerate(ordered) if field.codec]
        self._reads = [(n, field.codec.read) for n, field in enumerate(self.fields) if field.codec]
        self.decode = msgspec.json.Decoder(self._struct).decode

    def _flat(self, record: type, path: str, start: int) -> list[_Field]:
        found: list[_Field] = []
        for field in msgspec.structs.fields(record):
            inner = f"{path}{field.name}"
            if (record, field.name) in _UNWRITTEN:
                continue
            if field.type in _FLATTENED:
                fields = self._flat(field.type, f"{inner}.", start + len(found))
                written = [
                    each for each in msgspec.structs.fields(field.type) if (field.type, each.name) not in _UNWRITTEN
                ]
                self._nested.append((field.type, start + len(found), len(written)))
                found += fields
            else:
                found.append(self._field(record, field, inner))
        return found

    def _field(self, record: type, field: msgspec.structs.FieldInfo, path: str) -> _Field:
        codec, default = self._codecs.get(field.type), _default(field)
        if record is Frame:
            name = _HEAD_NAMES.get(field.name, field.name)
        else:
            name, default = field.name, _EMPTY.get(field.type, default) if default is msgspec.NODEFAULT else default
        if codec is None:
            return _Field(name, path, field.type, default, None)
        if codec.type in (_ARRAYS, list[None]):
            default = msgspec.field(default_factory=list)
        return _Field(name, path, codec.type, default, codec)

    def write(self, record: Any) -> Any:
        values = list(self._values(record))
        for index, write in self._writes:
            values[index] = write(values[index])
        return self._struct(*values)

    def read(self, line: Any) -> Any:
        values = list(self._named(line))
        for index, read in self._reads:
            values[index] = read(values[index], line)
        for nested, start, count in self._nested:
            values[start : start + count] = [nested(*values[start : start + count])]
        return self._record(*values)


_encode = msgspec.json.Encoder().encode
_HEADS = _Form(Frame, _IN_FRAME)
_LINES = _Form(get_args(_ENTRIES)[0], _IN_REPORT)
head: Callable[[bytes], Head] = _HEADS.decode
line: Callable[[bytes], Line] = _LINES.decode
entry: Callable[[Line], Entry] = _LINES.read


def view(*names: str, **types: Any) -> Callable[[bytes], Line]:
    """Return a decoder of these fields of a line only: JSON that nobody reads is skipped, which is cheap.

    types: fields that are read as another type than the record's.
    """
    fields = []
    for field in _LINES.fields:
        if kind := types.get(field.name):
            fields.append((field.name, kind, field.default if field.default is msgspec.NODEFAULT else kind()))
        elif field.name in names:
            fields.append((field.name, field.type, field.default))
    fields.sort(key=lambda field: field[2] is not msgspec.NODEFAULT)
    return msgspec.json.Decoder(_struct("View", fields)).decode


_sent = view("url", "sent")
SENT = b'"sent":'  # in the text of every line with links to other shards


def sent(text: bytes) -> tuple[Task, ...]:
    """Return the links of a line that belong to other shards."""
    found = _sent(text)
    return tuple([_task(link, found.url) for link in found.sent])


def quoted(text: str) -> bytes:
    """Return a text as the log writes it."""
    return _encode(text)


def encode(frame: Frame) -> bytes:
    """Return a frame as the gzip member that the log keeps."""
    lines = [_encode(_HEADS.write(frame))]
    lines += [_encode(_LINES.write(entry)) for entry in frame.entries]
    lines.append(b"")
    return bytes(igzip_lib.compress(b"\n".join(lines), 1, igzip_lib.COMP_GZIP))


def decode(text: bytes) -> Frame:
    """Return the frame behind the text of a member."""
    first, *rest = text.splitlines()
    frame: Frame = _HEADS.read(head(first))
    return msgspec.structs.replace(frame, entries=tuple([entry(line(text)) for text in rest]))
