import asyncio
import socket
import threading
from pathlib import Path

import pytest

from windrow import config
from windrow.fetch import resolve
from windrow.fetch.resolve import Resolved, Resolver
from windrow.records import Reason

KNOWN = config.IdentityOptions(contact="https://example.org/bot")


class Dns:
    """A resolver with prepared answers, which records the requested names."""

    def __init__(self, **answers: list[str] | OSError) -> None:
        self.answers: dict[str, list[str] | OSError] = {
            name.replace("_", "."): answer for name, answer in answers.items()
        }
        self.requested: list[str] = []

    def __call__(self, host: str) -> list[str]:
        self.requested.append(host)
        answer = self.answers.get(host, gone())
        if isinstance(answer, OSError):
            raise answer
        return answer


def gone() -> OSError:
    return socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def failing() -> OSError:
    return socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def find(dns: Dns, host: str, **options: object) -> Resolved:
    async def run() -> Resolved:
        return await resolver(dns, **options).find(host, 0.0)

    return asyncio.run(run())


def resolver(dns: Dns, **options: object) -> Resolver:
    return Resolver(config.FetchOptions(**options), KNOWN, dns)  # type: ignore[arg-type]


def hosts(tmp_path: Path, text: str) -> str:
    path = tmp_path / "hosts"
    path.write_text(text, "utf-8")
    return str(path)


def test_a_name_is_looked_up_once_until_its_answer_expires() -> None:
    dns = Dns(a_test=["198.51.100.1"])

    async def run() -> list[Resolved]:
        names = resolver(dns, dns_ttl=100.0)
        return [await names.find("a.test", now) for now in (0.0, 40.0, 99.0, 100.0)]

    found = asyncio.run(run())
    assert [answer.address for answer in found] == ["198.51.100.1"] * 4
    assert [answer.ttl for answer in found] == [100.0, 60.0, 1.0, 100.0]
    assert dns.requested == ["a.test", "a.test"]


def test_simultaneous_calls_for_a_name_share_one_look_up() -> None:
    dns = Dns(a_test=["198.51.100.1"])

    async def run() -> list[Resolved]:
        names = resolver(dns)
        return list(await asyncio.gather(*(names.find("A.test.", 0.0) for _ in range(5))))

    assert {answer.address for answer in asyncio.run(run())} == {"198.51.100.1"}
    assert dns.requested == ["a.test"]


def test_a_cancelled_call_does_not_cancel_the_look_up_of_the_others() -> None:
    dns, started, release = Dns(a_test=["198.51.100.1"]), threading.Event(), threading.Event()

    def slow(host: str) -> list[str]:
        started.set()
        release.wait()
        return dns(host)

    async def run() -> Resolved:
        names = Resolver(config.FetchOptions(), KNOWN, slow)
        first = asyncio.create_task(names.find("a.test", 0.0))
        second = asyncio.create_task(names.find("a.test", 0.0))
        await asyncio.to_thread(started.wait)
        first.cancel()
        release.set()
        return await second

    assert asyncio.run(run()).address == "198.51.100.1"


def test_ipv4_comes_before_ipv6() -> None:
    dns = Dns(a_test=["2606:4700::1", "198.51.100.1"], b_test=["2606:4700::1"])
    assert find(dns, "a.test").address == "198.51.100.1"
    assert find(dns, "b.test").address == "2606:4700::1"


def test_a_name_that_does_not_exist_is_no_such_host() -> None:
    found = find(Dns(), "a.test", dns_negative_ttl=60.0)
    assert found == Resolved("", 60.0, Reason.NO_SUCH_HOST, "Name or service not known")


@pytest.mark.parametrize("code", [socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY])
def test_a_failure_to_resolve_does_not_mean_that_the_name_is_missing(code: int) -> None:
    assert find(Dns(a_test=socket.gaierror(code, "failed")), "a.test").reason is Reason.DNS


def test_a_failure_is_cached_longer_each_time_and_never_forever() -> None:
    dns = Dns(a_test=gone(), b_test=failing())

    async def run() -> dict[str, list[float]]:
        names = resolver(dns, dns_negative_ttl=60.0)
        ttls: dict[str, list[float]] = {"a.test": [], "b.test": []}
        for host, found in ttls.items():
            now = 0.0
            for _ in range(6):
                found.append((await names.find(host, now)).ttl)
                now += found[-1]
        return ttls

    assert asyncio.run(run()) == {
        "a.test": [60.0, 120.0, 240.0, 480.0, 900.0, 900.0],
        "b.test": [60.0, 120.0, 240.0, 300.0, 300.0, 300.0],
    }


