"""The commands: one file per group."""

from windrow.cli.main import app as app
from windrow.cli.main import main as main
from windrow.cli.main import run as run
