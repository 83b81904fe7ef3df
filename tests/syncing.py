"""Records which files a test makes durable."""

import os

import pytest


def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the paths for which fsync is called."""
    seen: list[str] = []
    fsync = os.fsync

    def made(descriptor: int) -> None:
        seen.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", made)
    return seen
