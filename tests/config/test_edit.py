"""Options are changed in the text of a crawl.toml, and everything else stays."""

import tomllib

import pytest

from windrow import config

TEXT = """\
# The options of this crawl.
[fetch]  # how pages are requested
# Seconds between requests. Default: 5.0.
delay = 2.5

[focus]
# Links of pages with a score up to this go first.
#high = 0.0
medium = 4.0  # mine
#medium = 9.0

[scope]
#high = 1.0
"""


def test_an_option_is_replaced_where_it_stands_also_as_a_comment() -> None:
    found = config.edited(TEXT, {"focus.high": 1.5, "focus.medium": 6.0, "focus.by": "odds"})
    assert tomllib.loads(found) == {
        "fetch": {"delay": 2.5},
        "focus": {"high": 1.5, "medium": 6.0, "by": "odds"},
        "scope": {},
    }
    kept = [line for line in TEXT.splitlines() if line not in ("#high = 0.0", "medium = 4.0  # mine")]
    assert [line for line in found.splitlines() if line in kept] == kept


def test_a_section_that_is_not_there_is_added() -> None:
    assert tomllib.loads(config.edited("[fetch]\ndelay = 1.0\n", {"focus.high": 2.0}))["focus"] == {"high": 2.0}
    assert tomllib.loads(config.edited("", {"focus.high": 2.0}))["focus"] == {"high": 2.0}


@pytest.mark.parametrize("name", ["focus.high", "focus.cutoff"])
def test_changing_twice_leaves_one_line(name: str) -> None:
    once = config.edited(TEXT, {name: 2.0})
    assert config.edited(once, {name: 2.0}) == once
    assert config.edited(once, {name: 3.0}).count(f"\n{name[6:]} = ") == 1
