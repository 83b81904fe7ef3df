"""The rule that retires a domain for low yield."""

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frontier.simulation import START, task
from windrow import config
from windrow.frontier.policy import budget
from windrow.frontier.policy.budget import Threshold, YieldRule
from windrow.frontier.store.rows import DomainRow
from windrow.records import Reason, Report


def rule(threshold: str = "strict", **fields: object) -> YieldRule:
    return budget.rule(config.FrontierOptions(yield_threshold=threshold, **fields))  # type: ignore[arg-type]


def account(pages: int, downloaded: int, kept: int = 0, **fields: int) -> DomainRow:
    return DomainRow(1, "a.org", pages=pages, downloaded=downloaded, kept=kept, **fields)


def answer(downloaded: int, kept: int, **fields: int) -> Report:
    return msgspec.structs.replace(
        Report(1, task("http://a.org/1"), Reason.OK, "", START, status=200), downloaded=downloaded, kept=kept, **fields
    )


rules = st.builds(
    YieldRule,
    factor=st.sampled_from([0.0, 0.002, 0.005, 0.01, 0.5]),
    start=st.sampled_from([0.0, 1.0, 2.5]),
    grace_pages=st.integers(0, 100),
    grace_bytes=st.integers(0, 10**6),
    by_pages=st.booleans(),
)
accounts = st.builds(
    account, st.integers(0, 10**6), st.integers(0, 10**9), st.integers(0, 10**8), yields=st.integers(0, 10**9)
)


@pytest.mark.parametrize(("pages", "least"), [(10, 0.00), (100, 0.01), (1000, 0.02), (10000, 0.03)])
def test_the_published_thresholds(pages: int, least: float) -> None:
    assert budget.threshold(rule("strict"), pages) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize(
    ("word", "least"),
    [("strict", 0.02), ("normal", 0.01), ("permissive", 0.004), ("0.1,2", 0.1), ("[0.5, -1]", 2.0), (".5,3", 0.0)],
)
def test_the_threshold_is_chosen_by_name_or_by_two_numbers(word: str, least: float) -> None:
    assert budget.threshold(rule(word), 1000) == pytest.approx(least)


