"""Commands on archives and their indexes."""
