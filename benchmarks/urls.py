"""Measure the canonical form of a URL: CPU per URL that the cache does not know, by the form of the URL.

    python benchmarks/urls.py [--json]

Each figure is the least of 400 runs of 150 calls, in the CPU time of this thread, so that other programs on the machine
hardly count.
"""

import argparse
import json
import time
import timeit

from windrow.urls import canonical

FORMS = {
    "plain": "http://www.example.org/a/b/c-123.html",
    "parameters": "http://www.example.org/a?id=123&page=4&lang=cs",
    "tracking": "http://www.example.org/a?utm_source=x&a=9",
    "session": "http://www.example.org/a?sid=9e107d9d372bb6826bd81d3542a419d6&a=1",
    "escapes and parentheses": "http://www.example.org/a%20x(b)/c",
    "search": "http://www.example.org/a?s=word+1",
}
RUNS, CALLS = 400, 150


def microseconds(text: str) -> float:
    def once() -> None:
        canonical._known.clear()
        canonical._canonical(text)

    return min(timeit.repeat(once, timer=time.thread_time, number=CALLS, repeat=RUNS)) / CALLS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    found = {form: round(microseconds(text), 2) for form, text in FORMS.items()}
    if parser.parse_args().json:
        print(json.dumps(found))
    else:
        for form, cost in found.items():
            print(f"{form:24} {cost:6.2f} µs")


if __name__ == "__main__":
    main()
