"""The check for a contact before a crawl starts."""

from pathlib import Path

import pytest

from windrow import config, urls
from windrow.crawler.setup import checks
from windrow.records import Task, Url

MANY = 500


def tasks(names: list[str]) -> list[Task]:
    return [Task(url=parsed(f"http://{name}/")) for name in names]


def parsed(text: str) -> Url:
    url = urls.parse(text)
    assert url is not None
    return url


def options(path: Path) -> config.Config:
    return config.Config(fetch=config.FetchOptions(hosts_file=str(path)))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list that gets the path of each text file when it is read."""
    paths: list[Path] = []
    genuine = Path.read_text

    def recorded(path: Path, encoding: str | None = None, errors: str | None = None) -> str:
        paths.append(path)
        return genuine(path, encoding, errors)

    monkeypatch.setattr(Path, "read_text", recorded)
    return paths


def test_the_hosts_file_is_read_once_for_any_number_of_seeds(tmp_path: Path, reads: list[Path]) -> None:
    names = [f"h{number}.test" for number in range(MANY)]
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"{name}\t127.0.0.1:8080\n" for name in names), "utf-8")
    checks.check_contact(options(hosts), tasks(names))
    assert reads == [hosts]


def test_a_seed_that_is_not_on_this_machine_is_found_among_many(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("*.test\t127.0.0.1:8080\naway.test\t192.0.2.1\n", "utf-8")
    names = [*(f"h{number}.test" for number in range(MANY)), "localhost", "away.test"]
    checks.check_contact(options(hosts), tasks(names[:-1]))
    with pytest.raises(config.ConfigError, match=r"the seed http://away\.test/ is not on this machine"):
        checks.check_contact(options(hosts), tasks(names))


def test_without_a_hosts_file_only_loopback_needs_no_contact() -> None:
    checks.check_contact(config.Config(), tasks(["localhost", "127.0.0.1", "[::1]"]))
    with pytest.raises(config.ConfigError, match=r"http://example\.org/"):
        checks.check_contact(config.Config(), tasks(["localhost", "example.org"]))