def test_a_host_is_found_again_when_dns_works_again() -> None:
    dns = Dns(a_test=failing())

    async def run() -> list[Resolved]:
        names = resolver(dns, dns_negative_ttl=60.0)
        found = [await names.find("a.test", 0.0), await names.find("a.test", 59.0)]
        dns.answers["a.test"] = ["198.51.100.1"]
        found += [await names.find("a.test", 59.9), await names.find("a.test", 60.0)]
        dns.answers["a.test"] = failing()
        return [*found, await names.find("a.test", 4000.0)]

    found = asyncio.run(run())
    assert [answer.reason for answer in found] == [Reason.DNS, Reason.DNS, Reason.DNS, None, Reason.DNS]
    assert found[-1].ttl == 60.0
    assert len(dns.requested) == 3


def test_a_clock_that_jumps_back_does_not_prolong_an_answer() -> None:
    dns = Dns(a_test=failing())

    async def run() -> None:
        names = resolver(dns)
        await names.find("a.test", 1e9)
        await names.find("a.test", 1.0)

    asyncio.run(run())
    assert len(dns.requested) == 2


def test_no_answer_in_time_is_a_failure_and_its_thread_counts_until_it_ends() -> None:
    release, requested = threading.Event(), []

    def stuck(host: str) -> list[str]:
        requested.append(host)
        release.wait()
        return ["198.51.100.1"]

    async def run() -> list[Resolved]:
        names = Resolver(config.FetchOptions(connect_timeout=0.05, dns_threads=1), KNOWN, stuck)
        found = [await names.find("a.test", 0.0), await names.find("b.test", 0.0)]
        release.set()
        return [*found, await names.find("c.test", 0.0)]

    found = asyncio.run(run())
    assert [answer.reason for answer in found] == [Reason.DNS, Reason.DNS, None]
    assert requested == ["a.test", "c.test"]


def test_a_bug_in_the_look_up_is_raised() -> None:
    def broken(host: str) -> list[str]:
        raise KeyError(host)

    async def run() -> None:
        await Resolver(config.FetchOptions(), KNOWN, broken).find("a.test", 0.0)

    with pytest.raises(KeyError):
        asyncio.run(run())


@pytest.mark.parametrize(
    "host", ["a" * 64 + ".test", ".".join(["a"] * 200), "a..test", "a b.test", "a\0b.test", "ä.test", ""]
)
def test_a_name_that_is_invalid_in_dns_is_not_looked_up(host: str) -> None:
    dns = Dns()
    assert find(dns, host).reason is Reason.NO_SUCH_HOST
    assert dns.requested == []


@pytest.mark.parametrize("ip", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:a00:1", "0.0.0.0"])
def test_a_name_for_a_private_address_is_blocked(ip: str) -> None:
    found = find(Dns(a_test=[ip]), "a.test")
    assert (found.address, found.reason) == ("", Reason.BLOCKED_ADDRESS)
    assert ip in found.detail


def test_a_private_address_among_several_is_never_chosen() -> None:
    assert find(Dns(a_test=["10.0.0.1", "127.0.0.1", "2606:4700::1"]), "a.test").address == "2606:4700::1"


def test_private_addresses_are_allowed_by_option() -> None:
    assert find(Dns(a_test=["10.0.0.1"]), "a.test", allow_private=True).address == "10.0.0.1"
    assert find(Dns(a_test=["169.254.169.254"]), "a.test", allow_private=True).reason is Reason.BLOCKED_ADDRESS


def test_without_a_contact_only_loopback_is_allowed() -> None:
    dns = Dns(public_test=["198.51.100.1"], private_test=["10.0.0.1"], here_test=["127.0.0.1"])

    async def run() -> list[Resolved]:
        names = Resolver(config.FetchOptions(allow_private=True), config.IdentityOptions(), dns)
        return [await names.find(host, 0.0) for host in ("public.test", "private.test", "here.test")]

    found = asyncio.run(run())
    assert [answer.reason for answer in found] == [Reason.BLOCKED_ADDRESS, Reason.BLOCKED_ADDRESS, None]
    assert "identity.contact" in found[0].detail


@pytest.mark.parametrize(
    ("host", "ip"),
    [("198.51.100.1", "198.51.100.1"), ("[2606:4700::1]", "2606:4700::1"), ("2606:4700::1", "2606:4700::1")],
)
def test_a_literal_address_resolves_to_itself(host: str, ip: str) -> None:
    dns = Dns()
    assert find(dns, host).address == ip
    assert dns.requested == []


def test_a_literal_address_is_checked_too() -> None:
    assert find(Dns(), "127.0.0.1").reason is Reason.BLOCKED_ADDRESS
    assert find(Dns(), "[::1]").reason is Reason.BLOCKED_ADDRESS


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "REMEMBERED", 2)
    dns = Dns(a_test=["198.51.100.1"], b_test=["198.51.100.2"], c_test=["198.51.100.3"])

    async def run() -> None:
        names = resolver(dns)
        for host in ("a.test", "b.test", "c.test", "c.test", "b.test", "a.test"):
            await names.find(host, 0.0)

    asyncio.run(run())
    assert dns.requested == ["a.test", "b.test", "c.test", "a.test"]


