"""What a crawl watches of its machine: disk, network and clock, and how much is in flight."""