@pytest.mark.parametrize("word", ["strict", "normal", "permissive", "off", "0.1,2", "[0.5, -1]", ".5, 3", "1,0"])
def test_the_configuration_accepts_every_threshold_that_the_rule_reads(
    word: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = config.make([f"frontier.yield_threshold={word}"], tmp_path_factory.mktemp("crawl"))
    assert budget.rule(made.frontier) == rule(word)


@pytest.mark.parametrize("word", ["", "lax", "0.1", "0.1,2,3", "-0.1,1", "nan,1", "0.1;1"])
def test_the_configuration_refuses_other_words(word: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(config.ConfigError, match="two numbers"):
        config.make([f"frontier.yield_threshold={word}"], tmp_path_factory.mktemp("crawl"))


@given(st.integers(1, 10**9), st.integers(1, 10**9), rules)
def test_the_threshold_never_falls(one: int, other: int, rule: YieldRule) -> None:
    less, more = sorted((one, other))
    assert budget.threshold(rule, less) <= budget.threshold(rule, more)


@given(st.integers(0, 9), st.sampled_from(["strict", "normal", "permissive"]))
def test_below_ten_pages_the_threshold_is_negative_and_nothing_is_retired(pages: int, word: str) -> None:
    assert budget.threshold(rule(word), pages) < 0
    assert not budget.retired(account(pages, 10**9), rule(word))


def test_at_ten_pages_no_text_is_required() -> None:
    assert not budget.retired(account(10, 10**9), rule())
    assert budget.retired(account(11, 10**9), rule())


@given(accounts, rules)
def test_nothing_is_retired_before_its_grace_of_pages_and_of_bytes(each: DomainRow, rule: YieldRule) -> None:
    if each.pages < rule.grace_pages or each.downloaded < rule.grace_bytes:
        assert not budget.retired(each, rule)


def test_both_graces_must_be_used_up() -> None:
    poor = [account(7, 10**7), account(100, (512 << 10) - 1), account(8, 512 << 10)]
    assert [budget.retired(each, rule("1,0")) for each in poor] == [False, False, True]


@given(accounts, rules)
def test_more_text_never_retires_a_domain_that_less_text_did_not(each: DomainRow, rule: YieldRule) -> None:
    more = msgspec.structs.replace(each, kept=2 * each.kept + 1, yields=2 * each.yields + 1)
    assert budget.retired(more, rule) <= budget.retired(each, rule)


@given(st.floats(0.0, 1.0), st.sampled_from([0.01, 0.05, 1.0]), st.booleans())
def test_every_domain_is_retired_in_the_end(share: float, factor: float, by_pages: bool) -> None:
    strict = YieldRule(factor, 1.0, 8, 512 << 10, by_pages)
    pages = 10 ** (2 + math.ceil(1 / factor))  # t(n) is above 1 there, and no yield is
    each = account(pages, 10_000 * pages, int(10_000 * share) * pages, yields=int(share * budget.PAGE) * pages)
    assert budget.retired(each, strict)


def test_off_retires_nothing() -> None:
    assert not budget.retired(account(10**6, 10**12), rule("off"))


def test_the_two_forms_differ() -> None:
    """A large page without text counts by its size in one form, and like any other page in the other."""
    each = account(0, 0)
    for report in [answer(99_000, 0), *[answer(10, 5)] * 99]:
        budget.enter(report, rule(), each)
    assert budget.rate(each, rule()) == pytest.approx(495 / 99_990)
    assert budget.rate(each, rule(yield_form="pages")) == pytest.approx(0.495)


def test_a_response_is_entered_into_the_account() -> None:
    each = account(0, 0)
    budget.enter(answer(1000, 100, clean=300, primary=200), rule(), each)
    budget.enter(answer(3000, 0), rule(), each)
    assert (each.pages, each.downloaded, each.kept, each.clean, each.primary, each.yields) == (
        2,
        4000,
        100,
        300,
        200,
        100_000,
    )


@pytest.mark.parametrize(("text", "rate"), [("kept", 0.1), ("clean", 0.3), ("primary", 0.2)])
def test_the_text_that_counts_can_be_chosen(text: str, rate: float) -> None:
    for form in ("bytes", "pages"):
        each = account(0, 0)
        chosen = rule(yield_text=text, yield_form=form)
        budget.enter(answer(1000, 100, clean=300, primary=200), chosen, each)
        assert budget.rate(each, chosen) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("primary", "share", "retired"), [(499, 0.5, True), (500, 0.5, False), (0, 0.0, False), (0, 0.01, True)]
)
def test_a_domain_with_too_small_a_share_of_the_primary_language_is_retired(
    primary: int, share: float, retired: bool
) -> None:
    each = account(10, 600_000, 500, clean=1000, primary=primary)
    assert budget.retired(each, rule("off", min_primary_share=share)) is retired


def test_a_domain_without_text_is_not_retired_for_its_share() -> None:
    assert not budget.retired(account(10, 600_000), rule("off", min_primary_share=0.5))


def test_the_yield_is_zero_if_nothing_was_downloaded() -> None:
    assert budget.rate(account(0, 0), rule()) == budget.rate(account(0, 0), rule(yield_form="pages")) == 0.0


def level(pages: int) -> float:
    """A user's threshold."""
    return 0.25


def lenient(options: dict[str, float], inner: Threshold) -> Threshold:
    """A user's threshold that wraps one of ours."""
    return lambda pages: inner(pages) * options["share"]


def test_a_threshold_of_the_user_is_a_function_of_the_number_of_pages() -> None:
    own = budget.rule(config.FrontierOptions(yield_threshold=f"{__name__}:level"), {})
    assert [budget.threshold(own, pages) for pages in (0, 1, 1000)] == [-math.inf, 0.25, 0.25]
    made = msgspec.structs.replace(own, grace_pages=1, grace_bytes=0)
    assert budget.retired(account(1, 1000, 249), made) and not budget.retired(account(1, 1000, 250), made)


@pytest.mark.parametrize(("inner", "required"), [({}, 0.005), ({"inner": "strict"}, 0.01)])
def test_a_threshold_of_the_user_wraps_one_of_ours(inner: dict[str, str], required: float) -> None:
    options = config.FrontierOptions(yield_threshold=f"{__name__}:lenient")
    own = budget.rule(options, {"lenient": {"share": 0.5, **inner}})
    assert budget.threshold(own, 1000) == pytest.approx(required)


def test_without_the_sections_a_threshold_of_the_user_is_left_out() -> None:
    assert budget.rule(config.FrontierOptions(yield_threshold="no_such_module:level")) == rule("off")


def test_the_configuration_accepts_a_threshold_of_the_user_and_its_section(tmp_path: Path) -> None:
    words = ["frontier.yield_threshold=mine", "plugins.mine.use=a:level"]
    assert config.make(words, tmp_path).frontier.yield_threshold == "mine"
    assert config.make(["frontier.yield_threshold=a:level"], tmp_path).frontier.yield_threshold == "a:level"
    with pytest.raises(config.ConfigError, match="two numbers"):
        config.make(["frontier.yield_threshold=mine", "plugins.other.use=a:level"], tmp_path)
