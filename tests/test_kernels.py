"""The table of kernels is the list of C files, and a kernel that cannot be imported is reported."""

import re
import sys
from pathlib import Path

import pytest

import windrow
from windrow import kernels

SOURCE = Path(windrow.__file__).parent


def test_every_c_file_is_in_the_table() -> None:
    modules = {"windrow." + ".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in SOURCE.rglob("_*.c")}
    assert set(kernels.KERNELS.values()) == modules


def test_every_c_file_is_built() -> None:
    root = Path(__file__).resolve().parents[1]
    built = re.findall(r'Path\("(.+\.c)"\)', (root / "hatch_build.py").read_text())
    assert sorted(built) == sorted(path.relative_to(root).as_posix() for path in (root / "src").rglob("_*.c"))


def test_a_kernel_that_cannot_be_imported_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kernels.missing()
    monkeypatch.setitem(sys.modules, kernels.KERNELS["shape"], None)
    assert set(kernels.missing()) == {*before, "shape"}
