"""What holds for every test."""

from hypothesis import settings

# Examples are the same on every machine, and a slow machine is no failure: tests never judge by the clock.
settings.register_profile("windrow", derandomize=True, deadline=None)
settings.load_profile("windrow")
