"""Each rule that a stage can name is explained, with an option that exists."""

import ast
from pathlib import Path

import pytest

from windrow import config, rules
from windrow.config import Config
from windrow.frontier.local import admission
from windrow.judge import quality
from windrow.records import Reason

SOURCE = Path(__file__).resolve().parents[1] / "src" / "windrow"


def returned(path: str) -> set[str]:
    """Return the words that functions of a module return: the names of rules."""
    found = set()
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.Return) and node.value is not None:
            constants = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            found |= {word for word in constants if isinstance(word, str) and word.islower() and " " not in word}
    return found


@pytest.mark.parametrize("path", ["frontier/policy/scope.py", "frontier/local/admission.py"])
def test_every_rule_on_links_is_explained(path: str) -> None:
    assert returned(path) and returned(path) <= rules.LINKS.keys()


def test_the_rules_that_are_counted_elsewhere_are_explained() -> None:
    for path, name in {"refine.py": "nofollow", "frontier/local/acks.py": "same-pages"}.items():
        assert f'"{name}"' in (SOURCE / path).read_text() and name in rules.LINKS
    assert rules.LINKS[admission.CUTOFF].option == "focus.cutoff"


def test_every_limit_of_quality_is_explained_and_compared_with_the_right_option() -> None:
    good = {
        "characters": 1e6, "good": 1.0, "digits": 0.0, "symbols": 0.0, "letters": 1.0, "repeated_lines": 0.0,
        "repeated_words": 0.0, "sentences": 1.0,
    }  # fmt: skip
    assert quality.exceeded(good, Config().quality) == ""
    for name, rule in rules.QUALITY.items():
        bad = {**good, rule.score: 1.0 if rule.option.startswith("quality.max") else -1.0}
        assert quality.exceeded(bad, Config().quality) == name
    source = (SOURCE / "judge/quality.py").read_text()
    assert source.count('        ("') == len(rules.QUALITY)


def test_every_option_of_a_rule_exists() -> None:
    known = {option.name for option in config.options()}
    named = [*rules.LINKS.values(), *rules.QUALITY.values(), *rules.reasons().values()]
    assert {rule.option for rule in named if rule.option} <= known


def test_every_reason_has_a_meaning() -> None:
    assert list(rules.reasons()) == [reason.value for reason in Reason]
    assert all(rule.meaning for rule in rules.reasons().values())


def test_a_rule_is_shown_with_its_option_and_the_figure_of_the_page() -> None:
    found = rules.applied(Reason.QUALITY, "short", {"characters": 31.0}, Config())
    assert found is not None and (found.name, found.option, found.limit, found.figure) == (
        "short",
        "quality.min_characters",
        "100",
        31.0,
    )
    assert str(found) == "its text has too few characters (quality.min_characters = 100, this page has 31)"


def test_a_long_list_is_cut() -> None:
    text = str(rules.refusal("suffix", Config()))
    assert text.endswith('(scope.skip_suffixes = ["7z", "aac", "apk", "avi", "avif", "bin", …])')


def test_a_reason_without_a_rule_has_none() -> None:
    assert rules.applied(Reason.NOT_FOUND, "status 404", {}, Config()) is None


def test_the_page_of_reasons_is_up_to_date() -> None:
    written = (SOURCE.parents[1] / "docs" / "reasons.md").read_text()
    assert written == rules.page(), "run: python -m windrow.rules > docs/reasons.md"
