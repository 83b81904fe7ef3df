"""`windrow lm`: language models of topics. Commands of some length have modules of their own."""

import typer

from windrow.cli import lm_evaluate

app = typer.Typer(no_args_is_help=True, help="Train, use and evaluate models of topics.")
app.command("evaluate")(lm_evaluate.evaluate)
