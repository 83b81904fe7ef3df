import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES, Sample
from windrow.config import ConfigError
from windrow.corpus import document
from windrow.jobs.inputs.filters import Filter, Wanted
from windrow.takedown import Takedown

DEU, CES, NEWS, BLOG, IP, ZHO = range(len(SAMPLES))


def kept(wanted: Wanted) -> list[int]:
    """Return the numbers of the samples that pass."""
    rules = Filter(wanted, Takedown())
    found = [document.read(samples.line(sample, number), "here") for number, sample in enumerate(SAMPLES)]
    return [number for number, one in enumerate(found) if not rules.refuses(one)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Wanted(), [DEU, CES, NEWS, BLOG, IP, ZHO]),
        (Wanted(languages=["de"]), [DEU, IP]),
        (Wanted(languages=["german", "ces"]), [DEU, CES, IP]),
        (Wanted(languages=["cmn"]), [ZHO]),
        (Wanted(tlds=["de", ".CZ"]), [DEU, CES]),
        (Wanted(domains=["example.co.uk"]), [NEWS, BLOG]),
        (Wanted(domains=["news.example.co.uk", "EXAMPLE.org"]), [NEWS, ZHO]),
        (Wanted(domains=["ample.de"]), []),
        (Wanted(domains=["192.0.2.7"]), [IP]),
        (Wanted(since="2026-11-16"), [CES]),
        (Wanted(since="2026-11-15T10:44:21.123"), [DEU, CES, NEWS, BLOG, IP, ZHO]),
        (Wanted(since="2026-11-15T10:44:21.124"), [CES]),
        (Wanted(until="2026-11-15"), [DEU, NEWS, BLOG, IP, ZHO]),
        (Wanted(until="2026-11-15T10:43"), []),
        (Wanted(until="2026"), [DEU, CES, NEWS, BLOG, IP, ZHO]),
        (Wanted(date_from="2019"), [DEU, CES]),
        (Wanted(date_from="2019-01-31", date_to="2019"), [CES]),
        (Wanted(date_to="2020-05-04"), [DEU, CES]),
        (Wanted(least=["language=0.75"]), [DEU, CES, NEWS, BLOG, ZHO]),
        (Wanted(most=["language=0.75"]), [DEU, CES, NEWS, IP, ZHO]),
        (Wanted(least=["quality=0.1"], most=["language=1"]), [BLOG]),
        (Wanted(least=["own.judge:a=b=0.5"]), []),
        (Wanted(signals=["license"]), [ZHO]),
        (Wanted(signals=["train-ai=n", "license=https://l.example/by"]), [NEWS, ZHO]),
        (Wanted(signals=["train-ai=y"]), []),
        (Wanted(without=["noindex"]), [DEU, CES, NEWS, IP, ZHO]),
        (Wanted(profile="training"), [DEU, CES, IP, ZHO]),
        (Wanted(profile="research"), [DEU, CES, NEWS, IP, ZHO]),
        (Wanted(profile="record-only"), [DEU, CES, NEWS, BLOG, IP, ZHO]),
        (Wanted(languages=["eng"], tlds=["uk"], without=["train-ai=n"]), [BLOG]),
    ],
)
def test_documents_that_pass_every_filter_are_kept(wanted: Wanted, expected: list[int]) -> None:
    assert kept(wanted) == expected


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(languages=["germn"]), "German"),
        (Wanted(since="yesterday"), "--since 'yesterday' is not a time"),
        (Wanted(until="2026-13"), "--until '2026-13' is not a time"),
        (Wanted(date_from="2026-02-30"), "--date-from"),
        (Wanted(least=["language"]), "--min-score 'language' is not name=value"),
        (Wanted(most=["language=much"]), "--max-score"),
        (Wanted(signals=["a b"]), "is not a signal"),
        (Wanted(profile="strict"), "--profile 'strict' is unknown"),
        (Wanted(domains=["a b"]), "--domain"),
        (Wanted(domains=["example.org/path"]), "--domain"),
        (Wanted(tlds=["c z"]), "--tld"),
    ],
)
def test_an_invalid_filter_is_refused(wanted: Wanted, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        kept(wanted)
    assert words in str(caught.value)


def test_a_score_that_no_document_has_is_reported() -> None:
    rules = Filter(Wanted(least=["quality=0", "langauge=0.5"]), Takedown())
    for number, sample in enumerate((*SAMPLES, Sample("http://a.example/", "deu", ("x",)))):
        rules.refuses(document.read(samples.line(sample, number), "here"))
    assert rules.unknown() == "langauge"


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        (Wanted(since="2026-11-15", until="2026-11-01"), "--since 2026-11-15 and --until 2026-11-01"),
        (Wanted(date_from="2027", date_to="2026-12"), "--date-from 2027 and --date-to 2026-12"),
        (
            Wanted(least=("language=0.9",), most=("language=0.1",)),
            "--min-score language=0.9 and --max-score language=0.1",
        ),
    ],
)
def test_filters_that_no_document_can_pass_are_refused(wanted: Wanted, named: str) -> None:
    with pytest.raises(ConfigError, match=f"no document fits both {named}; change one of them"):
        Filter(wanted, Takedown())


def test_a_range_may_begin_and_end_on_one_day() -> None:
    Filter(Wanted(since="2026-11-15T10:44", until="2026-11-15", date_from="2020-05", date_to="2020"), Takedown())
    Filter(Wanted(least=("a=1",), most=("a=1", "b=0")), Takedown())
