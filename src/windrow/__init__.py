"""Windrow builds text corpora from the web."""

__version__ = "0.1.0"
