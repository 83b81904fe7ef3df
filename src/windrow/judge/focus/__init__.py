"""The topic of a page, by n-gram models of words (Remus and Biemann 2016).

Text of the topic comes in, how well other text fits it comes out: a model gives each word its probability after the
four words before it, and the perplexity of a page is low if the page is written like the sample.

- `tokens`: text -> sequences of words. One table of character classes serves the reference and the C kernel.
- `training`: sequences -> n-grams with their counts; `counts` the same from counts that others have made.
- `smoothing`: counts -> probabilities (interpolated modified Kneser-Ney).
- `tables`: the n-grams of a model, as arrays. What training, ARPA files and model files have in common.
- `arpa`: tables as text that other programs read and write.
- `layout`: tables as one block of bytes with hash tables, which is mapped into memory and shared by all processes.
- `hashing`, `sorting`: hash tables and sorting of millions of numbers, by operations on whole arrays.
- `query`: the probabilities of sequences, from that block. The reference is numpy; `_query.c` is the kernel.
- `model`: read and write a model whatever its form, and score text with it.

The n-grams here are those of a language model. Near-duplicates have n-grams of their own, see `dedup`.
"""
