"""Commands that run or steer a crawl."""
