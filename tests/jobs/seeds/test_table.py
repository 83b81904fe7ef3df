"""Seeds from the columnar index: the hosts that have enough pages in a language."""

import pytest

from tests import crashing
from tests.jobs.index.test_query import PAGES, line, write
from windrow.config import ConfigError
from windrow.jobs.seeds import table
from windrow.jobs.seeds.table import LanguageHosts


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = tmp_path_factory.mktemp("table")
    rows = [line(host, number, code) for host, found in PAGES.items() for number, code in enumerate(found)]
    write(directory, {"crawl=A-1/subset=warc": rows, "crawl=A-2/subset=warc": rows[:1]})
    return str(directory)


def hosts(found: list[str]) -> list[str]:
    return list(dict.fromkeys(url.split("/")[2] for url in found))


def test_hosts_with_the_most_pages_come_first_and_those_with_few_stay_out(index: str) -> None:
    found = list(table.find(index, LanguageHosts(language="mal")))
    assert hosts(found) == ["ml.wikipedia.org", "fanport.in", "www.manorama.com"]
    assert found[:5] == [f"https://ml.wikipedia.org/{number}" for number in range(5)]
    assert len(found) == 15


def test_limits_and_crawl_are_options(index: str) -> None:
    wide = LanguageHosts(language="ml", min_pages=1, min_share=0.0, per_host=1)
    assert len(list(table.find(index, wide))) == 5
    assert list(table.find(index, LanguageHosts(language="mal", crawl="A-2"))) == []
    everything = LanguageHosts(language="mal", per_host=0, crawl="A-1")
    assert len(list(table.find(index, everything))) == 8 + 7 + 5


def test_an_empty_list_is_explained(index: str) -> None:
    result = crashing.run(["seeds", "--from-index", index, "--language", "ces"])
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"0 URLs\nwindrow: no host in {index} has 5 pages in ces that are 5 % of its pages; "
        "lower --min-pages or --min-share\n"
    )


def test_a_code_or_crawl_that_is_none_is_refused(index: str) -> None:
    with pytest.raises(ConfigError):
        list(table.find(index, LanguageHosts(language="malx'--")))
    with pytest.raises(ConfigError, match="is not the name of a crawl"):
        list(table.find(index, LanguageHosts(language="mal", crawl="x' OR 1=1")))
