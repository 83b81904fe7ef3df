"""Documents in files: the form in which text leaves a crawl, and in which people bring their own.

`formats` reads and rewrites files of documents, one document at a time and in bounded memory: jsonl (the corpus' own form, with
paragraphs, and the plain {"text": …} of dataset engineers), prevertical and vertical (SpiderLing's and Sketch Engine's), and plain text. A
format is told from the content, then from the name. Paragraphs are handed on as UTF-8; in vertical they are tokens, one a line. A file that
is broken or of another kind is a ConfigError that names the file and the line.
"""
