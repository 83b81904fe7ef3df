"""`windrow options` and `windrow reasons` print the reference."""

import json

from typer.testing import CliRunner

from tests import crashing
from windrow import cli, config, rules
from windrow.records import Reason


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, [*arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_all_options_are_listed_with_their_defaults() -> None:
    lines = shown("options").splitlines()
    assert len(lines) == len(config.options())
    assert "fetch.delay = 5.0" in lines
    assert "paragraphs.headings = not set" in lines


def test_an_option_is_shown_with_its_unit_its_reason_and_its_range() -> None:
    assert shown("options", "fetch.delay") == (
        "fetch.delay = 5.0\n"
        "    Seconds between the end of a request and the start of the next one to the same host "
        "(Common Crawl's minimum). Can change while the crawl runs: windrow set.\n"
    )
    assert shown("options", "archive.level").endswith("Allowed: from 0 to 3.\n")


def test_a_section_is_shown_with_all_its_options() -> None:
    assert shown("options", "corpus").splitlines()[::2] == ["corpus.shard_bytes = 268435456", "corpus.level = 2"]


def test_options_are_printed_as_json() -> None:
    found = json.loads(shown("options", "--json"))
    assert [option["name"] for option in found] == [option.name for option in config.options()]
    (option,) = json.loads(shown("options", "archive.level", "--json"))
    assert option == {
        "name": "archive.level",
        "default": 2,
        "allowed": "from 0 to 3",
        "meaning": "Compression level of isal's gzip.",
        "live": False,
    }


def test_an_unknown_option_is_reported_with_the_nearest_one() -> None:
    result = crashing.run(["options", "fetch.dely"])
    assert (result.code, result.out) == (2, "")
    assert result.err == "windrow: there is no option or section 'fetch.dely'; did you mean 'fetch.delay'?\n"


def test_the_long_list_explains_every_option() -> None:
    found = shown("options", "--long")
    assert all(f"    {option.meaning}" in found for option in config.options())


def test_every_reason_and_every_rule_is_listed_with_its_meaning_and_option() -> None:
    lines = [line.split()[0] for line in shown("reasons").splitlines() if line.startswith("  ")]
    assert lines == [*[reason.value for reason in Reason], *rules.LINKS, *rules.QUALITY]
    found = json.loads(shown("reasons", "--json"))
    assert list(found["reasons"]) == [reason.value for reason in Reason]
    assert "404" in found["reasons"]["not-found"]["meaning"]
    assert "running text" in found["reasons"]["no-text"]["meaning"]
    assert found["rules"]["depth"]["option"] == "scope.max_depth"
    assert found["limits"]["short"] == {
        "meaning": "its text has too few characters",
        "option": "quality.min_characters",
        "score": "characters",
    }
