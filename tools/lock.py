"""Write requirements/: the exact version and the hashes of everything that Windrow can use. `make lock` runs it.

The versions are those of constraints.txt. Each file has what the files before it have not, so that `make` installs what
a target needs: `pip install --require-hashes -r requirements/base.txt -r requirements/docs.txt`. The hashes are those
that the package index states for every file of a version, so they hold for each Python and processor that it has.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = {"base": (), "docs": ("--extra=docs",), "dev": ("--extra=docs", "--extra=dev"), "extras": ("--all-extras",)}
OPTIONS = ("--universal", "--python-version=3.11.5", "--generate-hashes", "--no-annotate", "--no-header", "--quiet")
OTHER_SYSTEMS = re.compile("== '(win32|[Pp]y[Pp]y)'")  # Windrow runs on CPython and Linux
HEAD = "# Made by `make lock` from pyproject.toml and constraints.txt.\n"


def locked(extras: tuple[str, ...], build: str) -> list[str]:
    """Return the entries of everything that the project with some extras needs. `build`: what builds it."""
    command = [sys.executable, "-m", "uv", "pip", "compile", *OPTIONS, *extras, "--constraint=constraints.txt"]
    done = subprocess.run(
        [*command, "pyproject.toml", "-"], cwd=ROOT, input=build, stdout=subprocess.PIPE, text=True, check=True
    )
    entries = re.split(r"(?m)^(?=\w)", done.stdout)[1:]
    return [entry for entry in entries if not OTHER_SYSTEMS.search(entry)]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build = "\n".join([*project["build-system"]["requires"], "editables"])  # hatchling asks for it: `pip install -e`
    written: set[str] = set()
    for name, extras in FILES.items():
        entries = locked(extras, build)
        text = HEAD + "".join(entry for entry in entries if entry not in written)
        (ROOT / "requirements" / f"{name}.txt").write_text(text)
        written.update(entries)


if __name__ == "__main__":
    main()
