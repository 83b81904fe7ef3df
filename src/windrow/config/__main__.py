"""Print docs/configuration.md."""

from windrow.config.reference import reference

print(reference(), end="")
