"""Prints docs/configuration.md."""

from windrow.config.schema import reference

print(reference(), end="")
