"""Count the words of WET files, which hold the plain text of pages.

windrow batch examples/words.py wet/ --output words.parquet --format parquet
"""

import re
from collections import Counter

WORD = re.compile(r"[^\W\d_]+")


def process(record):
    if record.type == "conversion":
        yield from Counter(WORD.findall(record.text.lower())).items()
