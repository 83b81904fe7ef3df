"""`windrow publish`: an archive as one WACZ file, or in the folders of Common Crawl."""
