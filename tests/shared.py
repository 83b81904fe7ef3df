"""Reference data that lies beside the repository, never in it."""

from pathlib import Path

import pytest


def shared(path: str) -> Path:
    """A file or folder of ../shared; a test that needs one that is missing is skipped."""
    found = Path(__file__).resolve().parents[2] / "shared" / path
    if not found.exists():
        pytest.skip(f"needs ../shared/{path}")
    return found
