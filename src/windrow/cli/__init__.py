"""The commands, one file per group. Each command reads its arguments, calls the part that does the work, and shows
the result.

`main` lists every command and turns an error that the user can fix into one sentence. `terminal` holds the consoles,
the progress bars and the arguments that commands share; `run` runs a crawl under signals and with the live display.
"""

from windrow import signals

signals.hold()  # before the imports, which take long

import typer  # noqa: E402

from windrow.cli.main import app as _app  # noqa: E402
from windrow.cli.main import main as main  # noqa: E402


def __getattr__(name: str) -> typer.Typer:
    """Return `app`, the program with all commands. It is made at its first use: a command imports only its own part."""
    if name == "app":
        return _app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
