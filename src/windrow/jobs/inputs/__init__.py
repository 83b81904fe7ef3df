"""What jobs read: archives, files and pages that a user names, and the documents of corpora."""
