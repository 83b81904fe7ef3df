"""Jobs that users write: from records to pairs of key and value, which are summed, or reduced by a function.

A job is a file of Python with `process(record)`, which yields pairs, and perhaps `reduce(one, other)`. `record.py` is
what it sees of a record. `pairs.py` runs it over one archive file, which is the map function of the engine, and reduces
all values of a key. `run.py` puts both together for `windrow batch`.

Pairs are reduced twice: within a file, as they come, so that a file gives few rows; then over all files, in a defined
order. So the result depends neither on the engine nor on the number of workers, and a `reduce` must not care about the
order or the grouping of values.
"""
