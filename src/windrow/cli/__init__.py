"""The commands, one file per group. Each command reads its arguments, calls the part that does the work, and shows
the result.

`main` lists every command and turns an error that the user can fix into one sentence. `terminal` holds the consoles,
the progress bars and the arguments that commands share; `run` runs a crawl under signals and with the live display.
"""

from windrow import signals

signals.hold()  # before the imports, which take long

from windrow.cli.main import app as app  # noqa: E402
from windrow.cli.main import main as main  # noqa: E402
