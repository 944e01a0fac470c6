# SPDX-License-Identifier: MIT
"""An app as servers and hosts see it: an object that is called with scope, receive and send."""

from __future__ import annotations

import asyncio
import copy
import inspect
from typing import Any

import pytest

from kit import Context, Kit, Response


def ok(c: Context) -> Response:
    return c.text("ok")


class Counting(Kit[Any, Any]):
    """An app with a `__call__` of its own, around that of Kit."""

    calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls += 1
        await super().__call__(scope, receive, send)


def prefixed() -> Kit:
    app = Kit()
    app.get("/", ok)
    return app.base_path("/")


APPS = [
    pytest.param(lambda: Kit().get("/", ok), id="app"),
    pytest.param(prefixed, id="base_path"),
    pytest.param(lambda: Counting().get("/", ok), id="subclass"),
    pytest.param(lambda: copy.copy(Kit().get("/", ok)), id="copy"),
]


@pytest.mark.parametrize("make", APPS)
async def test_what_servers_ask_of_an_app(make: Any, client: Any) -> None:
    app = make()
    for _ in range(3):  # before, between and after requests
        assert callable(app)
        # As uvicorn, hypercorn, asgiref and Starlette do.
        assert inspect.iscoroutinefunction(app.__call__)
        assert asyncio.iscoroutinefunction(app.__call__)
        assert [*inspect.signature(app).parameters] == ["scope", "receive", "send"]
        assert (await client().ask(app)).check().body == b"ok"


async def test_call_by_keywords(client: Any, http_scope: Any) -> None:
    app = Kit().get("/", ok)
    for _ in range(3):
        peer = client()
        await app(scope=http_scope("/"), receive=peer.receive, send=peer.send)
        assert peer.check().body == b"ok"


async def test_call_is_a_coroutine_that_nothing_has_begun(client: Any, http_scope: Any) -> None:
    app = Kit().get("/", ok)
    for _ in range(3):
        peer = client()
        call = app(http_scope("/"), peer.receive, peer.send)
        assert inspect.iscoroutine(call)
        assert peer.sent == []
        await call
        assert peer.check().body == b"ok"


async def test_subclass_has_its_own_call(client: Any) -> None:
    app = Counting().get("/", ok)
    for count in (1, 2, 3):
        assert (await client().ask(app)).check().body == b"ok"
        assert app.calls == count


@pytest.mark.parametrize("arguments", [(), ({},), ({}, None), ({}, None, None, None)])
def test_wrong_number_of_arguments(arguments: Any) -> None:
    with pytest.raises(TypeError, match="positional argument"):
        Kit()(*arguments)


def test_constructor_shows_its_own_parameters() -> None:
    assert "strict" in inspect.signature(Kit).parameters
