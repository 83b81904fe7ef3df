"""Bytes that are elsewhere or packed: remote files, streams of a file, content codings."""
