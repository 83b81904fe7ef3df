"""Hooks of mkdocs.yml: list the decisions without naming each, and load nothing from other hosts."""

import re
from pathlib import Path
from typing import Any

# Material's plugin `offline` loads this script from another host; assets/file-worker.js does its work.
_SHIM = re.compile(r'<script src="https://[^"]*iframe-worker[^"]*"></script>')


# Pages of the navigation that are still being written. Remove a name when its page exists: a test says so.
PLANNED_PAGES = {"fetching.md", "python.md"}


def on_config(config: Any) -> Any:
    """Fill the empty list "Decisions" of the navigation with the files of docs/decisions, in their order."""
    docs = Path(config["docs_dir"])
    for entry in config["nav"]:
        for name, pages in entry.items():
            if isinstance(pages, list):
                entry[name] = [page for page in pages if not missing(page, docs)]
    found = [path.relative_to(docs).as_posix() for path in sorted((docs / "decisions").glob("*.md"))]
    (explanation,) = (entry["Explanation"] for entry in config["nav"] if "Explanation" in entry)
    (decisions,) = (entry for entry in explanation if "Decisions" in entry)
    decisions["Decisions"] = found
    return config


def missing(entry: dict[str, Any], docs: Path) -> bool:
    (page,) = entry.values()
    return page in PLANNED_PAGES and not (docs / page).exists() if isinstance(page, str) else False


def on_post_page(output: str, page: Any, config: Any) -> str:
    root = "../" * page.url.count("/")
    return _SHIM.sub(f'<script src="{root}assets/file-worker.js"></script>', output)


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    return _SHIM.sub("", output_content)
