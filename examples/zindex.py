"""Count the values of the CSS property z-index in HTML pages: the example of Common Crawl's own tutorial.

windrow batch examples/zindex.py CRAWL --output zindex.json
"""

import re

Z_INDEX = re.compile(rb"\bz-index\s*:\s*(-?\d{1,10}|auto)\b", re.IGNORECASE)


def process(record):
    if record.is_html:
        for value in Z_INDEX.findall(record.body):
            yield value.decode().lower(), 1
