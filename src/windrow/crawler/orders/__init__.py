"""Orders to a crawl: given, taken between two frames, and the takedown list and purge that belong to them."""
