"""tdmrep.json: read leniently, matched like robots.txt, in time that grows linearly with its length."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import origin, urls
from windrow.config import Config
from windrow.origin import tdmrep
from windrow.origin.tdmrep import Reservation
from windrow.records import Capture, Failure, FileState, Kind, Origin, OriginFile, Reason, Signal, Task

BASE = "https://provider.example/.well-known/tdmrep.json"
POLICY = "https://provider.example/policies/policy.json"
# The example of the specification, section "TDM File on the Origin Server".
EXAMPLE = [
    {"location": "/directory-a/", "tdm-reservation": 1},
    {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": POLICY},
    {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
]


def condense(rules: object) -> str:
    return tdmrep.condense(json.dumps(rules).encode(), BASE)


def find(rules: object, path: str) -> Reservation | None:
    return tdmrep.parse(condense(rules)).find(path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/directory-a/file.pdf", Reservation("1")),
        ("/directory-b/html/page.html?x=1", Reservation("1", POLICY)),
        ("/directory-b/images/deep/photo.jpg", Reservation("0")),
        ("/directory-b/images/photo.png", None),
        ("/directory-a", None),
        ("/Directory-A/file.pdf", None),
        ("/", None),
    ],
)
def test_the_specification_s_example_says_what_it_says(path: str, said: Reservation | None) -> None:
    assert find(EXAMPLE, path) == said


def test_the_first_rule_that_fits_counts() -> None:
    specific = {"location": "/free/", "tdm-reservation": 0}
    general = {"location": "/", "tdm-reservation": 1}
    assert find([specific, general], "/free/a") == Reservation("0")
    assert find([specific, general], "/other") == Reservation("1")
    assert find([general, specific], "/free/a") == Reservation("1")


@pytest.mark.parametrize(
    ("location", "path", "fits"),
    [
        ("/", "/a", True),
        ("*", "/a", True),
        ("/a", "/b", False),
        ("/a$", "/a", True),
        ("/a$", "/ab", False),
        ("/a*", "/ab", True),
        ("/*.pdf$", "/x.pdf.pdf", True),
        ("/*.pdf$", "/x.pdfs", False),
        ("/*.pdf", "/x.pdfs", True),
        ("*$", "/anything", True),
        ("/a*b*c", "/a-c-b-c", True),
        ("/a*b*c", "/a-c-b", False),
        ("/ab*b$", "/ab", False),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-%24", True),
        ("/ツ/", "/%E3%83%84/1", True),
        ("/%e3%83%84/", "/%E3%83%84/1", True),
        ("/%61/", "/a/1", True),
        ("/a/", "/%61/1", True),
        ("/a%2Fb", "/a/b", False),
        ("/a b/", "/a%20b/1", True),
        ("/a\nb/", "/a%0Ab/1", True),
    ],
)
def test_a_location_is_matched_as_a_path_in_robots_txt(location: str, path: str, fits: bool) -> None:
    assert (find([{"location": location, "tdm-reservation": 1}], path) is not None) is fits


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (1, "1"),
        (0, "0"),
        ("1", "1"),
        (" 0 ", "0"),
        (2, ""),
        (-1, ""),
        (True, ""),
        (1.0, ""),
        (None, ""),
        ("yes", ""),
        ([1], ""),
        ({}, ""),
    ],
)
def test_a_reservation_is_zero_or_one_and_anything_else_is_no_rule(value: object, meant: str) -> None:
    """The next one counts then."""
    rules = [{"location": "/", "tdm-reservation": value, "tdm-policy": POLICY}, {"location": "/", "tdm-reservation": 1}]
    assert find(rules, "/") == (Reservation(meant, POLICY) if meant else Reservation("1"))


@pytest.mark.parametrize(
    ("policy", "meant"),
    [
        (POLICY, POLICY),
        ("/policy.html", "https://provider.example/policy.html"),
        ("javascript:alert(1)", ""),
        ("https://a.example/" + "x" * 5000, ""),
        ("https://[", ""),
        ("", ""),
        (17, ""),
        (None, ""),
    ],
)
def test_a_policy_is_an_address_of_the_web_or_none(policy: object, meant: str) -> None:
    assert find([{"location": "/", "tdm-reservation": 1, "tdm-policy": policy}], "/") == Reservation("1", meant)


@pytest.mark.parametrize(
    "rules",
    [
        None,
        {},
        [],
        17,
        "x",
        [1],
        [[]],
        [{}],
        [{"location": "/"}],
        [{"tdm-reservation": 1}],
        [{"location": 1, "tdm-reservation": 1}],
    ]
    + [
        [{"location": place, "tdm-reservation": 1}]
        for place in ("", "a/b", "https://provider.example/", "?", "/" + "a" * 5000)
    ],
)
def test_what_is_no_rule_says_nothing(rules: object) -> None:
    assert condense(rules) == ""
    assert find(rules, "/") is None


def test_what_is_no_rule_takes_nothing_from_those_beside_it() -> None:
    assert find([1, None, {"location": ["/"], "tdm-reservation": 1}, *EXAMPLE, "end"], "/directory-a/x") == Reservation(
        "1"
    )


def test_a_rule_that_lacks_its_brackets_is_a_rule() -> None:
    assert find({"location": "/", "tdm-reservation": 1}, "/x") == Reservation("1")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!doctype html><title>Not found</title>",
        b"[{",
        b"\xff\xfe[\x00",
        b"\x00" * 1000,
        b'[{"location": "/", "tdm-reservation": 1}] trailing',
        b"[" * 400_000,
        b'{"a":' * 80_000,
        b"[" * 200_000 + b"]" * 200_000,
        b'[{"location": "\xff", "tdm-reservation": 1}]',
        b'[{"location": "/\\ud800", "tdm-reservation": 1}]',
        b"1" * 400_000,
    ],
    ids=lambda body: repr(body[:12]),
)
def test_garbage_says_nothing(body: bytes) -> None:
    assert tdmrep.condense(body, BASE) == ""


def test_a_byte_order_mark_is_no_garbage() -> None:
    assert tdmrep.condense(b'\xef\xbb\xbf[{"location": "/", "tdm-reservation": 1}]', BASE) == "1 /"


def test_of_a_flood_of_rules_the_first_are_kept() -> None:
    many = [{"location": f"/{number}/", "tdm-reservation": 1} for number in range(5000)]
    text = condense(many)
    assert text.count("\n") + 1 == tdmrep.RULES
    assert (find(many, "/999/"), find(many, "/1000/")) == (Reservation("1"), None)
    long = [
        {"location": f"/{number}/{'a' * 1500}", "tdm-reservation": 1, "tdm-policy": POLICY} for number in range(5000)
    ]
    assert 0 < len(condense(long)) <= tdmrep.SIZE
    assert (
        condense([{"location": "/", "tdm-reservation": 1}] * 5000 + [{"location": "/b", "tdm-reservation": 0}])
        == "1 /\n0 /b"
    )


def test_locations_with_many_stars_take_linear_time() -> None:
    """A thousand such rules, each tried to its end on a long path: a regular expression would never end."""
    hostile = [{"location": f"/{'*a' * 20}{number}$", "tdm-reservation": 1} for number in range(1000)]
    matcher = tdmrep.parse(condense(hostile))
    assert matcher.find("/" + "a" * 2000 + "b") is None


NAMES = st.sampled_from(["location", "tdm-reservation", "tdm-policy", "x"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4))


@given(JSON, st.text(max_size=20))
def test_nothing_breaks_the_reader_and_every_line_is_read_back(rules: object, path: str) -> None:
    text = condense(rules)
    assert not text or all(line[:2] in ("0 ", "1 ") for line in text.split("\n"))
    tdmrep.parse(text).find("/" + path)


def answer(status: int = 200, body: bytes = b'[{"location": "/", "tdm-reservation": 1}]', **fields: object) -> Capture:
    url = urls.parse("https://provider.example/.well-known/tdmrep.json")
    assert url is not None
    head = f"HTTP/1.1 {status} X\r\n\r\n".encode()
    return Capture(
        Task(url, kind=Kind.FILE, file="tdmrep"), status, b"", head, body, 100.0, 0.1, "192.0.2.1", "http/1.1", **fields
    )  # type: ignore[arg-type]


KNOWN = Origin(
    name="https://provider.example",
    stamp=50.0,
    fetched=50.0,
    expires=500.0,
    delay=3.0,
    rules="user-agent: *\ndisallow: /x",
    files={"soft404": OriginFile(FileState.ABSENT)},
)
PRESENT = OriginFile(FileState.PRESENT, "1 /")
ABSENT = OriginFile(FileState.ABSENT)
UNANSWERED = OriginFile(FileState.UNANSWERED)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (answer(), PRESENT),
        (answer(203), PRESENT),
        (answer(204, b""), ABSENT),
        (answer(200, b"<html>"), ABSENT),
        (answer(301), ABSENT),
        (answer(401), ABSENT),
        (answer(404), ABSENT),
        (answer(410), ABSENT),
        (answer(429), UNANSWERED),
        (answer(500), UNANSWERED),
        (answer(503), UNANSWERED),
        (answer(truncated="length"), ABSENT),
        (answer(truncated="time"), UNANSWERED),
        (answer(truncated="disconnect"), UNANSWERED),
        (answer(encoded=True), ABSENT),
        (answer(body=b" " * 600_000 + b'[{"location": "/", "tdm-reservation": 1}]'), ABSENT),
        (Failure(answer().task, Reason.TIMEOUT, "", 100.0), UNANSWERED),
        (Failure(answer().task, Reason.CONNECT, "", 100.0), UNANSWERED),
    ],
)
def test_any_answer_means_something_and_leaves_the_rest_of_the_record_as_it_was(
    given: Capture | Failure, meant: OriginFile
) -> None:
    found = origin.learn(KNOWN, given, Config(), 101.0)
    assert found.files == {**KNOWN.files, "tdmrep": meant}
    assert (found.rules, found.fetched, found.expires, found.access, found.delay) == (
        KNOWN.rules,
        50.0,
        500.0,
        KNOWN.access,
        3.0,
    )
    assert found.stamp == 101.0, "a record that changed has a stamp of its own"


def test_an_origin_that_does_not_answer_twice_has_no_file() -> None:
    once = origin.learn(KNOWN, answer(500), Config(), 101.0)
    assert origin.learn(once, answer(503), Config(), 102.0).files["tdmrep"] == ABSENT
    assert origin.learn(once, answer(), Config(), 102.0).files["tdmrep"] == PRESENT


def test_a_rule_is_a_signal_about_the_paths_it_matches() -> None:
    known = origin.with_file(KNOWN, "tdmrep", OriginFile(FileState.PRESENT, f"1 /a {POLICY}\n0 /b"), 101.0)
    reserved = Signal("tdmrep.json", "tdm-reservation", "1", "tdm-reservation")
    policy = Signal("tdmrep.json", "tdm-policy", POLICY, "tdm-policy")
    assert origin.signals(known, "/a/1?x=2") == (reserved, policy)
    assert origin.signals(known, "/b") == (Signal("tdmrep.json", "tdm-reservation", "0", "tdm-reservation"),)
    assert origin.signals(known, "/c") == origin.signals(KNOWN, "/a") == ()
