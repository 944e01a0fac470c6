# SPDX-License-Identifier: MIT
"""`call`, `check_answer`, and `resume`, which continues what was awaited by hand."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

import kit.authoring.maybe_await
from kit import Context, Kit, Response
from kit.authoring.maybe_await import call, check_answer, check_second, resume
from kit.interface import HandlerError


def test_public_names() -> None:
    assert kit.authoring.maybe_await.__all__ == (
        "call",
        "check_answer",
        "check_second",
        "dispose",
        "is_awaitable",
        "plain_result",
        "resume",
        "settle",
    )


async def test_a_second_response() -> None:
    app = Kit()
    refused: list[str] = []

    def function() -> None: ...

    @app.use()
    async def middleware(c: Context, next: Any) -> None:
        await next()
        check_second(c, c.res, function)
        check_second(c, c.res.replace(), function)
        for response in (
            Response("other"),
            c.res.replace(status=201),
            c.res.replace(headers={"x-a": "1"}),
        ):
            with pytest.raises(HandlerError) as caught:
                check_second(c, response, function)
            refused.append(str(caught.value))

    app.get("/", lambda c: c.text("the response"))
    assert (await app.request("/")).status == 200
    text = (
        "returned a Response after `await next()` or after setting c.res, which would be ignored: "
        "write c.res = response to replace the one there is, and return nothing"
    )
    assert len(refused) == 3
    assert all(each.endswith(text) and "function" in each for each in refused)


@pytest.mark.parametrize(
    "answer",
    [
        ValueError("no"),
        (each for each in ()),
        asyncio.Future(loop=asyncio.new_event_loop()),
        Response("no"),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_what_is_no_answer(answer: Any) -> None:
    with pytest.raises(TypeError) as caught:
        check_answer("guard(check=...)", answer)
    assert str(caught.value).startswith(f"guard(check=...) returned {type(answer).__name__}")


@pytest.mark.parametrize("answer", [True, False, None, 1, "user", {"id": 1}, [], object()])
def test_answers(answer: Any) -> None:
    check_answer("guard(check=...)", answer)


def test_a_response_may_be_an_answer() -> None:
    check_answer("guard(check=...)", Response("no"), may_respond=True)


def watching(waits: list[Any]) -> Callable[[Awaitable[Any]], Any]:
    """A function that awaits something, and notes when one waits for the first time."""

    @types.coroutine
    def watched(work: Awaitable[Any]) -> Generator[Any, Any, Any]:
        steps = work.__await__()
        for waits_for in steps:
            waits.append(waits_for)
            return (yield from resume(steps, waits_for))
        return "never waited"

    return watched


async def plain() -> str:
    return "plain"


async def thrice() -> str:
    for _ in range(3):
        await checkpoint()
    return "waited"


class Later:
    """An awaitable that is no coroutine."""

    def __await__(self) -> Generator[Any, Any, str]:
        return thrice().__await__()


async def fails() -> str:
    await checkpoint()
    raise LookupError("failed")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_resume(backend: str) -> None:
    waits: list[Any] = []
    run = watching(waits)

    async def main() -> None:
        assert await run(plain()) == "never waited"
        assert waits == []
        assert await run(thrice()) == "waited"
        assert len(waits) == 1
        assert await run(Later()) == "waited"
        with pytest.raises(LookupError) as raised:
            await run(fails())
        assert raised.value.__context__ is None

    anyio.run(main, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_resumed_coroutine_can_be_cancelled(backend: str) -> None:
    steps: list[str] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        except BaseException:
            steps.append("cancelled")
            raise

    async def main() -> bool:
        with anyio.move_on_after(0.01) as scope:
            await watching([])(work())
        return scope.cancelled_caught

    assert anyio.run(main, backend=backend)
    assert steps == ["cancelled"]


def test_a_resumed_coroutine_is_closed_with_what_resumes_it() -> None:
    steps: list[str] = []

    async def work() -> None:
        try:
            await types.coroutine(lambda: (yield))()
        finally:
            steps.append("closed")

    steps_of = watching([])(work())
    next(steps_of)
    steps_of.close()
    assert steps == ["closed"]


@pytest.mark.parametrize("function", [lambda a, b: a + b, call])
def test_call(function: Any) -> None:
    async def main() -> Any:
        if function is call:
            return await call(call, lambda a, b: a + b, 1, 2)
        return await call(function, 1, 2)

    assert anyio.run(main) == 3


def test_what_awaits_to_itself() -> None:
    class Session:
        def __await__(self) -> Generator[Any, Any, Any]:
            yield from checkpoint().__await__()
            return self

    session = Session()
    assert anyio.run(call, lambda: session) is session
