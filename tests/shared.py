"""Find reference data, which lies next to the repository and is never part of it."""

from pathlib import Path

import pytest


def shared(path: str) -> Path:
    """Return a file or folder of ../shared; skip the test if it is missing."""
    found = Path(__file__).resolve().parents[2] / "shared" / path
    if not found.exists():
        pytest.skip(f"needs ../shared/{path}")
    return found
