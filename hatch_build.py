"""Build the C kernels. Without a compiler the package is complete too: it uses the slower reference implementations.

The build hook of hatchling runs this for each wheel and each editable install. `python hatch_build.py [ROOT]` builds
the kernels in place, for example after a change of a C file. CC and CFLAGS of the environment are used, as usual.

The addresses of the project ([project.urls]) are those of the repository whose CI builds a release, see `addresses`.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # run as a script: hatchling is installed only in the environment of a build
    BuildHookInterface = MetadataHookInterface = object

SOURCES = (
    Path("src/windrow/extraction/walk/_walk.c"),
    Path("src/windrow/extraction/walk/_structure.c"),
    Path("src/windrow/extraction/page/anchors/_anchors.c"),
    Path("src/windrow/extraction/main/blocks/_blocks.c"),
    Path("src/windrow/extraction/tags/_tags.c"),
    Path("src/windrow/archive/_records.c"),
    Path("src/windrow/dedup/_ngrams.c"),
    Path("src/windrow/judge/_shape.c"),
    Path("src/windrow/frontier/policy/_features.c"),
    Path("src/windrow/judge/focus/_query.c"),
)


class KernelHook(BuildHookInterface):  # type: ignore[misc]  # hatchling has no place in our environment
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for source, target in targets(Path(self.root)):
            problem = compile_kernel(source, target)
            if problem:
                self.app.display_warning(
                    f"The C kernel {source.name} was not built; its slower reference is used instead: {problem}"
                )
                continue
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(target.relative_to(self.root).as_posix())


class AddressHook(MetadataHookInterface):  # type: ignore[misc]
    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        metadata["urls"] = addresses(os.environ)


def addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of the repository that CI works for, so that a copy of the project names its own."""
    if "GITHUB_REPOSITORY" not in environment:
        return {}
    home = f"{environment['GITHUB_SERVER_URL']}/{environment['GITHUB_REPOSITORY']}"
    return {
        "Source": home,
        "Documentation": f"{home}/tree/main/docs",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }


def targets(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each C file with the path of its extension module."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    for name in SOURCES:
        yield root / name, (root / name).with_name(name.stem + suffix)


def compile_kernel(source: Path, target: Path) -> str:
    """Return why the kernel could not be built; an empty string if it was built."""
    problem = "there is no C compiler"
    target.unlink(missing_ok=True)
    for compiler in compilers():
        linking = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
        # No fused multiplication: the reference implementations round after each operation.
        options = ["-O3", "-DNDEBUG", "-fPIC", "-ffp-contract=off", *shlex.split(os.environ.get("CFLAGS", ""))]
        include = f"-I{sysconfig.get_path('include')}"
        command = [*compiler, *options, *linking, include, str(source), "-o", str(target)]
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
    """Yield the user's compiler, the one that built Python, then the usual ones; only those that are installed."""
    for command in (os.environ.get("CC", ""), sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"):
        words = shlex.split(command)
        if words and shutil.which(words[0]):
            yield words


def build_in_place(root: Path) -> int:
    """Build every kernel beside its source; return the exit code."""
    problems = {source.name: compile_kernel(source, target) for source, target in targets(root)}
    for name, problem in problems.items():
        print(f"{name}: {problem or 'built'}", file=sys.stderr if problem else sys.stdout)
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(build_in_place(Path(*sys.argv[1:2])))
