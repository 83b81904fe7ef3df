"""Judging: what a page's text is worth to the corpus, and why not.

In come the paragraphs of a `Page` and facts beside it (headers, meta elements, the host's robots.txt signals, the text of its probe);
out go numbers by name, a refusal by name, and which paragraphs to keep. All of it is plain functions: nothing here opens a file after
its models are loaded, and the same text always gets the same answer, in a crawl's workers and in a batch job.

- `pages`: all of them in their order, for one page: its verdict, and what it leaves for the corpus.
- `language`: CLD2 on each paragraph, py3langid where it is unsure, models of one's own (`trigrams`); `codes` names the languages.
  Recognised and accepted languages are two lists, so that a look-alike is known for what it is and dropped.
- `quality`: running text or not; machine translations by their marks; "not found" pages by likeness to a probe.
- `signals`: what authors ask for, read into records with their source, enforced by profile.
- `duplicates`: what stands in the corpus already. It alone depends on other pages: the workers make hashes, and one owner per node asks
  and fills the `table` of all that was seen, in the order of the pages, and saves it.

What a judge finds goes into the log and the corpus under its own name, refused or not.
"""
