"""The list of all commands, `windrow --version`, and the errors that the user can fix."""

import functools
import gc
import importlib
import sys
import traceback
from collections.abc import Iterable
from typing import Annotated

import typer

import windrow
from windrow import kernels, plugins
from windrow.cli import completion, help, terminal
from windrow.cli.text import lines
from windrow.config import ConfigError
from windrow.crawler.display.notes import LogLine

_COMMANDS = {  # the module below windrow.cli, and its function
    "demo": "crawl.demo:demo",
    "corpus": "corpus.ondemand:corpus",
    "init": "crawl.start:init",
    "crawl": "crawl.start:crawl",
    "shard": "crawl.shards:shard",
    "node": "cluster.node:node",
    "status": "inspect.status:status",
    "size": "inspect.size:size",
    "list": "inspect.listing:listed",
    "why": "inspect.why:why",
    "pause": "crawl.orders:pause",
    "resume": "crawl.orders:resume",
    "stop": "crawl.orders:stop",
    "block": "crawl.orders:block",
    "unblock": "crawl.orders:unblock",
    "add": "crawl.orders:add",
    "set": "crawl.orders:change",
    "retry": "crawl.orders:retry",
    "report": "inspect.report:report",
    "what-if": "inspect.report:what_if",
    "export": "corpus.export:export",
    "dedup": "corpus.dedup:dedup",
    "merge": "corpus.merge:merge",
    "derive": "archive.derive:derive",
    "publish": "corpus.publish:publish",
    "store": "corpus.store:store",
    "index": "archive.index:index",
    "query": "archive.query:query",
    "records": "archive.records:records",
    "seeds": "crawl.seeds:seeds",
    "batch": "archive.batch:batch",
    "shuffle": "corpus.shuffle:shuffle",
    "rebuild": "corpus.rebuild:rebuild",
    "purge": "crawl.purge:purge",
    "options": "options:options",
    "reasons": "options:reasons",
    "completion": "completion:completion",
    "cluster": "cluster.job:app",
    "extract": "text.extract:app",
    "language": "text.language:app",
    "lm": "text.lm:app",
}


@functools.cache
def app(word: str = "") -> typer.Typer:
    """Return the program with all its commands; with only one, if a command line begins with the name of that one.

    A command imports only what it needs: to import the modules of all commands takes longer than most commands do.
    """
    program = typer.Typer(
        cls=help.Group,
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},  # commands inherit it
        help="Windrow builds text corpora from the web. Start with `windrow demo`.",
    )
    for name in _named(word):
        module, _, function = _COMMANDS[name].partition(":")
        command = getattr(importlib.import_module(f"windrow.cli.{module}"), function)
        if isinstance(command, typer.Typer):
            help.dress(command)
            program.add_typer(command, name=name, rich_help_panel=help.panel(name))
        else:
            program.command(name, rich_help_panel=help.panel(name))(command)
    help.dress(program)
    completion.enable()
    program.callback(invoke_without_command=True)(version)
    return program


def _named(word: str) -> Iterable[str]:
    """Return the commands that the first word of a command line needs: its own, none, or all for the help."""
    return (word,) if word in _COMMANDS else () if word == "--version" else _COMMANDS


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
        _imported(sys.argv[1] if len(sys.argv) > 1 else completion.word())(prog_name="windrow")
    except ConfigError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or 'the system'}: {error.strerror or error}; fix that and run the same command again")
    except Exception as error:
        if (fault := plugins.fault(error)) is not None:
            fail(fault.report)
        if not lines.are_json():
            raise
        lines.write(LogLine("error", "error", "an unexpected error ended Windrow", {"trace": traceback.format_exc()}))
        sys.exit(1)


def _imported(word: str) -> typer.Typer:
    """Return the program for a command line, and leave what it has imported out of all collections of garbage.

    Collections during the imports of a shard took a tenth of their CPU time (0.04 of 0.43 s), and later ones would look
    at all of it again in vain.
    """
    gc.disable()
    try:
        return app(word)
    finally:
        gc.freeze()
        gc.enable()


def fail(message: str) -> None:
    if lines.are_json():
        lines.write(LogLine("error", "error", message))
    else:
        sys.stderr.write(f"windrow: {message}\n")
    sys.exit(2)
