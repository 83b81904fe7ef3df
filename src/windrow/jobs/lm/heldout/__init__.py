"""`windrow lm evaluate`: how well the text of a crawl predicts text of the topic that no model has seen.

The measure of Remus and Biemann (2016): a model is trained on the train text and on what the crawl has downloaded so
far, at 100K, 300K, 1M, 3M, … tokens, and tested on the held-out text. A crawl that finds text of the topic lets the
perplexity fall; one that does not, lets it rise.

- `crawled`: the main text of every page in the order of the log, rejected pages included: from the archive
- `evaluate`: grows the sample, trains and tests at each size
- `table`: the result as text, and two crawls side by side
"""