def test_a_hosts_file_replaces_dns(tmp_path: Path) -> None:
    text = (
        "# mirrors\na.test\t198.51.100.1\n\nb.test 198.51.100.2:8080  # with a port\n"
        "C.test\t[2606:4700::1]:81\n*.d.test\t198.51.100.4:82\n"
    )
    path = hosts(tmp_path, text)
    dns = Dns(z_test=["198.51.100.9"])
    wanted = {
        "a.test": "198.51.100.1",
        "b.test": "198.51.100.2:8080",
        "c.test": "[2606:4700::1]:81",
        "www.d.test": "198.51.100.4:82",
        "a.b.d.test": "198.51.100.4:82",
        "d.test": "",
        "z.test": "",
    }
    found = {host: find(dns, host, hosts_file=path) for host in wanted}
    assert {host: answer.address for host, answer in found.items()} == wanted
    assert found["z.test"].reason is Reason.NO_SUCH_HOST
    assert dns.requested == []


def test_the_nearest_wildcard_and_the_first_line_count(tmp_path: Path) -> None:
    path = hosts(
        tmp_path, "*.test\t198.51.100.1\n*.a.test\t198.51.100.2\nx.a.test\t198.51.100.3\nx.a.test\t198.51.100.4\n"
    )
    found = [
        find(Dns(), host, hosts_file=path).address
        for host in ("b.test", "b.a.test", "x.a.test", "y.x.a.test", "a.test")
    ]
    assert found == ["198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.2", "198.51.100.1"]


def test_addresses_of_a_hosts_file_are_checked(tmp_path: Path) -> None:
    path = hosts(tmp_path, "a.test\t127.0.0.1:8080\nb.test\t169.254.169.254\n")
    assert find(Dns(), "a.test", hosts_file=path).reason is Reason.BLOCKED_ADDRESS
    assert find(Dns(), "a.test", hosts_file=path, allow_private=True).address == "127.0.0.1:8080"
    assert find(Dns(), "b.test", hosts_file=path, allow_private=True).reason is Reason.BLOCKED_ADDRESS


@pytest.mark.parametrize(
    "line",
    [
        "a.test",
        "a.test 1.2.3",
        "a.test 1.2.3.4:0",
        "a.test 1.2.3.4 5.6.7.8",
        "1.2.3.4 a.test",
        "ä.test 1.2.3.4",
        "a/b 1.2.3.4",
    ],
)
def test_the_error_for_a_bad_line_names_its_place_and_the_fix(tmp_path: Path, line: str) -> None:
    path = hosts(tmp_path, f"ok.test\t198.51.100.1\n{line}\n")
    with pytest.raises(config.ConfigError) as error:
        resolver(Dns(), hosts_file=path)
    assert f"{path}, line 2: " in str(error.value)
    assert "write " in str(error.value)


def test_the_error_for_a_missing_hosts_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(config.ConfigError) as error:
        resolver(Dns(), hosts_file=str(tmp_path / "nothing"))
    assert str(tmp_path / "nothing") in str(error.value)


def test_the_resolver_of_the_system_knows_localhost() -> None:
    assert set(resolve.system("localhost")) & {"127.0.0.1", "::1"}


def test_an_answer_says_where_it_comes_from(tmp_path: Path) -> None:
    async def run(resolver: Resolver, *names: str) -> list[str]:
        return [(await resolver.find(name, 0.0)).source for name in names]

    dns = Dns(a_test=["198.51.100.1"], b_test=failing())
    assert asyncio.run(run(resolver(dns), "a.test", "a.test", "b.test", "b.test")) == ["dns", "cache", "dns", "cache"]
    assert asyncio.run(run(resolver(dns), "198.51.100.7", "not a name")) == ["local", "local"]
    listed = hosts(tmp_path, "a.test 198.51.100.1")
    assert asyncio.run(run(resolver(dns, hosts_file=listed), "a.test", "b.test")) == ["local", "local"]


def test_dns_can_be_asked_past_the_cache_and_an_answer_can_be_forgotten() -> None:
    dns = Dns(a_test=failing(), b_test=failing())

    async def run() -> list[Reason | None]:
        one = resolver(dns)
        found = [(await one.find(name, 0.0)).reason for name in ("a.test", "b.test")]
        dns.answers = {"a.test": ["198.51.100.1"], "b.test": ["198.51.100.2"]}
        found.append((await one.ask("b.test")).reason)
        one.forget("a.test")
        return [*found, *[(await one.find(name, 1.0)).reason for name in ("a.test", "b.test")]]

    assert asyncio.run(run()) == [Reason.DNS, Reason.DNS, None, None, Reason.DNS]
