"""The list of all commands, `windrow --version`, and the errors that the user can fix."""

import sys
from collections.abc import Callable
from typing import Annotated

import typer

import windrow
from windrow import kernels
from windrow.cli import corpus, crawl, extract, language, options, publish, report, terminal
from windrow.config import ConfigError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Windrow builds text corpora from the web. Start with `windrow demo`.",
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": crawl.demo,
    "init": crawl.init,
    "crawl": crawl.crawl,
    "status": crawl.status,
    "why": crawl.why,
    "report": report.report,
    "what-if": report.what_if,
    "export": corpus.export,
    "dedup": corpus.dedup,
    "publish": publish.publish,
    "rebuild": corpus.rebuild,
    "options": options.options,
    "reasons": options.reasons,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
app.add_typer(extract.app, name="extract")
app.add_typer(language.app, name="language")


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[
        bool, typer.Option("--version", help="Print the version and the C kernels that are built.")
    ] = False,
) -> None:
    if show:
        terminal.out.print(f"windrow {windrow.__version__} ({_kernels()})")
        raise typer.Exit()


def _kernels() -> str:
    missing = kernels.missing()
    built = [name for name in kernels.KERNELS if name not in missing]
    parts = [f"kernels: {', '.join(built)}"] if built else []
    return "; ".join(parts + ([f"kernels that are not built: {', '.join(missing)}"] if missing else []))


def main() -> None:
    """Run a command. An error that the user can fix becomes one sentence and exit code 2."""
    try:
        app(prog_name="windrow")
    except ConfigError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'the system'}: {error.strerror or error}; fix that and run the same command again")


def fail(message: str) -> None:
    sys.stderr.write(f"windrow: {message}\n")
    sys.exit(2)
