"""Comments above and behind fields are read as their documentation."""

import enum
from dataclasses import dataclass

from windrow.config import comments


@dataclass
class Example:
    """The docstring is no comment."""

    behind: int = 1  # Behind.
    # Above the field,
    # in two lines.
    above: int = 2
    wrapped: str = "text"  # Inside.
    without: int = 3
    marked: str = "# no comment"  # With a # inside.


class Colour(enum.Enum):
    RED = "red"  # Like blood.
    BLUE = "blue"


def test_comments_are_read_by_field() -> None:
    assert comments.read(Example) == {
        "behind": "Behind.",
        "above": "Above the field, in two lines.",
        "wrapped": "Inside.",
        "without": "",
        "marked": "With a # inside.",
    }


def test_members_of_an_enum_have_comments_too() -> None:
    assert comments.read(Colour) == {"RED": "Like blood.", "BLUE": ""}
