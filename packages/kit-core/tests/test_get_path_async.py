# SPDX-License-Identifier: MIT
"""`get_path` is called before anything can be awaited."""

from __future__ import annotations

import functools
from typing import Any
from unittest.mock import AsyncMock

import pytest

from kit import Kit, Request


async def later(request: Request) -> str:
    return "/"


class Later:
    async def __call__(self, request: Request) -> str:
        return "/"


@pytest.mark.parametrize("function", [later, functools.partial(later), Later(), AsyncMock()])
def test_an_async_get_path_is_refused(function: Any) -> None:
    with pytest.raises(TypeError) as caught:
        Kit(get_path=function)
    assert str(caught.value) == "Kit(get_path=...) takes a plain function, not an async one"


async def test_a_get_path_that_returns_an_awaitable_is_an_error() -> None:
    app: Kit[Any, Any] = Kit(get_path=lambda request: later(request))  # type: ignore[arg-type,return-value]
    app.get("/", lambda c: c.text("inside"))
    app.on_error(lambda error, c: c.text(str(error), 500))
    response = await app.request("/")
    text = await response.text()
    assert response.status == 500
    assert text.startswith("Kit(get_path=...) takes a plain function: ")
    assert text.endswith(" is async, and nothing awaits its result, coroutine")


def test_a_get_path_that_takes_no_request_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes a function \(request\): got the signature"):
        Kit(get_path=lambda: "/")  # type: ignore[arg-type,misc]
