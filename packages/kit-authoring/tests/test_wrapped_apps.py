# SPDX-License-Identifier: MIT
"""The Kit app within ASGI middleware."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import Mock

import pytest
import wrapt
from asgi_correlation_id import CorrelationIdMiddleware
from asgi_csrf import asgi_csrf
from brotli_asgi import BrotliMiddleware
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from sentry_sdk.integrations.asgi import SentryAsgiMiddleware
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from kit import Kit
from kit.authoring.wrapped_apps import find_app, is_app


def in_function(app: Any) -> Any:
    @functools.wraps(app)
    async def middleware(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send)

    return middleware


class WithSlots:
    __slots__ = ("inner",)

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.inner(scope, receive, send)


class ByAnyName:
    def __init__(self, next_application: Any) -> None:
        self.__next_application = next_application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.__next_application(scope, receive, send)


async def of_arguments(app: Any, scope: Any, receive: Any, send: Any) -> None:
    await app(scope, receive, send)


def with_global(app: Any) -> Any:
    """Returns a function that calls a global variable."""
    names = {"site": app}
    exec("async def serve(scope, receive, send): await site(scope, receive, send)", names)
    return names["serve"]


def with_global_in_class(app: Any) -> Any:
    """Returns an instance whose class does."""
    names: dict[str, Any] = {"site": app}
    exec("async def call(self, scope, receive, send): await site(scope, receive, send)", names)
    return type("Serve", (), {"__call__": names["call"]})()


class Endless:
    """Wraps itself."""

    def __init__(self, app: Any = None) -> None:
        self.app = self

    def __call__(self) -> None:
        """Nothing."""


WRAPPERS: list[Callable[[Any], Any]] = [
    BrotliMiddleware,
    CorrelationIdMiddleware,
    GZipMiddleware,
    OpenTelemetryMiddleware,
    ProxyHeadersMiddleware,
    SentryAsgiMiddleware,
    WithSlots,
    in_function,
    functools.partial(asgi_csrf, signing_secret="s"),
    lambda app: functools.partial(in_function(app)),
    lambda app: WithSlots(app).__call__,
    ByAnyName,
    lambda app: functools.partial(of_arguments, app),
    lambda app: functools.partial(of_arguments, app=app),
    with_global,
    with_global_in_class,
    lambda app: in_function(with_global(app)),
    lambda app: wrapt.FunctionWrapper(app, lambda wrapped, _, args, kwargs: wrapped(*args)),
]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_within_one_and_within_all(wrap: Callable[[Any], Any]) -> None:
    app: Kit[Any, Any] = Kit()
    assert find_app(wrap(app)) is app
    assert find_app(wrap(GZipMiddleware(in_function(wrap(app))))) is app


def test_an_app_itself() -> None:
    app: Kit[Any, Any] = Kit()
    assert is_app(app)
    assert find_app(app) is app


APP: Kit[Any, Any] = Kit()


def in_lifespan(app: Any) -> Any:
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with app.running():
            yield

    return lifespan


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "app",
        Kit,
        Mock(),
        Endless(),
        Starlette(),
        Starlette(routes=[Mount("/kit", Kit())]),
        in_function(Starlette()),
        Starlette(lifespan=in_lifespan(Kit())),
        lambda: None,
        lambda: APP,
    ],
)
def test_what_wraps_no_app(value: Any) -> None:
    assert not is_app(value)
    assert find_app(value) is None


def test_nothing_is_run() -> None:
    class Trap:
        @property
        def app(self) -> Any:
            raise AssertionError("it was read")

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was read")

        def __call__(self) -> Any:
            raise AssertionError("it was called")

    assert find_app(Trap()) is None
