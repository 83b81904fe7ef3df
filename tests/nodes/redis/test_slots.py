"""Two requests to one address are never closer than the delay, whichever processes send them and whatever fails."""

import asyncio
import collections
import contextlib
import itertools
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.redisserver import Server, needs_redis
from windrow.nodes.redis import slots as module
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.slots import KEPT, RENEW, USE, VALID, Slots
from windrow.shards.transport import Unavailable

pytestmark = needs_redis

ROOT = Path(__file__).resolve().parents[3]
DELAY = 0.5
QUIET = VALID + DELAY


class Machine:
    """Processes on one clock that the test sets."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.now = 1000.0
        self.runner = asyncio.Runner()
        self.clients: list[RedisClient] = []

    def process(self, name: str, waits: bool = True, delay: float = DELAY) -> Slots:
        made = Slots(self.client(), "test", name, delay, lambda: self.now)
        self.round(made)
        if waits:
            self.now += VALID + delay
        return made

    def client(self) -> RedisClient:
        self.clients.append(RedisClient(self.server.url))
        return self.clients[-1]

    def round(self, process: Slots) -> list[str]:
        return self.runner.run(process.round()).granted

    def take(self, process: Slots, address: str) -> bool:
        """Let a process ask for an address that it does not hold; return whether it gets it."""
        assert process.want(address) is None
        return self.round(process) == [address]

    def pass_on(self, holder: Slots, other: Slots) -> list[str]:
        """Let a holder hear who waits, and give; return what the other gets."""
        for _ in range(2):
            self.round(holder)
        return self.round(other)

    def lose_answer(self, process: Slots) -> None:
        """Let a call of a process be carried out, and its answer be lost."""
        client = process._client

        async def call(*given: Any) -> None:
            await RedisClient.call(client, *given)
            raise Unavailable("the answer is lost")

        client.call = call  # type: ignore[method-assign]
        with pytest.raises(Unavailable):
            self.round(process)
        del client.call  # type: ignore[method-assign]

    def wait(self, seconds: float, *alive: Slots) -> None:
        """Let time pass, with rounds of these processes."""
        for _ in range(round(seconds / RENEW)):
            self.now += RENEW
            for process in alive:
                self.round(process)

    def close(self) -> None:
        for client in self.clients:
            self.runner.run(client.close())
        self.runner.close()


@pytest.fixture
def machine(server: Server) -> Iterator[Machine]:
    made = Machine(server)
    yield made
    made.close()


def test_an_address_that_nobody_has_used_is_granted_at_once(machine: Machine) -> None:
    one = machine.process("one")
    assert machine.take(one, "a") and one.start("a") <= machine.now and one.may_request("a")


def test_nothing_is_granted_before_a_new_process_has_waited(machine: Machine) -> None:
    one = machine.process("one", waits=False)
    assert not machine.take(one, "a")
    machine.now += QUIET - 0.01
    assert machine.round(one) == []
    machine.now += RENEW
    assert machine.round(one) == ["a"]


def test_a_new_process_takes_as_soon_as_it_has_waited(machine: Machine) -> None:
    delay = 0.3 * RENEW  # the wait does not end with a regular call
    one, start = machine.process("one", waits=False, delay=delay), machine.now
    assert not machine.take(one, "a")
    granted: list[str] = []
    while not granted:
        machine.now = max(machine.now, one.again)
        granted = machine.round(one)
    assert machine.now == start + VALID + delay


def test_the_holder_keeps_others_away_until_it_gives_and_then_for_the_delay(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.wait(3 * QUIET, one, two)
    assert one.may_request("a") and one.wanted("a") and not two.may_request("a")
    one.give("a", machine.now)
    machine.round(one)
    assert machine.round(two) == ["a"], "it was handed over, without another request for it"
    assert two.start("a") == pytest.approx(machine.now + DELAY, abs=0.002) and not two.may_request("a")
    assert two.start("a") >= machine.now + DELAY
    machine.now += DELAY + 0.002
    assert two.may_request("a")


def test_the_queue_is_in_the_order_of_arrival(machine: Machine) -> None:
    processes = [machine.process(name) for name in ("one", "two", "three", "four")]
    first, *others = processes
    assert machine.take(first, "a")
    for other in others:
        assert not machine.take(other, "a")
    machine.round(first)
    order = []
    for holder in processes[:-1]:
        holder.give("a", machine.now)
        for process in processes:
            order += [processes.index(process)] if machine.round(process) else []
    assert order == [1, 2, 3]


def test_a_slot_given_without_a_request_costs_no_further_delay(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    one.give("a", None)
    assert machine.pass_on(one, two) == ["a"] and two.may_request("a")


def test_the_last_user_waits_by_its_own_clock_and_others_from_what_they_see(machine: Machine) -> None:
    one, two, three = (machine.process(name) for name in ("one", "two", "three"))
    assert machine.take(one, "a")
    last = machine.now
    one.give("a", last)
    machine.round(one)
    machine.now += 0.3
    assert one.want("a") == last + DELAY and not one.may_request("a")
    one.give("a", None)
    assert not machine.take(two, "a") and not machine.take(three, "a")
    assert machine.pass_on(one, two) == ["a"] and two.start("a") >= last + DELAY
    two.give("a", None)
    assert machine.pass_on(two, three) == ["a"] and three.start("a") >= last + DELAY


def test_an_address_that_is_not_needed_is_kept_and_used_again_without_a_call(machine: Machine) -> None:
    one = machine.process("one")
    assert machine.take(one, "a")
    calls = one._calls
    for _ in range(3):
        one.give("a", machine.now)
        assert not one.may_request("a"), "it was given"
        machine.now += RENEW / 4
        assert one.want("a") == machine.now - RENEW / 4 + DELAY
    assert one._calls == calls


def test_an_address_that_is_kept_is_given_as_soon_as_another_process_waits(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a")
    one.give("a", machine.now)
    machine.wait(RENEW, one)
    assert not machine.take(two, "a")
    machine.round(one)
    assert one.again < machine.now + RENEW / 2, "it does not wait for its next renewal"
    assert one.want("a") is None, "the other process has waited for longer"
    assert machine.round(one) == []
    assert machine.round(two) == ["a"] and two.wanted("a") is False
    machine.now += USE + DELAY
    machine.round(one)
    assert two.may_request("a") and two.wanted("a")


def test_a_holder_uses_an_address_for_a_while_before_it_gives_it_to_others(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    start = machine.now
    machine.round(one)
    machine.now = start + USE - 0.01
    assert not one.wanted("a") and machine.runner.run(one.round()).wanted == []
    machine.now = start + USE
    assert one.wanted("a") and machine.runner.run(one.round()).wanted == ["a"]
    one.give("a", machine.now)
    assert machine.runner.run(one.round()).wanted == []
    assert machine.round(two) == ["a"] and one.want("a") is None


def test_a_delay_that_an_order_has_changed_holds_for_the_next_process(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    one.set_delay(10 * DELAY)
    one.give("a", machine.now)
    assert machine.pass_on(one, two) == ["a"] and two.start("a") >= machine.now + 10 * DELAY


@pytest.mark.parametrize("delay", [DELAY, 2 * KEPT])
def test_a_slot_that_is_not_needed_for_long_and_has_cooled_is_forgotten(machine: Machine, delay: float) -> None:
    one, two = machine.process("one", delay=delay), machine.process("two", delay=delay)
    assert machine.take(one, "a")
    one.give("a", machine.now)
    machine.wait(max(KEPT, delay) - RENEW, one)
    assert machine.server.command("HLEN", "windrow:{test}:slots") == b":1\r\n"
    machine.wait(RENEW, one)
    assert machine.server.command("HLEN", "windrow:{test}:slots") == b":0\r\n"
    assert one.again == float("inf")
    machine.round(two)
    assert machine.take(two, "a") and two.may_request("a")


def test_a_dead_holder_is_replaced_after_its_right_and_one_delay(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    until = machine.now + VALID
    machine.wait(QUIET - RENEW, two)
    assert not two.may_request("a")
    machine.wait(2 * RENEW, two)
    assert two.may_request("a") and machine.now >= until + DELAY


def test_a_process_that_starts_watches_the_holders_before_it_may_take(machine: Machine) -> None:
    """Else a shard that is started again would wait twice: after its start, and for the slots of its predecessor."""
    one = machine.process("one")
    assert machine.take(one, "a")
    two = machine.process("two", waits=False)
    assert not machine.take(two, "a")
    machine.now += QUIET
    assert machine.round(two) == []
    machine.now += RENEW
    assert machine.round(two) == ["a"]


def test_a_process_that_ends_gives_what_it_does_not_use(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    for address in ("kept", "warm", "used"):
        assert machine.take(one, address)
    one.give("kept", machine.now - DELAY)
    one.give("warm", machine.now)
    assert not machine.take(two, "warm")
    machine.lose_answer(one)
    machine.runner.run(one.end())
    for address in ("kept", "used"):
        assert two.want(address) is None
    assert sorted(machine.round(two)) == ["kept", "warm"]
    assert two.may_request("kept") and two.start("warm") >= machine.now + DELAY


def test_a_holder_that_was_away_too_long_may_not_send_and_keeps_only_what_nobody_took(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    for address in ("a", "b"):
        assert machine.take(one, address)
    assert not machine.take(two, "a")
    machine.wait(QUIET + 2 * RENEW, two)
    assert not one.may_request("a") and not one.may_request("b")
    machine.round(one)
    assert two.may_request("a") and not one.may_request("a") and one.may_request("b")


def test_after_a_loss_holders_put_theirs_back_and_nobody_takes_meanwhile(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a")
    machine.server.command("FLUSHALL")
    assert not machine.take(two, "a"), "the call that finds the loss must not take"
    machine.now += QUIET - 0.1
    assert machine.round(two) == []
    assert not one.may_request("a")


def test_after_a_loss_a_holder_that_is_there_keeps_its_slot(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a")
    machine.server.command("FLUSHALL")
    machine.take(two, "a")
    machine.wait(2 * QUIET, one, two)
    assert one.may_request("a") and one.wanted("a") and not two.may_request("a")


def test_after_a_loss_a_holder_whose_right_has_run_out_does_not_put_its_slot_back(machine: Machine) -> None:
    """Another process may have taken it before the loss, and not have put it back yet."""
    one = machine.process("one")
    assert machine.take(one, "a")
    machine.now += VALID
    machine.server.command("FLUSHALL")
    assert machine.runner.run(one.round()).lost == ["a"]
    assert machine.server.command("HLEN", "windrow:{test}:slots") == b":0\r\n"


def test_a_server_that_starts_with_an_old_copy_has_lost_everything(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    machine.server.command("SAVE")
    assert machine.take(one, "a")
    machine.server.restart()
    assert two.want("a") is None
    for process in (one, two):
        with pytest.raises(Unavailable):
            machine.round(process)
    machine.now += RENEW
    assert machine.round(two) == [] and not two.may_request("a")
    machine.wait(QUIET, one, two)
    assert not two.may_request("a")


def test_a_server_that_has_lost_its_scripts_gets_them_again(machine: Machine) -> None:
    one = machine.process("one")
    machine.server.command("SCRIPT", "FLUSH")
    assert machine.take(one, "a")


def test_one_call_renews_all_slots(machine: Machine) -> None:
    one = machine.process("one")
    start = machine.now
    assert machine.take(one, "a")
    machine.now = start + 0.4 * RENEW
    assert machine.take(one, "b")
    for _ in range(10):
        assert one.again == pytest.approx(machine.now + RENEW)
        machine.now += RENEW
        machine.round(one)
        assert one.may_request("a") and one.may_request("b")


def test_a_denied_process_always_knows_when_to_ask_again(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    assert machine.now < two.again <= machine.now + RENEW
    machine.server.kill()
    with pytest.raises(Unavailable):
        machine.round(two)
    assert two.again <= machine.now + module.RETRY


def test_what_is_wanted_within_a_short_time_is_said_in_one_call(machine: Machine) -> None:
    one = machine.process("one")
    assert machine.take(one, "a")
    assert one.want("b") is None
    assert machine.now < one.again <= machine.now + module.FARTHEST
    assert one.want("c") is None
    machine.now = one.again
    assert machine.round(one) == ["b", "c"]


def test_a_wait_of_zero_is_no_grant_and_a_grant_is_said_in_words(machine: Machine) -> None:
    """A prototype took a wait of 0 ms, as Redis rounds it, for a grant: a quarter of all gaps were too short."""
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    one.give("a", machine.now - DELAY)
    assert machine.pass_on(one, two) == ["a"] and two.may_request("a")
    assert module._milliseconds(0.0001) == 1


def test_a_call_that_is_carried_out_late_gives_nothing_away(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.round(one)
    late = one._calls
    one.give("a", machine.now)
    one._calls = late - 1
    before = machine.server.command("HGET", "windrow:{test}:slots", "a")
    machine.round(one)
    assert machine.server.command("HGET", "windrow:{test}:slots", "a") == before
    assert machine.round(two) == []


def test_a_give_that_is_repeated_after_a_lost_answer_leaves_the_address_to_the_other(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.round(one)
    one.give("a", machine.now)
    machine.lose_answer(one)
    assert one.want("a") is None, "it may be another's already"
    assert machine.round(two) == ["a"] and two.start("a") >= machine.now + DELAY
    machine.now += 2 * DELAY
    assert machine.round(one) == [] and not one.may_request("a") and two.may_request("a")


def test_a_give_that_was_not_carried_out_is_undone_if_no_other_waits(machine: Machine) -> None:
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.round(one)
    one.give("a", machine.now)
    machine.server.command("DEL", "windrow:{test}:slots")  # with it the queue
    assert one.want("a") is None
    assert machine.round(one) == ["a"]
    assert one.start("a") == machine.now + DELAY, "and it waits for its own requests"


def test_an_address_that_is_wanted_while_it_is_given_and_stays_here_is_used_again(machine: Machine) -> None:
    one = machine.process("one", delay=4 * KEPT)
    assert machine.take(one, "a")
    one.give("a", machine.now)
    one.set_delay(DELAY)  # so it is not needed for long before it has cooled, and nobody else waits
    machine.wait(KEPT - RENEW, one)
    machine.now += RENEW

    async def want_meanwhile() -> list[str]:
        calling = asyncio.create_task(one.round())
        await asyncio.sleep(0)
        assert one.want("a") is None, "the call that gives it is under way"
        return (await calling).granted

    assert machine.runner.run(want_meanwhile()) == ["a"]
    assert machine.round(one) == [] and one.want("a") is not None


def test_after_a_lost_answer_a_process_learns_everything_again(machine: Machine) -> None:
    one, two, three = (machine.process(name) for name in ("one", "two", "three"))
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.lose_answer(one)
    machine.now += USE
    machine.round(one)
    assert one.wanted("a"), "the news that another process waits were in the answer that was lost"
    assert three.want("b") is None
    machine.lose_answer(three)
    assert machine.round(three) == ["b"]


def test_a_renewal_that_arrives_late_says_what_was_lost(machine: Machine) -> None:
    """A renewal is sent in time and is carried out when another process has taken the slot. It is valid by itself."""
    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.wait(RENEW, one, two)
    start = machine.now
    machine.wait(QUIET - RENEW, two)
    machine.now = start + VALID - 0.1

    async def late(name: str, *rest: Any) -> Any:
        machine.now = start + QUIET + 0.01
        assert (await two.round()).granted == ["a"]
        return await RedisClient.call(one._client, name, *rest)

    one._client.call = late  # type: ignore[method-assign]
    found = machine.runner.run(one.round())
    assert machine.now < start + VALID - 0.1 + VALID, "the renewal would be valid"
    assert found.lost == ["a"] and not one.may_request("a") and two.may_request("a")


def test_a_process_that_waits_is_woken_when_there_is_news(machine: Machine) -> None:
    async def main() -> None:
        woken = two.woken
        listening = asyncio.create_task(two.listen(machine.client()))
        async with asyncio.timeout(30):
            for holder, other in ((one, two), (two, one), (one, two)):
                await holder.round()
                woken.clear()
                holder.give("a", None)
                await holder.round()
                if other is two:
                    await woken.wait()
                    assert two.again <= machine.now + module.FARTHEST
                assert holder.want("a") is None
                await holder.round()
                assert (await other.round()).granted == ["a"]
        listening.cancel()
        await asyncio.wait((listening,))

    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.runner.run(main())


def test_a_process_is_woken_again_after_its_connection_broke(machine: Machine) -> None:
    """Meanwhile its regular rounds find the news, and it does not ask for the broken connection all the time."""

    async def main() -> None:
        woken = two.woken
        listening = asyncio.create_task(two.listen(machine.client()))
        async with asyncio.timeout(30):
            await blocked(machine.server)
            machine.server.command("CONFIG", "SET", "maxmemory", "1")  # a server that is full refuses to wait
            machine.server.command("CLIENT", "KILL", "TYPE", "normal")
            await asyncio.sleep(3 * RENEW)
            machine.server.command("CONFIG", "SET", "maxmemory", "0")
            assert commands(machine.server) <= 6
            await blocked(machine.server)
            for process in (one, two):
                with contextlib.suppress(Unavailable):
                    await process.round()
                await process.round()
            one.give("a", None)
            await one.round()
            await woken.wait()
            assert (await two.round()).granted == ["a"]
        listening.cancel()
        await asyncio.wait((listening,))

    one, two = machine.process("one"), machine.process("two")
    assert machine.take(one, "a") and not machine.take(two, "a")
    machine.runner.run(main())


async def blocked(server: Server) -> None:
    """Wait until a process waits in the server."""
    while b"blocked_clients:1" not in server.command("INFO", "clients"):
        await asyncio.sleep(0.01)


def commands(server: Server) -> int:
    """Return how many times processes have tried to wait in the server."""
    found = re.search(rb"cmdstat_blmove:calls=(\d+).*rejected_calls=(\d+)", server.command("INFO", "commandstats"))
    return sum(map(int, found.groups())) if found else 0


def storm(server: Server, path: Path, seed: int, seconds: float, delay: float) -> list[str]:
    """Let processes share addresses while Redis and they themselves are killed; return what they wrote down."""
    chance = random.Random(seed)
    addresses = [f"192.0.2.{number}" for number in range(5)]
    running: list[subprocess.Popen[bytes]] = []
    numbers = itertools.count()

    def start() -> subprocess.Popen[bytes]:
        number = next(numbers)
        worker = [sys.executable, "-m", "tests.nodes.redis.slotworker", server.url, f"{number}"]
        environment = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""}
        return subprocess.Popen([*worker, str(delay), str(path), *addresses], cwd=ROOT, env=environment)

    try:
        running += [start() for _ in range(3)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(chance.uniform(1.0, 3.0))
            match chance.randrange(5):
                case 0:
                    server.command("FLUSHALL")
                case 1:
                    server.restart()
                case 2:
                    server.signal(signal.SIGSTOP)
                    time.sleep(chance.choice([0.1, 0.9]))
                    server.signal(signal.SIGCONT)
                case 3:
                    victim = running.pop(0)
                    victim.kill()
                    victim.wait()
                    running.append(start())
                case 4:
                    victim = chance.choice(running)
                    victim.send_signal(signal.SIGSTOP)
                    time.sleep(chance.choice([0.1, 1.0]))
                    victim.send_signal(signal.SIGCONT)
    finally:
        for process in running:
            process.kill()
            process.wait()
    return path.read_text().splitlines()


def gaps(lines: list[str]) -> tuple[list[float], int]:
    """Return the time from each request to the next one to its address, and how many addresses changed hands.

    The time is from the beginning, because the end of a request of a stopped process says nothing.
    """
    begins: dict[str, list[tuple[float, str]]] = collections.defaultdict(list)
    for line in lines:
        word, address, moment, process = line.split()
        if word == "begin":
            begins[address].append((float(moment), process))
    pairs = [pair for found in begins.values() for pair in zip(sorted(found), sorted(found)[1:], strict=False)]
    return [later[0] - earlier[0] for earlier, later in pairs], sum(one[1] != other[1] for one, other in pairs)


@pytest.mark.parametrize("seed", [1])
def test_no_gap_is_too_short_under_faults(server: Server, tmp_path: Path, seed: int) -> None:
    found, changes = gaps(storm(server, tmp_path / "log", seed, seconds=12.0, delay=0.05))
    assert [gap for gap in found if gap < 0.05] == []
    assert len(found) > 50 and changes > 10, "the processes did share the addresses"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 15))
def test_no_gap_is_too_short_under_many_faults(server: Server, tmp_path: Path, seed: int) -> None:
    found, changes = gaps(storm(server, tmp_path / "log", seed, seconds=60.0, delay=0.05))
    assert [gap for gap in found if gap < 0.05] == []
    assert len(found) > 500 and changes > 100
