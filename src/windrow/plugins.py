"""Load the user's own code, such as an extractor or a judge, which crawl.toml names as "package.module:name".

The module is an installed one or a file beside crawl.toml. Loading the options turns the second kind into
"/path/of/the/crawl/module:name", so the reference holds everything that a worker process or another machine needs.
"""

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from windrow.config import ConfigError


def load(reference: str, option: str, builtin: Iterable[str] = ()) -> Any:
    """Return the object that a reference names; ConfigError where there is none.

    Messages name `option`, which holds the reference, and `builtin`, the names that the option also accepts.
    """
    module, colon, name = reference.rpartition(":")
    place = f"option '{option}' names {reference!r}"
    if not (colon and module and name):
        known = f"; the built-in names are {', '.join(builtin)}" if builtin else ""
        raise ConfigError(f'{place}, which is not a reference; write "package.module:name" for your own code{known}')
    found = _import(module, place)
    try:
        return getattr(found, name)
    except AttributeError:
        file = getattr(found, "__file__", None) or module
        raise ConfigError(f"{place}, but {file} defines no {name!r}; correct the name after the colon") from None


def _import(module: str, place: str) -> ModuleType:
    directory, _, module = module.rpartition("/")
    if directory and directory not in sys.path:
        sys.path.append(directory)  # at the end: a user's file must not replace a module of a library
        importlib.invalidate_caches()
    try:
        found = importlib.import_module(module)
    except Exception as error:  # the user's module may raise anything
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            fix = "put its file beside crawl.toml, install its package, or correct the name before the colon"
            raise ConfigError(f"{place}, but there is no module {error.name!r}; {fix}") from None
        problem = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigError(f"{place}, but its module cannot be imported ({problem}); correct the module") from error
    file = getattr(found, "__file__", None)
    if directory and file and not Path(file).is_relative_to(directory):
        raise ConfigError(f"{place}, but {file} is a module of the same name; give your file another name")
    return found
