"""What a page says besides its text: title, dates, author, metadata, links."""
