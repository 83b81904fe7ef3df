"""The detector: an outage of our own network is told from hosts that are gone. Time is passed in."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from windrow.crawler.machine.outage import LONGEST, PATIENCE, SHORTEST, SPACING, Detector, Way

NAMES, HOSTS = Way.NAMES, Way.HOSTS
BOTH, NOTHING = frozenset(Way), frozenset[Way]()


def declared(way: Way = HOSTS, few: float = 0.0, most: float = 0.0) -> Detector:
    """Return a detector that has just declared an outage, at 102; the failure was at 100."""
    detector = Detector(few, most)
    detector.hold(way, 100.0)
    detector.checked(NOTHING, 101.0, True, 102.0)
    assert detector.since == 100.0
    return detector


def test_a_failure_counts_when_a_later_request_is_answered() -> None:
    detector = Detector(0.0, 0.0)
    assert detector.verdict(HOSTS, 1e9) is None
    token = detector.hold(HOSTS, 100.0)
    assert detector.alert and detector.due == 100.0 + PATIENCE
    assert detector.answered(HOSTS, 100.5) == {token: True}
    assert not detector.alert and detector.due == math.inf


def test_an_answer_to_an_earlier_request_decides_nothing() -> None:
    detector = Detector(0.0, 0.0)
    token = detector.hold(HOSTS, 100.0)
    assert detector.answered(HOSTS, 99.9) == {}
    assert detector.answered(HOSTS, 100.0) == {token: True}


def test_an_address_that_answers_says_nothing_of_dns_and_the_reverse() -> None:
    detector = Detector(0.0, 0.0)
    name, host = detector.hold(NAMES, 100.0), detector.hold(HOSTS, 100.0)
    assert detector.wanted() == BOTH
    assert detector.answered(HOSTS, 101.0) == {host: True}
    assert detector.wanted() == {NAMES}
    assert detector.answered(NAMES, 101.0) == {name: True}


def test_probes_that_reach_a_host_make_failures_count() -> None:
    detector = Detector(0.0, 0.0)
    token, later = detector.hold(HOSTS, 100.0), detector.hold(HOSTS, 101.5)
    assert detector.checked(frozenset({HOSTS}), 101.0, True, 102.0) == {token: True}
    assert not detector.since
    assert detector.due == 102.0 + SPACING, "the later failure waits for the next round"
    assert detector.answered(HOSTS, 103.0) == {later: True}


def test_probes_that_reach_no_host_pardon_everything_that_is_held() -> None:
    detector = Detector(0.0, 0.0)
    tokens = [detector.hold(HOSTS, 100.0), detector.hold(NAMES, 100.2), detector.hold(HOSTS, 101.7)]
    assert detector.checked(NOTHING, 101.0, True, 102.0) == dict.fromkeys(tokens, False)
    assert detector.since == 100.0
    assert detector.verdict(HOSTS, 1e9) is detector.verdict(NAMES, 1e9) is False


def test_failures_after_the_start_of_a_round_do_not_declare_an_outage() -> None:
    detector = Detector(0.0, 0.0)
    detector.hold(HOSTS, 100.0)
    detector.answered(HOSTS, 100.5)
    detector.hold(HOSTS, 101.5)
    assert detector.checked(NOTHING, 101.0, True, 102.0) == {}
    assert not detector.since


def test_the_intervals_between_rounds_rise_to_a_limit() -> None:
    detector, now, waits = declared(), 102.0, []
    for _ in range(9):
        waits.append(detector.due - now)
        now = detector.due
        detector.checked(NOTHING, now, True, now)
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert (waits[0], waits[-1]) == (SHORTEST, LONGEST)


def test_an_outage_ends_when_everything_works_that_did_not() -> None:
    detector = Detector(0.0, 0.0)
    detector.hold(HOSTS, 100.0)
    detector.hold(NAMES, 100.0)
    detector.checked(NOTHING, 101.0, True, 102.0)
    detector.checked(frozenset({HOSTS}), 103.0, True, 103.0)
    assert detector.since, "DNS is still gone"
    detector.checked(BOTH, 105.0, True, 105.0)
    assert not detector.since and detector.due == math.inf
    assert detector.verdict(HOSTS, 1e9) is None


def test_an_answer_to_a_request_from_before_the_outage_does_not_end_it() -> None:
    detector = declared()
    detector.answered(HOSTS, 101.9)
    assert detector.since
    detector.answered(HOSTS, 102.0)
    assert not detector.since


def test_a_request_that_was_sent_during_an_outage_is_pardoned_after_it() -> None:
    detector = declared()
    detector.checked(BOTH, 110.0, True, 110.5)
    assert not detector.since
    assert detector.verdict(NAMES, 109.9) is False
    assert detector.verdict(NAMES, 110.0) is None


def test_an_outage_may_last_for_ever_if_enough_hosts_say_so() -> None:
    detector = declared(few=10.0)
    detector.checked(NOTHING, 1e6, True, 1e6)
    assert detector.since
    detector.checked(NOTHING, 1e6, False, 1e6)
    assert not detector.since, "now it could also be the hosts"


def test_after_the_limit_failures_count_until_something_answers() -> None:
    detector = declared(most=10.0)
    detector.checked(NOTHING, 109.0, True, 109.9)
    assert detector.since
    detector.checked(NOTHING, 109.0, True, 110.0)
    assert not detector.since and detector.due == math.inf
    assert detector.verdict(HOSTS, 1e9) is True
    assert detector.verdict(NAMES, 1e9) is None, "DNS was not away"
    detector.answered(NAMES, 111.0)
    assert detector.verdict(HOSTS, 1e9) is True, "an answer of DNS says nothing of hosts"
    detector.answered(HOSTS, 111.0)
    assert detector.verdict(HOSTS, 1e9) is None


def test_a_failure_that_nobody_waits_for_is_forgotten() -> None:
    detector = Detector(0.0, 0.0)
    detector.drop(detector.hold(HOSTS, 100.0))
    assert not detector.alert and detector.due == math.inf


@given(st.lists(st.tuples(st.sampled_from(Way), st.floats(0.1, 50.0)), min_size=1, max_size=30))
def test_while_every_failure_is_followed_by_an_answer_no_outage_is_declared(failures: list[tuple[Way, float]]) -> None:
    detector, now = Detector(0.0, 0.0), 100.0
    for way, wait in failures:
        token = detector.hold(way, now)
        assert detector.answered(way, now) == {token: True}
        now += wait
        detector.checked(NOTHING, now, True, now)
        assert not detector.since


class Crawls(RuleBasedStateMachine):
    """Any order of failures, answers and rounds: each failure is decided once, and correctly."""

    def __init__(self) -> None:
        super().__init__()
        self.detector = Detector(300.0, 900.0)
        self.now = 1000.0
        self.held: dict[int, tuple[Way, float]] = {}
        self.proofs: dict[Way, float] = dict.fromkeys(Way, 0.0)

    def decide(self, decided: dict[int, bool]) -> None:
        for token, counts in decided.items():
            way, time = self.held.pop(token)
            if counts:
                assert time <= self.proofs[way], "a failure counts only if something was answered after it"
            else:
                assert self.detector.since, "a failure is pardoned only if we are offline"

    @rule(seconds=st.floats(0.0, 40.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(way=st.sampled_from(Way))
    def fail(self, way: Way) -> None:
        if self.detector.verdict(way, self.now) is None:
            self.held[self.detector.hold(way, self.now)] = (way, self.now)

    @rule(way=st.sampled_from(Way), age=st.floats(0.0, 20.0))
    def answer(self, way: Way, age: float) -> None:
        self.proofs[way] = max(self.proofs[way], self.now - age)
        self.decide(self.detector.answered(way, self.now - age))

    @precondition(lambda self: self.detector.due < math.inf)
    @rule(proven=st.frozensets(st.sampled_from(Way)), certain=st.booleans(), seconds=st.floats(0.0, 10.0))
    def check(self, proven: frozenset[Way], certain: bool, seconds: float) -> None:
        start = self.now = max(self.now, self.detector.due)
        self.now += seconds
        for way in proven:
            self.proofs[way] = max(self.proofs[way], start)
        self.decide(self.detector.checked(proven, start, certain, self.now))
        if proven == BOTH:
            assert not self.detector.since

    @invariant()
    def something_is_due_while_something_is_undecided(self) -> None:
        detector = self.detector
        assert bool(self.held or detector.since) == (detector.due < math.inf)
        assert detector.due == math.inf or detector.due <= self.now + LONGEST + SPACING
        assert detector.alert == bool(self.held or detector.since or detector.resigned)
        assert not (detector.since and self.held)


TestCrawls = Crawls.TestCase
TestCrawls.settings = settings(max_examples=50, stateful_step_count=30)
