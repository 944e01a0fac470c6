# SPDX-License-Identifier: MIT
"""`on_error(SomeError, handler)`: a handler for one class of exceptions, beside the general one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import Next


class ShopError(Exception):
    """A root of its own."""


class OutOfStockError(ShopError):
    """Nothing is left."""


class LateError(OutOfStockError, TimeoutError):
    """Two parents."""


class TeapotError(HTTPException):
    """An answer with a class of its own."""

    def __init__(self) -> None:
        super().__init__(418, "teapot")


def name_of(name: str) -> Callable[[Exception, Context], Response]:
    return lambda error, c: c.text(f"{name} {type(error).__name__} {c.error is error}", 500)


def raising(error: Exception) -> Callable[[Context], Response]:
    def handler(c: Context) -> Response:
        raise error

    return handler


async def passing(c: Context, next: Next) -> None:
    await next()


async def answer(app: Kit, error: Exception, around: bool = False) -> str:
    if around:
        app.use(passing)
    response = await app.get("/", raising(error)).request("/")
    return await response.text()


def registered() -> Kit:
    app = Kit()
    app.on_error(ShopError, name_of("shop")).on_error(OutOfStockError, name_of("stock"))
    app.on_error(TimeoutError, name_of("timeout")).on_error(OSError, name_of("os"))
    app.on_error(HTTPException, name_of("http")).on_error(name_of("general"))
    return app


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
@pytest.mark.parametrize(
    ("error", "name"),
    [
        pytest.param(ShopError("x"), "shop", id="the class"),
        pytest.param(OutOfStockError("x"), "stock", id="a nearer class"),
        pytest.param(LateError("x"), "stock", id="two parents, in the order of the MRO"),
        pytest.param(TimeoutError("x"), "timeout", id="built in"),
        pytest.param(FileNotFoundError("x"), "os", id="parent of a built-in"),
        pytest.param(HTTPException(404), "http", id="HTTPException"),
        pytest.param(TeapotError(), "http", id="parent, an HTTPException"),
        pytest.param(KeyError("x"), "general", id="any other"),
    ],
)
async def test_nearest_class(error: Exception, name: str, around: bool) -> None:
    expected = f"{name} {type(error).__name__} True"
    assert await answer(registered(), error, around) == expected


async def test_without_a_general_handler() -> None:
    app = Kit().on_error(ShopError, name_of("shop"))
    assert await answer(app, KeyError("x")) == "Internal Server Error"
    app = Kit().on_error(ShopError, name_of("shop"))
    assert await answer(app, HTTPException(404, "gone")) == "gone"


async def test_order_of_registration_does_not_count_and_the_last_of_a_class_does() -> None:
    app = Kit().on_error(name_of("general")).on_error(ShopError, name_of("first"))
    app.on_error(ShopError, name_of("second"))
    assert await answer(app, OutOfStockError("x")) == "second OutOfStockError True"
    app = Kit().on_error(name_of("general")).on_error(Exception, name_of("as well"))
    assert await answer(app, ShopError("x")) == "as well ShopError True"


async def test_decorators() -> None:
    app = Kit()

    @app.on_error(ShopError)
    async def on_shop_error(error: ShopError, c: Context) -> Response:
        return c.text(f"shop: {error}", 409)

    @app.on_error(HTTPException)
    def on_http_exception(error: HTTPException, c: Context) -> Response:
        return c.json({"error": error.message}, error.status)

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        return c.text(f"other: {error}", 500)

    assert on_shop_error.__name__ == "on_shop_error"
    app.get("/shop", raising(OutOfStockError("sold out")))
    app.get("/teapot", raising(TeapotError())).get("/other", raising(ValueError("x")))
    responses = [await app.request(path) for path in ("/shop", "/teapot", "/other")]
    assert [(each.status, await each.text()) for each in responses] == [
        (409, "shop: sold out"),
        (418, '{"error":"teapot"}'),
        (500, "other: x"),
    ]


@pytest.mark.parametrize("error", [ShopError, HTTPException, Exception])
def test_decorator_without_its_function(error: Any) -> None:
    app = Kit()
    app.on_error(error)
    line = test_decorator_without_its_function.__code__.co_firstlineno + 3
    call = "on_error()" if error is Exception else f"on_error({error.__name__})"
    with pytest.raises(RuntimeError) as caught:
        _ = app.routes
    assert str(caught.value).startswith(f"@app.{call} at {__file__}:{line} was called without a")


async def test_what_the_handler_raises_is_not_given_to_another_class() -> None:
    asked: list[str] = []

    def raise_other(error: Exception, c: Context) -> Response:
        asked.append("shop")
        raise KeyError("other")

    def on_key_error(error: Exception, c: Context) -> Response:
        asked.append("key")
        return c.text("key")

    app = Kit().on_error(ShopError, raise_other).on_error(KeyError, on_key_error)
    assert await answer(app, ShopError("x")) == "Internal Server Error"
    assert asked == ["shop"]


async def test_same_http_exception_raised_again_is_answered_as_it_is() -> None:
    def again(error: HTTPException, c: Context) -> Response:
        raise error

    assert await answer(Kit().on_error(HTTPException, again), TeapotError()) == "teapot"


# --- exception groups --------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 3])
async def test_group_around_one_http_exception(depth: int) -> None:
    error: Exception = TeapotError()
    for _ in range(depth):
        error = ExceptionGroup("group", [error])
    assert await answer(registered(), error) == "http TeapotError True"


async def test_http_exception_of_a_task_group() -> None:
    app = Kit().on_error(TeapotError, name_of("teapot"))

    @app.get("/")
    async def handler(c: Context) -> Response:
        async def task() -> None:
            raise TeapotError

        async with asyncio.TaskGroup() as group:
            group.create_task(task())
        raise AssertionError("unreachable: the group raises")

    assert await (await app.request("/")).text() == "teapot TeapotError True"


async def test_any_other_group_is_of_its_own_class() -> None:
    group = ExceptionGroup("group", [ShopError("x"), KeyError("y")])
    assert await answer(registered(), group) == "general ExceptionGroup True"
    app = registered().on_error(ExceptionGroup, name_of("group"))
    assert await answer(app, group) == "group ExceptionGroup True"


# --- parts -------------------------------------------------------------------------------------


async def test_part_answers_its_classes_and_leaves_the_others() -> None:
    part = Kit().on_error(OutOfStockError, name_of("part"))
    part.get("/stock", raising(OutOfStockError("x"))).get("/shop", raising(ShopError("x")))
    part.get("/key", raising(KeyError("x")))
    app = Kit().route("/part", part).on_error(ShopError, name_of("app"))
    app.get("/stock", raising(OutOfStockError("x")))
    expected = {
        "/part/stock": "part OutOfStockError True",
        "/part/shop": "app ShopError True",
        "/part/key": "Internal Server Error",
        "/stock": "app OutOfStockError True",
    }
    for path, text in expected.items():
        assert await (await app.request(path)).text() == text


async def test_general_handler_of_a_part_comes_before_a_nearer_class_around_it() -> None:
    part = Kit().on_error(name_of("part")).get("/", raising(OutOfStockError("x")))
    app = Kit().route("/part", part).on_error(OutOfStockError, name_of("app"))
    assert await (await app.request("/part")).text() == "part OutOfStockError True"


async def test_part_that_raises_another_class() -> None:
    def translate(error: KeyError, c: Context) -> Response:
        raise TeapotError from error

    part = Kit().on_error(KeyError, translate).get("/", raising(KeyError("x")))
    app = Kit().route("/part", part).on_error(TeapotError, name_of("app"))
    assert await (await app.request("/part")).text() == "app TeapotError True"


# --- mistakes ----------------------------------------------------------------------------------


def one_argument(error: Exception) -> Response:
    raise AssertionError("unreachable: refused")


def on_shop_error(error: Exception, c: Context) -> Response:
    raise AssertionError("unreachable: refused")


class Handler:
    """A class that is no exception."""


def context_first(c: Context, failure: Exception) -> Response:
    raise AssertionError("unreachable: refused")


def real_context_first(a, b):  # type: ignore[no-untyped-def]
    raise AssertionError("unreachable: refused")


real_context_first.__annotations__["a"] = Context[Any, Any]


def request_first(request, exc):  # type: ignore[no-untyped-def]
    raise AssertionError("unreachable: refused")


class Swapped:
    def method(self, c, e):  # type: ignore[no-untyped-def]
        raise AssertionError("unreachable: refused")


SWAPPED = "The handler of on_error() is called with (error, c), but the first parameter of "


async def test_parameters_with_other_names() -> None:
    for handler in (
        lambda exc, request: request.text(type(exc).__name__),
        lambda e, c: c.text(type(e).__name__),
        lambda c, context: context.text(type(c).__name__),
        lambda *arguments: arguments[1].text(type(arguments[0]).__name__),
    ):
        app = Kit().on_error(handler).get("/", raising(ShopError("x")))
        assert await (await app.request("/")).text() == "ShopError"


FIRST = "expected a class first, not "
FUNCTION = "on_error() takes a function (error, c), not "
SIGNATURE = "can't be called with (error, c): its signature is "


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda app: app.on_error(Handler, name_of("x")), "derived from Exception, not Handler"),
        (lambda app: app.on_error(asyncio.CancelledError), "not CancelledError"),
        (lambda app: app.on_error(ShopError, one_argument), f"{SIGNATURE}one_argument("),
        (lambda app: app.on_error(ShopError, context_first), f"{SIGNATURE}context_first("),
        (lambda app: app.on_error(request_first), f"{SIGNATURE}request_first(request, exc)"),
        (lambda app: app.on_error(Swapped().method), f"{SIGNATURE}Swapped.method("),
        (lambda app: app.on_error(ShopError)("x"), f"{FUNCTION}'x'"),
        (lambda app: app.on_error((KeyError, ValueError), name_of("x")), FIRST),
        (lambda app: app.on_error((KeyError, ValueError)), FUNCTION),
        (lambda app: app.on_error(on_shop_error, ShopError), FIRST),
    ],
)
async def test_mistakes(register: Any, words: str) -> None:
    app = Kit().get("/", raising(ShopError("x")))
    with pytest.raises(TypeError) as caught:
        register(app)
    assert words in str(caught.value)
    assert await (await app.request("/")).text() == "Internal Server Error"


def group(*errors: Exception) -> ExceptionGroup[Exception]:
    return ExceptionGroup("of a task group", errors)


GROUPS = [
    pytest.param(group(ShopError("1")), "shop ShopError", id="one"),
    pytest.param(group(ShopError("1"), ShopError("2")), "shop ShopError", id="several"),
    pytest.param(group(group(ShopError("1")), ShopError("2")), "shop ShopError", id="nested"),
    pytest.param(group(LateError("1"), OutOfStockError("2")), "stock LateError", id="one handler"),
    pytest.param(group(HTTPException(404), TeapotError()), "http HTTPException", id="answers"),
    pytest.param(
        group(ShopError("1"), OutOfStockError("2")), "general ExceptionGroup", id="two handlers"
    ),
    pytest.param(group(ShopError("1"), KeyError("2")), "general ExceptionGroup", id="mixed"),
    pytest.param(group(KeyError("1"), KeyError("2")), "general ExceptionGroup", id="others"),
]


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
@pytest.mark.parametrize(("error", "expected"), GROUPS)
async def test_group(error: Exception, expected: str, around: bool) -> None:
    assert await answer(registered(), error, around) == f"{expected} True"


async def test_group_of_a_task_group() -> None:
    async def fail() -> None:
        raise ShopError("x")

    async def handler(c: Context) -> Response:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())
            tasks.create_task(fail())
        return c.text("not reached")

    app = registered()
    app.get("/", handler)
    assert await (await app.request("/")).text() == "shop ShopError True"


async def test_group_with_a_handler_for_groups() -> None:
    app = registered().on_error(ExceptionGroup, name_of("group"))
    assert await answer(app, group(ShopError("1"), ShopError("2"))) == "shop ShopError True"
    app = registered().on_error(ExceptionGroup, name_of("group"))
    assert await answer(app, group(ShopError("1"), KeyError("2"))) == "group ExceptionGroup True"
    app = registered().on_error(ExceptionGroup, name_of("group"))
    assert await answer(app, group(KeyError("1"), KeyError("2"))) == "group ExceptionGroup True"


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
async def test_group_of_answers_without_handlers(around: bool) -> None:
    app = Kit()
    if around:
        app.use(passing)
    app.get("/", raising(group(TeapotError(), group(HTTPException(404, "none")))))
    response = await app.request("/")
    assert (response.status, await response.text()) == (418, "teapot")


async def test_group_goes_to_the_outer_app() -> None:
    """A sub-app that has a handler for some of a group leaves all of it to the outer one."""
    sub = Kit().on_error(ShopError, name_of("sub"))
    sub.get("/", raising(group(ShopError("1"), LateError("2"), KeyError("3"))))
    app = Kit().on_error(name_of("outer")).route("/mixed", sub)
    alike = Kit().on_error(ShopError, name_of("sub"))
    alike.get("/", raising(group(ShopError("1"), LateError("2"))))
    app.route("/alike", alike)
    assert await (await app.request("/mixed")).text() == "outer ExceptionGroup True"
    assert await (await app.request("/alike")).text() == "sub ShopError True"
