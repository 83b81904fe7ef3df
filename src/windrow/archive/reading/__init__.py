"""Archives to captures: WARC and ARC files of any program, whole or damaged."""
