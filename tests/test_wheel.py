"""Build what is published and install it without a compiler: the wheel brings its kernels, the sdist has none."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KERNELS = sorted(path.stem for path in (ROOT / "src").rglob("_*.c"))
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "*.so", "__pycache__")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the tree: a build writes kernels beside their sources, and those in use must stay as they are."""
    copy = tmp_path_factory.mktemp("wheel") / "windrow"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    return copy


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    if not shutil.which("cc") and not shutil.which("gcc"):
        pytest.skip("needs a C compiler")
    (tree / ".venv").symlink_to(sys.prefix)
    # -o: leave the environment alone, these tests run in it
    run(["make", "-o", ".venv/installed-dev", "wheel"], tree)
    (found,) = (tree / "dist").glob("*.whl")
    return found


class Machine:
    """A new virtual environment whose PATH holds neither a compiler nor anything else."""

    def __init__(self, directory: Path) -> None:
        venv.create(directory, with_pip=True)
        self._bin = directory / "bin"
        kept = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "PYTHONPATH")}
        self._environment = {**kept, "PATH": str(self._bin)}

    def run(self, program: str, *arguments: str, directory: Path | None = None) -> str:
        return run([str(self._bin / program), *arguments], directory, self._environment)

    def install(self, *packages: str) -> None:
        self.run("python", "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), *packages)

    def kernels(self) -> list[str]:
        """Return the names of the kernels that can be imported."""
        code = (
            "import importlib, pathlib, windrow\n"
            "top = pathlib.Path(windrow.__file__).parent\n"
            "for path in sorted(top.rglob('_*.so'), key=lambda path: path.name):\n"
            "    name = path.name.partition('.')[0]\n"
            "    importlib.import_module('.'.join(['windrow', *path.parent.relative_to(top).parts, name]))\n"
            "    print(name)\n"
        )
        return self.run("python", "-c", code).split()


def run(command: list[str], directory: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def test_the_wheel_is_a_manylinux_wheel_with_every_kernel(wheel: Path) -> None:
    assert re.search(r"^windrow_corpus-[\d.]+-cp3\d+-cp3\d+-manylinux[\w.]+\.whl$", wheel.name), wheel.name
    modules = [Path(name).name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    assert sorted(name.partition(".")[0] for name in modules) == KERNELS


def test_the_wheel_runs_the_demo_on_a_machine_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "venv")
    machine.install(str(wheel))
    assert machine.kernels() == KERNELS
    machine.run("windrow", "demo", directory=tmp_path)


def test_the_sdist_is_built_and_installed_without_a_compiler(tree: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "venv")
    machine.install(*re.findall(r'"(hatchling==[\d.]+)"', (ROOT / "pyproject.toml").read_text()))
    machine.run("python", "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path), directory=tree)
    (sdist,) = tmp_path.glob("*.tar.gz")
    machine.install(str(sdist))
    assert machine.kernels() == []
    machine.run("windrow", "demo", directory=tmp_path)
