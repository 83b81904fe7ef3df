"""A process that sends pretended requests to addresses whose slots it holds, and writes down when."""

import asyncio
import contextlib
import os
import random
import sys
import time

from windrow.nodes.redis import slots
from windrow.nodes.redis.client import RedisClient
from windrow.nodes.redis.slots import Slots
from windrow.shards.transport import Unavailable


class Worker:
    def __init__(self, url: str, process: str, addresses: list[str], delay: float, path: str) -> None:
        self.process, self.addresses, self.delay = process, addresses, delay
        self.chance = random.Random(process)
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.slots = Slots(RedisClient(url), "test", process, delay, time.monotonic)
        self.listens = RedisClient(url)
        self.woken = self.slots.woken
        self.held: dict[str, asyncio.Task[None]] = {}

    def note(self, word: str, address: str, moment: float) -> None:
        os.write(self.file, f"{word} {address} {moment:.6f} {self.process}\n".encode())

    async def visit(self, address: str) -> None:
        last = None
        for _ in range(self.chance.choice([0, 1, 1, 1, 2, 5])):
            due = self.slots.start(address) if last is None else last + self.delay
            while (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            moment = time.monotonic()
            if self.held.get(address) is not asyncio.current_task() or not self.slots.may_request(address):
                break
            self.note("begin", address, moment)
            await asyncio.sleep(self.chance.choice([0.0, 0.002, 0.02]))
            last = time.monotonic()
            self.note("end", address, last)
            if self.slots.wanted(address):
                break
        if self.held.get(address) is asyncio.current_task():
            del self.held[address]
            self.slots.give(address, last)

    async def work(self) -> None:
        """Work until this process is killed."""
        listening = asyncio.create_task(self.slots.listen(self.listens))
        while not listening.done():
            for address in self.addresses:
                if address not in self.held and self.chance.random() < 0.5 and self.slots.want(address) is not None:
                    self.held[address] = asyncio.create_task(self.visit(address))
            if self.slots.again <= time.monotonic():
                with contextlib.suppress(Unavailable):
                    changed = await self.slots.round()
                    for address in changed.lost:
                        self.held.pop(address, None)
                    for address in changed.granted:
                        self.held[address] = asyncio.create_task(self.visit(address))
            await self.wait(min(max(self.slots.again - time.monotonic(), 0.002), 0.05))
        listening.result()

    async def wait(self, seconds: float) -> None:
        self.woken.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()


if __name__ == "__main__":
    # Shorter, so that a test of seconds sees many losses and hand-overs.
    slots.VALID, slots.RENEW, slots.USE, slots.KEPT = 0.6, 0.15, 0.1, 0.5
    asyncio.run(Worker(sys.argv[1], sys.argv[2], sys.argv[5:], float(sys.argv[3]), sys.argv[4]).work())
