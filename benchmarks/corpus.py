"""Measure how complete and how clean the corpus of a crawl is, on a web whose truth is known.

    python benchmarks/corpus.py [small|medium] [--language de] [--web DIR] [--json]

It crawls the same web twice. The first crawl keeps all that it may: it retires no domains, removes no near-duplicates
and only records opt-outs. The truth is the text of all reachable and allowed pages in the wanted language with over 500
bytes of main text, exact copies counted once: how many bytes of it are in the corpus? The second crawl runs with the
defaults: how many of its paragraphs of 60 characters or more are in another language (according to CLD2), how many
documents are equal, and how many documents come from the mirror and the spam hosts?
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pycld2

from windrow import urls
from windrow.judge.language import codes

SERVE = Path(__file__).resolve().parents[2] / "shared" / "web" / "serve"
LEAST = 500  # bytes of main text; shorter pages do not count
LONG = 60  # characters of a paragraph whose language CLD2 can detect
EVERYTHING = {"frontier.yield_threshold": '"off"', "dedup.near_duplicates": "false", "signals.profile": '"record-only"'}


@contextmanager
def web(profile: str, directory: Path, port: int) -> Iterator[Path]:
    if not SERVE.exists():
        sys.exit(f"the web to crawl is missing: {SERVE} does not exist")
    subprocess.run([SERVE, "start", profile, directory, str(port)], check=True, stdout=sys.stderr)
    try:
        yield directory
    finally:
        subprocess.run([SERVE, "stop", directory], check=True)


def crawl(site: Path, directory: Path, language: str, options: dict[str, str]) -> list[dict[str, Any]]:
    """Run a crawl; return its documents."""
    windrow = [sys.executable, "-m", "windrow.cli"]
    command = [
        *windrow,
        "init",
        directory,
        "--seeds",
        site / "seeds.txt",
        "--contact",
        "http://localhost/",
        "--language",
        language,
    ]
    subprocess.run(command, check=True, stdout=sys.stderr)
    options = {
        "fetch.delay": "0",
        "fetch.ip_delay": "0",
        "fetch.max_crawl_delay": "0.05",
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{site / "hosts"}"',
        "scope.tlds": '["test"]',
        **options,
    }
    words = [word for key, value in options.items() for word in ("--set", f"{key}={value}")]
    subprocess.run([*windrow, "crawl", directory, *words], check=True, stdout=sys.stderr)
    found = []
    for path in sorted((directory / "corpus").glob("*/*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found += [json.loads(line) for line in lines]
    return found


def reasons(directory: Path) -> dict[str, tuple[str, str]]:
    """Return the reason and detail of each page, by URL."""
    found = {}
    for path in sorted((directory / "log").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if "reason" in row and not row.get("kind") and row.get("final", True):
                    found[row["url"]] = (row["reason"], row.get("detail", ""))
    return found


def wanted(site: Path, language: str) -> dict[str, list[tuple[str, int]]]:
    """Return the pages that count, by the checksum of their source: URL and bytes of main text."""
    found: dict[str, list[tuple[str, int]]] = {}
    with gzip.open(site / "pages.tsv.gz", "rt", encoding="utf-8") as lines:
        names = next(lines).rstrip("\n").split("\t")
        for line in lines:
            row = dict(zip(names, line.rstrip("\n").split("\t"), strict=True))
            detected = codes.label(row["detected"])
            if row["reachable"] == row["allowed"] == "1" and detected == language and int(row["main_bytes"]) > LEAST:
                url = urls.parse(f"http://{row['host']}{row['path']}")
                assert url is not None
                found.setdefault(row["md5_source"], []).append((url.text, int(row["main_bytes"])))
    return found


def completeness(
    site: Path, language: str, documents: list[dict[str, Any]], ends: dict[str, tuple[str, str]]
) -> dict[str, Any]:
    held = {document["url"]: size(document) for document in documents}
    total = pages = text = wrong = 0
    missing: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for copies in wanted(site, language).values():
        main = max(size for _, size in copies)
        total += main
        kept = max((held.get(url, 0) for url, _ in copies), default=0)
        if not kept and any(ends.get(url, ("",))[0] == "duplicate" for url, _ in copies):
            kept = main  # the corpus has the same bytes or the same text under another URL
        pages += main if kept else 0
        text += min(kept, main)
        if not kept:
            url = copies[0][0]
            reason, detail = ends.get(url, ("never requested", ""))
            wrong += main if ", 0% in" in detail else 0  # no paragraph of the page is in the language
            missing[reason] += main
            examples.setdefault(reason, []).append(f"{url} {ends.get(url, ('', ''))[1]} ({main} bytes)")
    shares = {reason: round(bytes_ / total, 5) for reason, bytes_ in missing.most_common()}
    held_shares = {
        "pages_held": pages / total,
        "pages_held_of_true": pages / (total - wrong),
        "text_held": text / total,
    }
    return {"bytes": total, **held_shares, "missing": shares, "examples": examples}


def size(document: dict[str, Any]) -> int:
    return sum(len(paragraph["text"].encode()) for paragraph in document["paragraphs"])


def cleanness(site: Path, language: str, documents: list[dict[str, Any]]) -> dict[str, Any]:
    checked = foreign = 0
    others: Counter[str] = Counter()
    for document in documents:
        for paragraph in document["paragraphs"]:
            if len(paragraph["text"]) < LONG:
                continue
            sure, _, best = pycld2.detect(paragraph["text"].encode("utf-8", "replace"), isPlainText=True)
            checked += 1
            if sure and not codes.covers(language, codes.label(best[0][1])):
                foreign += 1
                others[codes.label(best[0][1])] += 1
    texts = Counter(tuple(paragraph["text"] for paragraph in document["paragraphs"]) for document in documents)
    hosts = json.loads((site / "expected.json").read_text())["hosts"]
    suspects = {host for host, row in hosts.items() if row.get("spam") or row.get("kind") == "mirror"}
    return {
        "documents": len(documents),
        "paragraphs": checked,
        "foreign": foreign / max(1, checked),
        "foreign_languages": dict(others.most_common(5)),
        "equal_documents": sum(texts.values()) - len(texts),
        "spam_and_mirror_documents": dict(
            Counter(host for document in documents if (host := document["url"].split("/")[2]) in suspects)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", nargs="?", default="small", choices=("small", "medium"))
    parser.add_argument("--language", default="de")
    parser.add_argument(
        "--web", type=Path, help="directory for the unpacked web, reused if it exists; default: a temporary one"
    )
    parser.add_argument("--port", type=int, default=8091)
    parser.add_argument("--set", action="append", default=[], help="an option for both crawls: SECTION.OPTION=VALUE")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    language = codes.parse(arguments.language)
    further = dict(setting.split("=", 1) for setting in arguments.set)
    with tempfile.TemporaryDirectory(prefix="windrow-corpus-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        with web(arguments.profile, (arguments.web or Path(made, "web")).absolute(), arguments.port) as site:
            whole, usual = Path(made, "everything"), Path(made, "defaults")
            first = completeness(site, language, crawl(site, whole, language, EVERYTHING | further), reasons(whole))
            second = cleanness(site, language, crawl(site, usual, language, further))
    if arguments.json:
        print(json.dumps({"everything": first, "defaults": second}, ensure_ascii=False))
        return
    held = f"pages held {first['pages_held']:.4f}"
    held += f" ({first['pages_held_of_true']:.4f} without pages that have no paragraph in the language)"
    held += f", text {first['text_held']:.4f}"
    print(f"{arguments.profile}, {language}: {first['bytes']:,} bytes wanted; {held}")
    for reason, share in first["missing"].items():
        print(f"  missing as {reason}: {share:.4f}")
        for example in sorted(first["examples"][reason])[:6]:
            print(f"    {example}")
    print(f"defaults: {second}")


if __name__ == "__main__":
    main()
