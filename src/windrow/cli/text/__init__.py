"""Commands on texts and models."""
