"""Readers: from the bytes of a capture to a tree or a text, by media type."""
