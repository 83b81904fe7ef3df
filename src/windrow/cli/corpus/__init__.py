"""Commands that make or pass on a corpus."""
