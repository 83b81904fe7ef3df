"""Operations run one after another, each to its end, whatever happens to their callers."""

import asyncio

import pytest

from windrow.crawler.recording.serial import Serial


async def pause() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_an_operation_that_suspends_is_not_overtaken() -> None:
    async def run() -> list[str]:
        serial, steps = Serial(), []
        serial.start()

        async def operation(name: str) -> str:
            steps.append(f"{name} begins")
            await pause()
            steps.append(f"{name} ends")
            return name

        assert await asyncio.gather(*[serial.run(operation(name)) for name in "abc"]) == ["a", "b", "c"]
        await serial.close()
        return steps

    assert asyncio.run(run()) == [f"{name} {step}" for name in "abc" for step in ("begins", "ends")]


def test_a_caller_that_is_cancelled_does_not_cancel_its_operation() -> None:
    async def run() -> list[str]:
        serial, done = Serial(), []
        serial.start()

        async def operation(name: str) -> None:
            await pause()
            done.append(name)

        async def caller(name: str) -> None:
            await serial.run(operation(name))

        callers = [asyncio.create_task(caller(name)) for name in ("running", "queued")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for each in callers:
            each.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await serial.close()
        return done

    assert asyncio.run(run()) == ["running", "queued"]


def test_after_a_failure_nothing_else_runs() -> None:
    async def run() -> None:
        serial, done = Serial(), []
        serial.start()

        async def fail() -> None:
            await pause()
            raise ValueError("first")

        async def operation() -> None:
            done.append(1)

        failed, queued = serial.run(fail()), serial.run(operation())
        with pytest.raises(ValueError, match="first"):
            await failed
        for late in (queued, serial.run(operation())):
            with pytest.raises(ValueError, match="first"):
                await late
        await serial.close()
        assert done == []

    asyncio.run(run())


def test_the_failure_of_an_operation_without_a_caller_is_reported() -> None:
    async def run() -> list[str]:
        failures: list[str] = []
        serial = Serial(lambda error: failures.append(str(error)))
        serial.start()

        async def fail(text: str) -> None:
            raise ValueError(text)

        serial.put(fail("first"))
        serial.put(fail("second"))
        await serial.close()
        return failures

    assert asyncio.run(run()) == ["first"]


def test_close_waits_for_what_was_queued() -> None:
    async def run() -> list[int]:
        serial, done = Serial(), []
        serial.start()

        async def operation(number: int) -> None:
            await pause()
            done.append(number)

        for number in range(4):
            serial.put(operation(number))
        await serial.close()
        return done

    assert asyncio.run(run()) == [0, 1, 2, 3]
