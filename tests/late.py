"""Modules that are imported when a test first uses them, so that collecting all tests does not pay for them."""

import importlib
from typing import Any


class Late:
    """Use it for a module that takes 0.1 s or more: `fit = Late("windrow.extraction.main.lines.fit")`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks every object of a test module whether it is a fixture
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)
