"""The fingerprints of a page, by which exact duplicates are found: one of its payload and one of its clean text."""

from windrow.records import Report

_DIGITS = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV"
)  # base 32: RFC 4648's digits to int's


def of(digest: str, text: int) -> tuple[int, ...]:
    """Return the fingerprints, 64 bits each, of a payload's SHA-1 and a hash of clean text; none without text."""
    return (of_payload(digest), text) if text else ()


def of_payload(digest: str) -> int:
    """Return the first 64 bits of a payload's SHA-1."""
    return int(digest[:13].translate(_DIGITS), 32) >> 1


def of_report(report: Report) -> tuple[int, ...]:
    return of(report.digest, report.text)
