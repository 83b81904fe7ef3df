"""Topics: made of sample text, and their boundaries."""
