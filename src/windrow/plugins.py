"""Load the user's own code, such as an extractor or a judge, which crawl.toml names as "package.module:name".

The module is an installed one or a file beside crawl.toml. Loading the options turns the second kind into
"/path/of/the/crawl/module:name", so the reference holds everything that a worker process or another machine needs.

A plug-in, ours or the user's, is made by a function `build(options, inner)`. A row of an open table gets the options of
Windrow; the user's function, known by the names of these two parameters, gets its section [plugins.NAME]. `inner` is
what the user's code can wrap: a built-in one, made as if the option had named it. Any other object is used as it is.
"""

import difflib
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar, cast

import msgspec

from windrow.config import ConfigError

_Options = TypeVar("_Options")
_Made = TypeVar("_Made")

Sections = Mapping[str, Mapping[str, Any]]  # Config.plugins

_OWN = frozenset({"use", "inner"})  # what Windrow itself reads of a section
_FRAMES = 12  # of a traceback that are shown
_MESSAGE = 500  # characters
_references: dict[str, list[str]] = {}  # by the file of a loaded module


class OpenTable(NamedTuple, Generic[_Options, _Made]):
    """The built-in plug-ins of an option. The option accepts the user's own code too."""

    option: str  # for messages
    rows: Mapping[str, Callable[[_Options, _Made | None], _Made]]
    inner: str = ""  # the row that the user's code gets as `inner`, unless its section names another; "": none


class PluginFault(msgspec.Struct, frozen=True, array_like=True):
    """An error of the user's code."""

    plugin: str  # its reference
    error: str  # the name of the exception's class
    place: str  # file and line
    message: str
    trace: str  # from the user's code on

    @property
    def key(self) -> tuple[str, str, str]:
        """What equal errors have in common."""
        return self.plugin, self.error, self.place

    def __str__(self) -> str:
        return f"{self.plugin} failed at {self.place}: {self.error}: {self.message}"

    @property
    def report(self) -> str:
        """What the user must know."""
        return f"{self}; correct the code and run the same command again\n{self.trace}".rstrip()


class WrongResult(TypeError):
    """The user's code returned what cannot be used."""

    def __init__(self, problem: str, reference: str, code: object) -> None:
        super().__init__(problem)
        self.reference, self.code = reference, code


def build(table: OpenTable[_Options, _Made], name: str, sections: Sections, options: _Options) -> _Made:
    """Return the plug-in of this name: a row of the table, a section with `use`, or a reference."""
    if name in table.rows and "use" not in sections.get(name, {}):
        return table.rows[name](options, None)
    names = [*table.rows, *(own for own, section in sections.items() if "use" in section)]
    made = load(reference(name, sections), table.option, names)
    section = section_of(name, sections)
    if not _is_builder(made):
        if section.keys() - {"use"}:
            fix = f"write it as def {name.rpartition(':')[2]}(options, inner), which returns what is used now"
            raise ConfigError(f"{reference(name, sections)} takes no options, and [plugins] has some for it; {fix}")
        return cast(_Made, made)
    inner = section.get("inner", table.inner)
    if inner and inner not in table.rows:
        raise ConfigError(f"[plugins] {name}: there is no {inner!r} to wrap; inner is one of {', '.join(table.rows)}")
    wrapped = table.rows[inner](options, None) if inner else None
    try:
        return cast(_Made, made({key: value for key, value in section.items() if key not in _OWN}, wrapped))
    except ConfigError:
        raise
    except Exception as error:  # the user's code may raise anything
        raise ConfigError(f"{_called(table.option)}: {fault(error)}; correct the code or its options") from error


def reference(name: str, sections: Sections) -> str:
    """Return the reference that a name stands for."""
    return str(sections.get(name, {}).get("use", name))


def section_of(name: str, sections: Sections) -> Mapping[str, Any]:
    """Return the options of the code that a name or a reference stands for."""
    section = sections.get(name.rpartition(":")[2], {})
    return {} if ":" in name and section.get("use", name) != name else section


def _is_builder(made: object) -> bool:
    try:
        return callable(made) and [*inspect.signature(made).parameters] == ["options", "inner"]
    except ValueError:  # a function of C that does not say
        return False


def load(reference: str, option: str, names: Iterable[str] = ()) -> Any:
    """Return the object that a reference names; ConfigError where there is none.

    Messages name `option`, which holds the reference, and `names`, which the option also accepts.
    """
    module, colon, name = reference.rpartition(":")
    place = f"{_called(option)} names {reference!r}"
    if not (colon and module and name):
        fix = 'write "package.module:name" for your own code'
        fix += f"; the known names are {', '.join(names)}" if (names := [*names]) else ""
        near = difflib.get_close_matches(reference, names, 1)
        fix += f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{place}, which is not a reference; {fix}")
    imported = _import(module, place)
    file = getattr(imported, "__file__", None) or module
    if reference not in _references.setdefault(file, []):
        _references[file].append(reference)
    try:
        return getattr(imported, name)
    except AttributeError:
        raise ConfigError(f"{place}, but {file} defines no {name!r}; correct the name after the colon") from None


def _called(option: str) -> str:
    return option if option.startswith("--") else f"option '{option}'"


def _import(module: str, place: str) -> ModuleType:
    directory, _, module = module.rpartition("/")
    if directory and directory not in sys.path:
        sys.path.append(directory)  # at the end: a user's file must not replace a module of a library
        importlib.invalidate_caches()
    try:
        imported = importlib.import_module(module)
    except Exception as error:  # the user's module may raise anything
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            fix = "put its file beside crawl.toml, install its package, or correct the name before the colon"
            raise ConfigError(f"{place}, but there is no module {error.name!r}; {fix}") from None
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"{place}, but its module cannot be imported ({problem}); correct the module") from error
    file = getattr(imported, "__file__", None)
    if directory and file and not Path(file).is_relative_to(directory):
        raise ConfigError(f"{place}, but {file} is a module of the same name; give your file another name")
    return imported


def fault(error: BaseException) -> PluginFault | None:
    """Return what went wrong in the user's code; None if none of it had a part in the error."""
    try:
        message = " ".join(str(error).split()).encode("utf-8", "replace").decode()[:_MESSAGE]
    except Exception:  # the user's class may not even have a text
        message = ""
    if isinstance(error, WrongResult):
        return PluginFault(error.reference, "WrongResult", _definition(error.code), message, "")
    steps = [(step.f_code, line) for step, line in traceback.walk_tb(error.__traceback__)]
    own = [index for index, (code, _) in enumerate(steps) if code.co_filename in _references]
    if not own:
        return None
    code, line = steps[own[-1]]
    names = {code.co_qualname.partition(".")[0] for code, _ in steps}
    references = _references[code.co_filename]
    plugin = next((reference for reference in references if reference.rpartition(":")[2] in names), references[0])
    shown = traceback.extract_tb(error.__traceback__)[own[0] :][-_FRAMES:]
    trace = "".join([*traceback.format_list(shown), f"{type(error).__name__}: {message}"])
    return PluginFault(plugin, type(error).__name__, f"{code.co_filename}, line {line}", message, trace)


def _definition(code: object) -> str:
    """Return where an object is defined."""
    try:
        defined: Any = code if inspect.isroutine(code) or inspect.isclass(code) else type(code)
        return f"{inspect.getsourcefile(defined)}, line {inspect.getsourcelines(defined)[1]}"
    except (OSError, TypeError):
        return "an unknown place"
