"""`windrow language`: train a model from a sample, tell what a text is in, list what can be told."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from windrow import config
from windrow.config import ConfigError
from windrow.judge.language import codes, trigrams
from windrow.judge.language import detect as detection

app = typer.Typer(no_args_is_help=True, help="Language models and language detection.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Models = Annotated[
    list[str] | None, typer.Option("--model", help="A model made by `train`; may be repeated.", metavar="FILE")
]


@app.command("train")
def train(
    name: Annotated[
        str, typer.Argument(help="The language, as code or English name; qaa to qtz for one that has no code.")
    ],
    samples: Annotated[
        list[str], typer.Argument(help="UTF-8 text in this language; - for standard input.", metavar="SAMPLE…")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.", metavar="MODEL")],
) -> None:
    """Learn a language from samples of its text, so that it is told from its look-alikes."""
    code = codes.parse(name)
    if output.exists():
        raise ConfigError(f"{output} exists already; name another file, or remove it first")
    model = trigrams.train(code, "\n".join(_text(sample) for sample in samples))
    trigrams.write(model, output)
    typer.echo(
        f"{output} written: {codes.name(code)} ({code}), {model.letters:,} letters, {model.bits:.2f} bits per character"
    )


@app.command("detect")
def detect(
    files: Annotated[
        list[str] | None, typer.Argument(help="UTF-8 text, a paragraph a line; none, or -: standard input.")
    ] = None,
    models: Models = None,
    recognised: Annotated[
        list[str] | None,
        typer.Option("--recognised", help="Think of this language where a text is short; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell which language each file is in."""
    settings = detection.prepare(config.Language(models=tuple(models or ()), recognised=tuple(recognised or ())))
    for name in files or ["-"]:
        found = detection.judge([line for line in _text(name).splitlines() if line.strip()], settings)
        if as_json:
            sys.stdout.write(msgspec.json.encode(_row(name, found)).decode() + "\n")
        else:
            typer.echo(f"{name}\t{found.language}\t{codes.name(found.language)}\t{found.score:.2f}")


@app.command("list")
def show(models: Models = None, as_json: Json = False) -> None:
    """List the languages that can be told, and by which tools."""
    told = {code: list(tools) for code, tools in detection.known().items()}
    for model in (trigrams.read(Path(path)) for path in models or ()):
        told.setdefault(model.name, []).append("model")
    rows = [
        (code, codes.short(code) if codes.short(code) != code else "", codes.name(code), tools)
        for code, tools in sorted(told.items())
    ]
    if as_json:
        named = [dict(zip(("code", "short", "name", "tools"), row, strict=True)) for row in rows]
        sys.stdout.write(msgspec.json.encode(named).decode() + "\n")
        return
    for code, short, name, tools in rows:
        typer.echo(f"{code}\t{short}\t{name}\t{' '.join(tools)}")


def _row(name: str, found: detection.Finding) -> dict[str, object]:
    facts: dict[str, object] = {"path": name, "name": codes.name(found.language)}
    return {**facts, **msgspec.structs.asdict(found)}


def _text(name: str) -> str:
    data = sys.stdin.buffer.read() if name == "-" else _bytes(Path(name))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = "standard input" if name == "-" else name
        raise ConfigError(f"{place}, line {line}: not UTF-8 text; convert it first, for instance with iconv") from None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; check the path and its permissions") from None
