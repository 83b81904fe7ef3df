"""What a run shows its operator: a live display, lines of progress, notes."""
