"""`windrow completion`: scripts by which a shell completes commands, options and names of options."""

import os
from typing import Annotated

import typer
from typer import _completion_classes as answers
from typer import _completion_shared as scripts

from windrow import config
from windrow.config import ConfigError
from windrow.records import Reason

SHELLS = ("bash", "zsh", "fish")
_INSTALL = {
    "bash": 'put this line into ~/.bashrc: eval "$(windrow completion bash)"',
    "zsh": 'put this line into ~/.zshrc, below compinit: eval "$(windrow completion zsh)"',
    "fish": "windrow completion fish > ~/.config/fish/completions/windrow.fish",
}


def completion(
    shell: Annotated[
        str, typer.Argument(help="bash, zsh or fish.", metavar="SHELL", autocompletion=lambda: list(SHELLS))
    ],
) -> None:
    """Print a script for command-line completion. bash: eval "$(windrow completion bash)"."""
    if shell not in SHELLS:
        raise ConfigError(f"there is no completion for {shell!r}; choose {', '.join(SHELLS)}")
    made = scripts.get_completion_script(prog_name="windrow", complete_var="_WINDROW_COMPLETE", shell=shell)
    typer.echo(f"# {_INSTALL[shell]}\n{made}")


def enable() -> None:
    """Let the program answer the scripts."""
    answers.completion_init()


def word() -> str:
    """Return the command that a shell wants to complete the rest of; "" if there is none.

    bash puts what was typed into COMP_WORDS, zsh and fish into _TYPER_COMPLETE_ARGS.
    """
    if "_WINDROW_COMPLETE" not in os.environ:
        return ""
    typed = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")).split()
    return typed[1] if len(typed) > 2 else ""


def settings(incomplete: str) -> list[str]:
    """Return the options that --set could change."""
    return [f"{option.name}=" for option in config.options() if option.name.startswith(incomplete)]


def option_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the names that `windrow options` explains."""
    options = config.options()
    sections = dict.fromkeys(option.name.partition(".")[0] for option in options)
    return [(name, "a section") for name in sections if name.startswith(incomplete)] + [
        (option.name, option.meaning) for option in options if option.name.startswith(incomplete)
    ]


def reasons(incomplete: str) -> list[str]:
    return [reason.value for reason in Reason if reason.value.startswith(incomplete)]
