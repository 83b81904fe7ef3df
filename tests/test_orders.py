"""Orders: what they change, and their files."""

import msgspec
import pytest

from windrow import orders
from windrow.config import ConfigError
from windrow.records import Controls, Order


def after(*given: Order) -> Controls:
    controls = Controls()
    for order in given:
        controls = orders.apply(controls, order)
    return controls


def test_a_pause_lasts_from_its_first_order_until_a_resume() -> None:
    first, second = orders.make("pause"), orders.make("pause")
    assert after(first, second).paused == first.time
    assert after(first, orders.make("resume")).paused == 0


def test_names_are_blocked_until_they_are_unblocked() -> None:
    block = orders.make("block", ["B.org.", "*.a.org", "b.org"])
    assert after(block).blocked == ("a.org", "b.org")
    assert after(block, orders.make("unblock", ["a.org"])).blocked == ("b.org",)


def test_options_are_set_and_given_back() -> None:
    change = orders.make("set", ["fetch.delay = 3", "crawl.max_pages=7"])
    assert after(change).options == {"fetch.delay": "3", "crawl.max_pages": "7"}
    assert after(change, orders.make("set", ["fetch.delay="])).options == {"crawl.max_pages": "7"}


def test_an_order_in_parts_is_unfinished_until_its_last_part_and_other_orders_do_not_end_it() -> None:
    whole = orders.make("retry", ["dns"])
    part = msgspec.structs.replace(whole, end=("a.org", 5))
    assert after(part).unfinished == part
    assert after(part, orders.make("pause")).unfinished == part
    assert after(part, msgspec.structs.replace(whole, start=("a.org", 5))).unfinished is None


def test_a_later_part_does_not_repeat_what_the_first_one_changed() -> None:
    unblock = orders.make("unblock", ["a.org"])
    parts = [msgspec.structs.replace(unblock, end=("b.org", 1)), msgspec.structs.replace(unblock, start=("b.org", 1))]
    block = orders.make("block", ["a.org"])
    assert after(block, parts[0], orders.make("block", ["a.org"]), parts[1]).blocked == ("a.org",)


def test_an_unknown_verb_changes_nothing() -> None:
    controls = after(orders.make("pause"))
    assert orders.apply(controls, Order("x", 1.0, "purge", ("a.org",))) is controls


def test_only_the_last_ids_are_remembered() -> None:
    given = [orders.make("pause") for _ in range(orders.RECENT + 3)]
    assert after(*given).recent == tuple(order.id for order in given[3:])


def test_a_part_covers_the_urls_behind_its_start_and_up_to_its_end_on_its_hosts() -> None:
    part = Order("x", 1.0, "retry", ("dns",), hosts=("b.org",), start=("a.b.org", 5), end=("c.b.org", 7))
    places = [("a.b.org", 5), ("a.b.org", 6), ("b.b.org", 0), ("b.c.org", 0), ("c.b.org", 7), ("c.b.org", 8)]
    assert [orders.covers(part, *place) for place in places] == [False, True, True, False, True, False]


def test_a_file_gives_back_its_order_and_names_are_in_the_order_of_time() -> None:
    given = [orders.make("retry", ["dns, tls", "dns"], ["A.org"]) for _ in range(20)]
    assert given[0].values == ("dns", "tls") and given[0].hosts == ("a.org",)
    assert [orders.decode(orders.encode(order)) for order in given] == given
    names = [orders.file_name(order) for order in given]
    assert len(set(names)) == 20 and [name[:21] for name in names] == sorted(name[:21] for name in names)
    assert names[0].endswith("-retry.json")


@pytest.mark.parametrize(
    ("verb", "values", "words"),
    [
        ("pause", ["now"], "takes no value"),
        ("block", [], "names no host"),
        ("block", ["http://a.org/"], "is not a name"),
        ("unblock", ["a b"], "is not a name"),
        ("add", [], "names no URL"),
        ("add", ["nowhere"], "not an http or https URL"),
        ("set", [], "names no option"),
        ("retry", [","], "names no reason"),
        ("retry", ["dns", "time-out"], "did you mean 'timeout'?"),
    ],
)
def test_values_that_cannot_be_used_are_refused(verb: str, values: list[str], words: str) -> None:
    with pytest.raises(ConfigError) as error:
        orders.make(verb, values)
    assert words in str(error.value)
