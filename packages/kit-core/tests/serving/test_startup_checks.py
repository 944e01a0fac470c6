# SPDX-License-Identifier: MIT
"""A decorator that never got its function: the app doesn't start, in process and for servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.testing import test_client


def ok(c: Context) -> Response:
    return c.text("ok")


def forget(app: Kit) -> None:
    app.post("/books", use=[])


LINE = forget.__code__.co_firstlineno + 1
TEXT = (
    f"@app.post('/books') at {__file__}:{LINE} was called without a handler and never used as a "
    "decorator: give it a handler, or put it above a function"
)


def forgotten() -> Kit:
    app = Kit().get("/", ok)
    forget(app)
    return app


def forgotten_below() -> Kit:
    app = Kit().get("/", ok)
    forget(app.base_path("/v1"))
    return app


def forgotten_above() -> Kit:
    app = Kit().get("/", ok)
    below = app.base_path("/v1")
    forget(app)
    return below


def forgotten_in_a_part() -> Kit:
    part = Kit().get("/", ok)
    app = Kit().route("/part", part)
    forget(part)  # route() would have refused it before
    return app


def forgotten_with_a_lifespan() -> Kit:
    def lifespan(app: Kit) -> Any:
        raise AssertionError("unreachable: the check comes first")

    app = Kit(lifespan=lifespan).get("/", ok)
    forget(app)
    return app


APPS = [forgotten, forgotten_below, forgotten_above, forgotten_in_a_part, forgotten_with_a_lifespan]


@pytest.mark.parametrize("make", APPS)
def test_running(make: Callable[[], Kit], run: Any) -> None:
    async def main() -> None:
        async with make().running():
            raise AssertionError("unreachable: it doesn't start")

    with pytest.raises(RuntimeError) as caught:
        run(main)
    assert str(caught.value) == TEXT


@pytest.mark.parametrize("make", APPS)
def test_lifespan_of_a_server(make: Callable[[], Kit], run: Any) -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    with pytest.raises(RuntimeError, match="never used as a decorator"):
        run(make(), {"type": "lifespan"}, receive, send)
    [message] = sent
    assert message["type"] == "lifespan.startup.failed"
    assert message["message"].endswith(f"\nRuntimeError: {TEXT}\n")


async def test_test_client() -> None:
    with pytest.raises(RuntimeError) as caught:
        async with test_client(forgotten()):
            raise AssertionError("unreachable: it doesn't start")
    assert str(caught.value) == TEXT


async def test_app_starts_once_the_function_is_there() -> None:
    app = Kit()
    decorator = app.post("/books")
    with pytest.raises(RuntimeError, match="never used as a decorator"):
        async with app.running():
            raise AssertionError("unreachable: it doesn't start")
    decorator(ok)
    async with app.running():
        assert (await app.request("/books", {"method": "POST"})).status == 200


async def test_decorator_whose_function_was_refused_is_not_waited_for() -> None:
    app = Kit().get("/", ok)
    with pytest.raises(TypeError):
        app.post("/books")(5)  # type: ignore[type-var]
    async with app.running():
        assert (await app.request("/")).status == 200
