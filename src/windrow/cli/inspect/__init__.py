"""Commands that say what a crawl did."""
