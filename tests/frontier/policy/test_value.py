"""The models of the value of links: what they learn, and what is known of a link before it is fetched."""

import math

import msgspec
import pytest

from tests.frontier.simulation import task
from windrow.frontier.policy import features, value
from windrow.frontier.policy.features import BYTES, NAMES, TEXT, WANTED
from windrow.frontier.policy.value import Models, Parent
from windrow.records import Reason, Report, Task


def found(text: str, hints: bytes = b"") -> bytes:
    url = task(text).url
    return features.of_host(url.host, url.domain) + features.of_page(url.text, url.host, hints)


def page(text: str = "http://a.org/", **fields: object) -> Report:
    return msgspec.structs.replace(Report(seq=1, task=task(text), reason=Reason.OK, detail="", time=1.0), **fields)


def test_a_model_tells_links_apart_after_a_few_pages() -> None:
    models = Models()
    for number in range(20):
        models.learn(WANTED, found(f"http://a.org/de/{number}.html"), 1.0)
        models.learn(WANTED, found(f"http://a.org/en/{number}.html"), 0.0)
    for host in ("a.org", "b.org"):
        german, english = [models.total(WANTED, found(f"http://{host}/{part}/new.html")) for part in ("de", "en")]
        assert german > 1 + english


def test_a_model_learns_how_large_pages_are() -> None:
    models = Models()
    for number in range(40):
        models.learn_bytes(BYTES, found(f"http://a.org/api/{number}.html"), 80_000)
        models.learn_bytes(BYTES, found(f"http://a.org/news/{number}.html"), 4_000)
    large, small = [models.total(BYTES, found(f"http://a.org/{part}/new.html")) for part in ("api", "news")]
    assert math.exp(large) > 30_000
    assert math.exp(small) < 8_000
    new = found("http://a.org/api/new.html")
    assert [models.total(model, new) for model in (TEXT, NAMES)] == [
        Models().total(model, new) for model in (TEXT, NAMES)
    ]


def test_models_come_back_from_their_state_as_they_were() -> None:
    models = Models()
    for number in range(9):
        models.learn(WANTED, found(f"http://a.org/{number}"), number % 2)
    again = Models(models.state())
    assert (again.weights, again.squares) == (models.weights, models.squares)


def test_the_code_of_a_wanted_language_counts_from_the_start() -> None:
    models = Models()
    value.prime(models, ["de"], [])
    plain = models.total(WANTED, found("http://a.org/x/index.html"))
    for text in (
        "http://a.org/de/index.html",
        "http://a.org/x/index.de.html",
        "http://a.org/x/?lang=de",
        "http://a.de/",
    ):
        assert models.total(WANTED, found(text)) == pytest.approx(plain + value.NAMED), text


def test_hints_hold_what_the_link_says_and_what_its_page_is_like() -> None:
    link = task("http://a.org/x", hints=b"\1\2")
    german = Parent(task("http://a.org/").url, language="deu", wanted=1.0, score=77, hops=2)
    packed = value.hints(link.url, link.hints, german)
    assert value.head(packed) == (77, 2)
    assert packed[3:5] == b"\1\2"
    assert packed != value.hints(link.url, link.hints, msgspec.structs.replace(german, language="fra"))
    assert value.hints(link.url, packed, german)[3:] == packed[3:] + packed[5:]


def test_a_page_without_running_text_passes_the_score_of_its_own_parent_on() -> None:
    own = value.hints(task("http://a.org/").url, b"", Parent(task("http://b.org/").url, score=90))
    scores = {"odds": 500.0}
    index = page(reason=Reason.QUALITY, task=task("http://a.org/", hints=own), scores=scores)
    article = page(reason=Reason.OK, task=task("http://a.org/", hints=own), scores=scores)
    assert value.parent(index, "odds").score == 90
    assert value.parent(article, "odds").score == value.pressed(500.0)


def test_hops_count_pages_in_a_row_without_wanted_text() -> None:
    links = task("http://a.org/", hints=value.hints(task("http://a.org/").url, b"", Parent(hops=3)))
    assert value.parent(page(task=links), "odds").hops == 4
    assert value.parent(page(task=links, kept=100), "odds").hops == 0
    far = task("http://a.org/", hints=value.hints(task("http://a.org/").url, b"", Parent(hops=value.MOST_HOPS)))
    assert value.parent(page(task=far), "odds").hops == value.MOST_HOPS


def test_with_a_topic_a_page_is_wanted_as_far_as_it_is_relevant() -> None:
    assert value.wanted(page(kept=100)) == 1.0
    assert value.wanted(page(kept=100, scores={"relevance": 0.25})) == 0.25
    assert value.wanted(page(scores={"relevance": 0.9})) == 0.0
    at_bound, twice = (page(kept=100, scores={"relevance": 0.5, "odds": odds}) for odds in (0.4, 0.8))
    assert (value.wanted(at_bound, "odds", 0.4), value.wanted(twice, "odds", 0.4)) == (0.5, 0.2)


@pytest.mark.parametrize("score", [0.001, 0.4, 1.0, 3.9, 360.0, 1e5, 1e7])
def test_a_score_fits_into_a_byte_in_order(score: float) -> None:
    assert 1 <= value.pressed(score) <= value.pressed(score * 1.2) <= 255
    assert value.pressed(score) < value.pressed(score * 2) or value.pressed(score) == 255 or score < 2.0**-8


def test_old_hints_without_a_head_have_no_score() -> None:
    assert value.head(b"\1\2\3\4") == (0, 0)
    assert Task(task("http://a.org/").url).hints == b""


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -1.0, 1e300])
@pytest.mark.parametrize("name", ["odds", "relevance"])
def test_any_score_of_a_report_is_a_share_and_fits_into_a_byte(name: str, number: float) -> None:
    odd = page(kept=100, scores={name: number})
    for bound in (0.0, 1e-9, 4.0):
        assert 0.0 <= value.wanted(odd, "odds", bound) <= 1.0
        above = value.parent(odd, "odds", bound)
        assert 0 <= above.score <= 255
        assert value.hints(odd.task.url, b"", above)
