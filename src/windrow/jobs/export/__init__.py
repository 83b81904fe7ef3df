"""`windrow export`: the documents of a corpus in the formats of other programs."""
