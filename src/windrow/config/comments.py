"""Read comments as documentation: a field of a class is explained once, in the source."""

import ast
import inspect
import io
import textwrap
import tokenize


def read(kind: type) -> dict[str, str]:
    """Return the comment above or behind each field (or member of an enum) of a class; empty where there is none."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    meanings = {}
    for node in getattr(ast.parse(source).body[0], "body", ()):
        if name := _name(node):
            first = node.lineno
            while lines[first - 2].lstrip().startswith("#"):
                first -= 1
            numbers = range(first, (node.end_lineno or node.lineno) + 1)
            meanings[name] = " ".join(comments[number] for number in numbers if number in comments)
    return meanings


def _name(node: ast.stmt) -> str:
    target = (
        node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
    )
    return target.id if isinstance(target, ast.Name) else ""
