"""Build the C kernels if there is a compiler. Without one the package works too, with references in Python."""

import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = (
    Path("src/windrow/extract/walk/_walk.c"),
    Path("src/windrow/extract/blocks/_blocks.c"),
    Path("src/windrow/dedup/_ngrams.c"),
    Path("src/windrow/judge/_shape.c"),
)


class KernelHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there at build time only
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for source in (Path(self.root) / name for name in SOURCES):
            target = source.with_name(source.stem + (sysconfig.get_config_var("EXT_SUFFIX") or ".so"))
            problem = compile_kernel(source, target)
            if problem:
                self.app.display_warning(
                    f"The C kernel {source.name} was not built; the slower reference in Python will be used: {problem}"
                )
                continue
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(target.relative_to(self.root).as_posix())


def compile_kernel(source: Path, target: Path) -> str:
    """Why it could not be done; empty when it was."""
    problem = "there is no C compiler"
    target.unlink(missing_ok=True)
    for compiler in compilers():
        linking = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
        # No fused multiplication: the references round after each operation.
        options = ["-O3", "-DNDEBUG", "-fPIC", "-ffp-contract=off", *linking, f"-I{sysconfig.get_path('include')}"]
        command = [*compiler, *options, str(source), "-o", str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        except OSError as error:
            problem = str(error)
            continue
        if done.returncode == 0:
            return ""
        problem = (done.stderr.strip().splitlines() or ["the compiler failed"])[0]
    return problem


def compilers() -> Iterator[list[str]]:
    """The one Python was built with, then those that are usual."""
    for command in (sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"):
        words = shlex.split(command)
        if words and shutil.which(words[0]):
            yield words
