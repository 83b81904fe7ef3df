"""`windrow extract`: the main text of files."""
