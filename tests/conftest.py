"""Set what holds for every test: the examples of Hypothesis, the marker `slow`, the check on the kernels."""

import importlib
from pathlib import Path

import pytest
from hypothesis import settings

from tests import slow

SOURCE = Path(__file__).resolve().parents[1] / "src"

# Examples are the same on every machine, and a slow machine is no failure: tests never judge by the clock.
settings.register_profile("windrow", derandomize=True, deadline=None)
settings.load_profile("windrow")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-slow", action="store_true", help="measure every test and rewrite tests/slow.txt")
    parser.addoption(
        "--expect-kernels",
        choices=("all", "none"),
        help="refuse to run unless all C kernels, or none, can be imported: so that a run tests what it says it tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    expected = config.getoption("--expect-kernels")
    built = [name for name in kernels() if importable(name)]
    if expected and built != (kernels() if expected == "all" else []):
        raise pytest.UsageError(f"--expect-kernels {expected}: these kernels are built: {', '.join(built) or 'none'}")
    if config.getoption("--write-slow") and not hasattr(config, "workerinput"):  # the main process sees all reports
        config.pluginmanager.register(slow.Stopwatch())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    names = slow.names()
    for item in items:
        if slow.name(item.nodeid) in names:
            item.add_marker(pytest.mark.slow)


def kernels() -> list[str]:
    """Return the module names of the C kernels, built or not."""
    sources = sorted((SOURCE / "windrow").rglob("_*.c"))
    return [".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in sources]


def importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
