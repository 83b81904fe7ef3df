"""The functions of `import windrow`: what a program or a notebook needs, without knowing the tree.

Each function takes paths as text or Path and plain values, and gives the records of `data` or of the stage that made
them. Whatever the caller can fix is raised as `Error`, one sentence, before any work is done if possible. `pages` has
the text of one page, `corpora` reads what crawls have written, `crawls` makes and runs them, and `records` has the
records that all of them give. The root of the package imports from these modules when a name is used first, so that a
script that only extracts text does not load the crawler.
"""
