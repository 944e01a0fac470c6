# SPDX-License-Identifier: MIT
"""Dependencies that don't look like what they are: in decorators, lambdas, mocks and partials."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any
from unittest.mock import AsyncMock, Mock, create_autospec

import pytest
from anyio import sleep

from kit import Context, HTTPException, Kit
from kit.typed import Depends, Header, override, typed

events: list[str] = []


@pytest.fixture(autouse=True)
def no_events() -> Iterator[None]:
    events.clear()
    yield
    events.clear()


def plain_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def async_decorator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def decorator_without_wraps(function: Callable[..., Any]) -> Callable[[], Any]:
    def wrapper() -> Any:
        return function()

    return wrapper


@plain_decorator
async def require_admin(c: Context) -> str:
    if c.req.header("x-admin") is None:
        raise HTTPException(403)
    return "admin"


async def status_and_text(app: Kit[Any, Any], **headers: str) -> tuple[int, str]:
    response = await app.request("/", {"headers": headers})
    return response.status, await response.text()


def app_with(dependency: Any, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()

    @app.get("/")
    @typed
    def endpoint(value: Annotated[Any, Depends(dependency, **options)]) -> str:
        events.append("endpoint")
        return f"got {value}"

    return app


async def test_an_async_guard_behind_a_plain_decorator_guards() -> None:
    app = app_with(require_admin)
    assert (await status_and_text(app))[0] == 403
    assert events == []
    assert await status_and_text(app, **{"x-admin": "1"}) == (200, '"got admin"')


async def opened() -> AsyncIterator[str]:
    events.append("open")
    try:
        yield "value"
    finally:
        events.append("close")


def opened_plainly() -> Iterator[str]:
    events.append("open")
    try:
        yield "value"
    finally:
        events.append("close")


def returns_it() -> Any:
    return opened()


class Factory:
    @classmethod
    async def of_class(cls) -> AsyncIterator[str]:
        async for each in opened():
            yield each

    @staticmethod
    def of_none() -> Iterator[str]:
        yield from opened_plainly()

    def of_object(self) -> Iterator[str]:
        yield from opened_plainly()

    def __call__(self) -> AsyncIterator[str]:
        return opened()


YIELDING = [
    opened,
    opened_plainly,
    plain_decorator(opened),
    plain_decorator(opened_plainly),
    async_decorator(opened),
    plain_decorator(plain_decorator(opened)),
    plain_decorator(asynccontextmanager(opened)),
    asynccontextmanager(opened),
    decorator_without_wraps(opened),
    decorator_without_wraps(opened_plainly),
    lambda: opened(),
    lambda: opened_plainly(),
    returns_it,
    functools.partial(opened),
    functools.partial(returns_it),
    Factory.of_class,
    Factory.of_none,
    Factory().of_object,
    Factory(),
    Mock(side_effect=opened),
    Mock(spec=opened, side_effect=opened),
    AsyncMock(side_effect=opened_plainly),
]


@pytest.mark.parametrize("scope", ["request", "function"])
@pytest.mark.parametrize("dependency", YIELDING)
async def test_what_yields_is_opened_and_closed(dependency: Any, scope: str) -> None:
    app = app_with(dependency, scope=scope)
    assert await status_and_text(app) == (200, '"got value"')
    assert events == ["open", "endpoint", "close"]


def real() -> Iterator[str]:
    events.append("real")
    yield "real"


@pytest.mark.parametrize("replacement", YIELDING)
async def test_an_override_that_yields_is_opened_and_closed(replacement: Any) -> None:
    app = app_with(real)
    with override(app, {real: replacement}):
        assert await status_and_text(app) == (200, '"got value"')
        assert events == ["open", "endpoint", "close"]
    events.clear()
    assert await status_and_text(app) == (200, '"got real"')
    assert events == ["real", "endpoint"]


async def test_a_failure_reaches_what_a_lambda_opened() -> None:
    seen: list[str] = []

    def watching() -> Iterator[str]:
        try:
            yield "value"
        except ValueError as error:
            seen.append(str(error))
            raise

    opens = lambda: watching()  # noqa: E731
    app: Kit[Any, Any] = Kit()

    @app.get("/")
    @typed
    def endpoint(value: Annotated[str, Depends(opens)]) -> str:
        raise ValueError(f"broken with {value}")

    assert (await status_and_text(app))[0] == 500
    assert seen == ["broken with value"]


async def current_user(x_user: Annotated[str, Header()]) -> str:
    return x_user


async def test_a_mock_of_a_function_is_called_like_it() -> None:
    for mock in (
        Mock(spec=current_user, return_value="fake"),
        AsyncMock(spec=current_user, return_value="fake"),
        create_autospec(current_user, return_value="fake"),
    ):
        app = app_with(current_user)
        with override(app, {current_user: mock}):
            assert await status_and_text(app, **{"x-user": "ada"}) == (200, '"got fake"')
        mock.assert_called_once_with("ada")


@pytest.mark.parametrize("kind", [Mock, AsyncMock])
async def test_a_mock_of_nothing_needs_nothing_of_the_request(kind: Any) -> None:
    app = app_with(current_user)
    mock = kind(return_value="fake")
    with override(app, {current_user: mock}):
        assert await status_and_text(app) == (200, '"got fake"')
    mock.assert_called_once_with()
    assert (await status_and_text(app))[0] == 400


async def test_an_override_may_raise_as_an_async_mock_does() -> None:
    app = app_with(require_admin)
    with override(app, {require_admin: AsyncMock(side_effect=HTTPException(418))}):
        assert (await status_and_text(app))[0] == 418
    assert events == []


async def test_a_wrong_return_annotation_is_an_error(recwarn: pytest.WarningsRecorder) -> None:
    async def later() -> str:
        return "late"

    def wrong() -> str:
        return later()  # type: ignore[return-value]

    app = app_with(wrong)
    app.on_error(lambda error, c: c.text(str(error), 500))
    status, text = await status_and_text(app)
    assert status == 500
    assert text.startswith("@typed takes a plain function: ")
    assert text.endswith("is async, and nothing awaits its result, coroutine")
    assert events == []
    assert not list(recwarn)


class Later:
    """An awaitable that is no coroutine, as a Future is."""

    def __init__(self, awaitable: Any) -> None:
        self.awaitable = awaitable

    def __await__(self) -> Any:
        return self.awaitable.__await__()


async def refuse() -> str:
    raise HTTPException(403)


async def later_guard() -> str:
    return Later(refuse())  # type: ignore[return-value]


async def later_twice() -> Any:
    return Later(later_guard())


@pytest.mark.parametrize("guard", [later_guard, later_twice, async_decorator(later_guard)])
async def test_an_awaitable_that_an_async_guard_returns_is_awaited(guard: Any) -> None:
    assert (await status_and_text(app_with(guard)))[0] == 403


async def test_a_generator_behind_an_awaitable_is_an_error() -> None:
    """None of its code has run, so it is no guard that let a request in."""

    async def steps() -> Any:
        return (each for each in "ab")

    async def wrong() -> Any:
        return Later(steps())

    app = app_with(wrong)
    app.on_error(lambda error, c: c.text(str(error), 500))
    status, text = await status_and_text(app)
    assert status == 500
    assert "returned a generator, of which nothing has run" in text


async def test_an_awaitable_in_place_of_the_annotated_value_is_an_error() -> None:
    work = refuse()

    def wrong() -> str:
        return Later(work)  # type: ignore[return-value]

    app = app_with(wrong)
    app.on_error(lambda error, c: c.text(str(error), 500))
    status, text = await status_and_text(app)
    work.close()
    assert status == 500
    assert text.endswith("is async, and nothing awaits its result, Later")


class Connection:
    """What can be awaited and entered, as a connection or a pool of some libraries."""

    def __await__(self) -> Any:
        raise AssertionError("it is open already")

    async def __aenter__(self) -> Connection:
        raise AssertionError("it is open already")

    async def __aexit__(self, *error: object) -> None: ...

    def __str__(self) -> str:
        return "connection"


class Lazy:
    """What `await` reads, and which is its own result, as a session is."""

    is_read = False

    def __await__(self) -> Any:
        self.is_read = True
        yield from sleep(0).__await__()
        return self

    def __str__(self) -> str:
        return f"read: {self.is_read}"


def annotated_connection() -> Connection:
    return Connection()


async def async_connection() -> Connection:
    return Connection()


@pytest.mark.parametrize(
    "dependency",
    [
        annotated_connection,
        async_connection,
        lambda: Connection(),
        lambda: async_connection(),
        plain_decorator(async_connection),
    ],
)
@pytest.mark.parametrize("scope", ["request", "function"])
async def test_a_connection_is_a_value(dependency: Any, scope: str) -> None:
    assert await status_and_text(app_with(dependency, scope=scope)) == (200, '"got connection"')


@pytest.mark.parametrize("dependency", [lambda: Lazy(), functools.partial(lambda: Lazy())])
async def test_what_awaits_to_itself(dependency: Any) -> None:
    assert await status_and_text(app_with(dependency)) == (200, '"got read: True"')
