"""Before a crawl runs: checks, seeds, the purpose of a directory, and a store made again."""
