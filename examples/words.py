"""Count the words of WET files, which hold the plain text of pages, or of the documents of a corpus.

windrow batch examples/words.py wet/ --output words.parquet --format parquet
windrow batch examples/words.py CRAWL --subset corpus --output words.parquet --format parquet
"""

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+")


def process(record):
    if record.type in ("conversion", "document"):
        yield from Counter(WORD.findall(record.text.lower())).items()
