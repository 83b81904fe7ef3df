"""`windrow lm` and `windrow language`: models from text, and what text is worth by them."""
