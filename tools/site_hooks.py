"""Hooks of mkdocs.yml: list the decisions without naming each, and load nothing from other hosts."""

import re
from pathlib import Path
from typing import Any

# Material's plugin `offline` loads this script from another host; assets/file-worker.js does its work.
_SHIM = re.compile(r'<script src="https://[^"]*iframe-worker[^"]*"></script>')


def on_config(config: Any) -> Any:
    """Fill the empty list "Decisions" of the navigation with the files of docs/decisions, in their order."""
    docs = Path(config["docs_dir"])
    found = [path.relative_to(docs).as_posix() for path in sorted((docs / "decisions").glob("*.md"))]
    (explanation,) = (entry["Explanation"] for entry in config["nav"] if "Explanation" in entry)
    (decisions,) = (entry for entry in explanation if "Decisions" in entry)
    decisions["Decisions"] = found
    return config


def on_post_page(output: str, page: Any, config: Any) -> str:
    root = "../" * page.url.count("/")
    return _SHIM.sub(f'<script src="{root}assets/file-worker.js"></script>', output)


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    return _SHIM.sub("", output_content)
