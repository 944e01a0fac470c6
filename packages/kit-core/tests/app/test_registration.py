# SPDX-License-Identifier: MIT
"""Registering: each method as call and decorator, shapes of handlers, errors at registration."""

from __future__ import annotations

import asyncio
import functools
import gc
import operator
import re
from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.interface import KitError, RouterClosedError

VERBS = ("get", "post", "put", "delete", "patch", "options")


def ok(c: Context) -> Response:
    return c.text("ok")


def answers(text: str) -> Callable[[Context], Response]:
    return lambda c: c.text(text)


async def get_text(app: Kit, path: str = "/", method: str = "GET") -> str:
    response = await app.request(path, {"method": method})
    return f"{response.status} {await response.text()}"


def routes_of(app: Kit) -> list[tuple[str, str]]:
    return [(route.method, route.path) for route in app.routes]


# --- each method -------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
async def test_verb_as_call_returns_the_app(verb: str) -> None:
    app = Kit()
    assert getattr(app, verb)("/x", ok) is app
    assert await get_text(app, "/x", verb.upper()) == "200 ok"
    other = "PUT" if verb == "post" else "POST"
    assert await get_text(app, "/x", other) == "404 404 Not Found"


@pytest.mark.parametrize("verb", [*VERBS, "all", "use"])
async def test_verb_as_decorator_gives_the_function_back(verb: str) -> None:
    app = Kit()
    assert getattr(app, verb)("/x")(ok) is ok
    assert routes_of(app) == [("ALL" if verb in ("all", "use") else verb.upper(), "/x")]
    assert await get_text(app, "/x", "GET" if verb in ("all", "use") else verb.upper()) == "200 ok"


@pytest.mark.parametrize("method", ["GET", "POST", "PURGE", "OPTIONS"])
async def test_all_answers_every_method(method: str) -> None:
    assert await get_text(Kit().all("/x", ok), "/x", method) == "200 ok"


@pytest.mark.parametrize("verb", [*VERBS, "all"])
async def test_without_a_path_the_last_one_is_taken_and_slash_at_first(verb: str) -> None:
    app = Kit()
    method = "ALL" if verb == "all" else verb.upper()
    getattr(app, verb)(ok)
    app.put("/later", ok)
    getattr(app, verb)(ok)
    getattr(app, verb)()(ok)
    later = (method, "/later")
    assert routes_of(app) == [(method, "/"), ("PUT", "/later"), later, later]


async def test_path_of_on_and_use_is_the_last_path_too() -> None:
    app = Kit()
    app.on("GET", ["/a", "/b"], ok).get(ok).use("/m/*", ok).post(ok).use("*", ok).put(ok)
    assert routes_of(app)[2:] == [
        ("GET", "/b"),
        ("ALL", "/m/*"),
        ("POST", "/m/*"),
        ("ALL", "/*"),
        ("PUT", "/*"),
    ]


async def test_bare_decorator_registers_at_the_last_path() -> None:
    app = Kit()

    @app.get
    def name(c: Context) -> Response:
        return c.text("bare")

    assert name is app
    assert await get_text(app) == "200 bare"


async def test_use_without_path_covers_everything() -> None:
    app = Kit()

    @app.use()
    async def mark(c: Context, next: Any) -> None:
        await next()
        c.header("x-mark", "1")

    app.get("/a/b", ok)
    for path in ("/", "/a/b", "/nowhere"):
        assert (await app.request(path)).headers["x-mark"] == "1"


async def test_several_handlers_in_one_call_run_in_order() -> None:
    app = Kit()
    trace: list[str] = []

    def step(name: str) -> Any:
        async def middleware(c: Context, next: Any) -> None:
            trace.append(name)
            await next()

        return middleware

    app.get("/x", step("1"), step("2"), ok)
    assert await get_text(app, "/x") == "200 ok"
    assert trace == ["1", "2"]
    assert routes_of(app) == [("GET", "/x")] * 3


@pytest.mark.parametrize(
    ("methods", "paths", "expected"),
    [
        pytest.param("GET", "/a", [("GET", "/a")], id="two strings"),
        pytest.param(["GET", "POST"], "/a", [("GET", "/a"), ("POST", "/a")], id="methods"),
        pytest.param(("get", "post"), "/a", [("GET", "/a"), ("POST", "/a")], id="tuple, lower"),
        pytest.param("GET", ["/a", "/b"], [("GET", "/a"), ("GET", "/b")], id="paths"),
        pytest.param(
            ["GET", "PUT"],
            ["/a", "/b"],
            [("GET", "/a"), ("PUT", "/a"), ("GET", "/b"), ("PUT", "/b")],
            id="paths outside, methods inside",
        ),
        pytest.param("purge", "a", [("PURGE", "/a")], id="custom method, no slash"),
    ],
)
def test_on(methods: Any, paths: Any, expected: list[tuple[str, str]]) -> None:
    assert routes_of(Kit().on(methods, paths, ok)) == expected
    app = Kit()
    assert app.on(methods, paths)(ok) is ok
    assert routes_of(app) == expected


async def test_custom_method_is_compared_exactly() -> None:
    app = Kit().on("Purge", "/cache", ok)
    assert await get_text(app, "/cache", "PURGE") == "200 ok"
    assert await get_text(app, "/cache", "purge") == "404 404 Not Found"


async def test_chaining_and_first_registered_wins() -> None:
    app = Kit().get("/u/:id", answers("param")).get("/u/me", answers("me")).get("*", answers("*"))
    assert await get_text(app, "/u/me") == "200 param"
    assert await get_text(app, "/other") == "200 *"
    app = Kit().get("*", answers("*")).get("/u/me", answers("me"))
    assert await get_text(app, "/u/me") == "200 *"


async def test_middleware_after_a_handler_does_not_run_for_it() -> None:
    app = Kit().get("/x", ok)

    @app.use("*")
    async def late(c: Context, next: Any) -> None:
        c.header("x-late", "1")
        await next()

    app.get("/y", ok)
    assert (await app.request("/x")).headers.get("x-late") is None
    assert (await app.request("/y")).headers.get("x-late") == "1"


def test_routes_describe_what_was_registered_and_are_a_copy() -> None:
    app = Kit().get("/a", ok)
    [route] = app.routes
    assert (route.base_path, route.path, route.method, route.handler) == ("/", "/a", "GET", ok)
    app.routes.clear()
    assert len(app.routes) == 1


# --- the shapes of handlers --------------------------------------------------------------------


class Handlers:
    def plain(self, c: Context) -> Response:
        return c.text("ok")

    async def coroutine(self, c: Context) -> Response:
        return c.text("ok")

    @classmethod
    def of_class(cls, c: Context) -> Response:
        return c.text("ok")

    @staticmethod
    def static(c: Context) -> Response:
        return c.text("ok")

    def option(self, c: Context, status: int = 200) -> Response:
        return c.text("ok", status)


class CallableHandler:
    def __call__(self, c: Context) -> Response:
        return c.text("ok")


class AsyncCallableHandler:
    async def __call__(self, c: Context) -> Response:
        return c.text("ok")


class AwaitableHandler:
    def __init__(self, c: Context) -> None:
        self.c = c

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return self.c.text("ok")


async def async_ok(c: Context) -> Response:
    return c.text("ok")


async def with_default(c: Context, status: int = 200) -> Response:
    return c.text("ok", status)


def keyword_only(c: Context, *, status: int = 200) -> Response:
    return c.text("ok", status)


def keywords(c: Context, **options: Any) -> Response:
    assert not options
    return c.text("ok")


def positional_only(c: Context, /) -> Response:
    return c.text("ok")


def configured(status: int, c: Context) -> Response:
    return c.text("ok", status)


def transparent(function: Any) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return await result if hasattr(result, "__await__") else result

    return wrapper


def with_user(function: Any) -> Any:
    """Hands a second argument of its own to the function, so it takes `c` alone itself."""

    @functools.wraps(function)
    async def wrapper(c: Context, *, scheme: str = "basic") -> Any:
        return await function(c, f"{scheme} user")

    return wrapper


@with_user
async def wrapped_two(c: Context, user: str) -> Response:
    assert user == "basic user"
    return c.text("ok")


HANDLERS = [
    pytest.param(ok, id="function"),
    pytest.param(async_ok, id="async function"),
    pytest.param(lambda c: c.text("ok"), id="lambda"),
    pytest.param(lambda c: async_ok(c), id="lambda giving a coroutine"),
    pytest.param(lambda c: AwaitableHandler(c), id="lambda giving an awaitable"),
    pytest.param(functools.partial(configured, 200), id="partial"),
    pytest.param(functools.partial(with_default, status=200), id="partial with keyword"),
    pytest.param(CallableHandler(), id="callable object"),
    pytest.param(AsyncCallableHandler(), id="async callable object"),
    pytest.param(AwaitableHandler, id="class whose instances can be awaited"),
    pytest.param(Handlers().plain, id="bound method"),
    pytest.param(Handlers().coroutine, id="bound async method"),
    pytest.param(Handlers().option, id="bound method with default"),
    pytest.param(Handlers.of_class, id="classmethod"),
    pytest.param(Handlers.static, id="staticmethod"),
    pytest.param(transparent(ok), id="wrapped, *args"),
    pytest.param(transparent(transparent(async_ok)), id="wrapped twice"),
    pytest.param(wrapped_two, id="wrapper that takes (c) around a function that takes more"),
    pytest.param(with_default, id="default"),
    pytest.param(keyword_only, id="keyword only"),
    pytest.param(keywords, id="**keywords"),
    pytest.param(positional_only, id="positional only"),
    pytest.param(operator.methodcaller("text", "ok"), id="C callable"),
]


@pytest.mark.parametrize("handler", HANDLERS)
async def test_shape_of_handler(handler: Any) -> None:
    assert await get_text(Kit().get("/", handler)) == "200 ok"
    app = Kit().use(transparent_middleware).get("/", handler)
    assert await get_text(app) == "200 ok"


async def transparent_middleware(c: Context, next: Any) -> None:
    await next()
    c.header("x-ran", "1")


class Middleware:
    async def method(self, c: Context, next: Any) -> None:
        await transparent_middleware(c, next)

    async def __call__(self, c: Context, next: Any) -> None:
        await transparent_middleware(c, next)


def plain_middleware(c: Context, next: Any) -> Any:
    c.header("x-ran", "1")
    return next()


async def middleware_with_option(option: str, c: Context, next: Any) -> None:
    assert option == "option"
    await transparent_middleware(c, next)


async def next_with_default(c: Context, next: Any = None) -> None:
    await transparent_middleware(c, next)


async def next_and_option(c: Context, next: Any, option: int = 1) -> None:
    assert option == 1
    await transparent_middleware(c, next)


async def any_arguments(*args: Any) -> None:
    await transparent_middleware(*args)


async def rest_arguments(c: Context, *rest: Any) -> None:
    await transparent_middleware(c, *rest)


async def other_names(context: Context, call_next: Any) -> None:
    await transparent_middleware(context, call_next)


MIDDLEWARE = [
    pytest.param(transparent_middleware, id="async function"),
    pytest.param(plain_middleware, id="function giving next()"),
    pytest.param(functools.partial(middleware_with_option, "option"), id="partial"),
    pytest.param(Middleware(), id="callable object"),
    pytest.param(Middleware().method, id="bound method"),
    pytest.param(next_with_default, id="next=None"),
    pytest.param(next_and_option, id="option after next"),
    pytest.param(any_arguments, id="*args"),
    pytest.param(rest_arguments, id="c, *rest"),
    pytest.param(other_names, id="other names"),
    pytest.param(transparent(transparent_middleware), id="wrapped"),
    pytest.param(lambda c, n: transparent_middleware(c, n), id="lambda"),
]


@pytest.mark.parametrize("middleware", MIDDLEWARE)
async def test_shape_of_middleware(middleware: Any) -> None:
    response = await Kit().use(middleware).get("/", ok).request("/")
    assert (response.status, await response.text()) == (200, "ok")
    assert response.headers["x-ran"] == "1"


# --- errors ------------------------------------------------------------------------------------


def two_required(c: Context, next: Any, more: Any) -> None: ...


def nothing() -> None: ...


def required_keyword(c: Context, *, db: Any) -> None: ...


NOT_CALLABLE = "is not callable: expected a function (c) or (c, next), not "
FIRST = "expected a str or a function first, not "
NEITHER = "The handler of GET '/x' is neither a handler (c) nor middleware (c, next)"
STRINGS = "must be a str or a list of str, not "


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda app: app.get("/x", 5), f"The handler of GET '/x' {NOT_CALLABLE}5"),
        (lambda app: app.get("/x", ok, None), f"{NOT_CALLABLE}None"),
        (lambda app: app.get("/x")("no function"), f"{NOT_CALLABLE}'no function'"),
        (lambda app: app.get(5, ok), f"{FIRST}5"),
        (lambda app: app.post(b"/x", ok), f"{FIRST}b'/x'"),
        (lambda app: app.all(["/a", "/b"], ok), f"{FIRST}['/a', '/b']"),
        (lambda app: app.use("/x", "y"), f"The handler of ALL '/x' {NOT_CALLABLE}'y'"),
        (lambda app: app.get("/x", two_required), NEITHER),
        (lambda app: app.get("/x", nothing), NEITHER),
        (lambda app: app.get("/x", required_keyword), NEITHER),
        (lambda app: app.on(["GET", 5], "/x", ok), f"{STRINGS}5"),
        (lambda app: app.on("GET", ["/x", None], ok), f"{STRINGS}None"),
        (lambda app: app.on(None, "/x", ok), f"The method of on(None, '/x') {STRINGS}None"),
        (lambda app: app.on("GET", 5, ok), f"The path of on('GET', 5) {STRINGS}5"),
        (lambda app: app.on_error(5), "on_error() takes a function (error, c), not 5"),
        (lambda app: app.not_found("x"), "not_found() takes a function (c), not 'x'"),
    ],
)
def test_mistake_is_refused_and_leaves_no_trace(register: Any, words: str) -> None:
    app = Kit()
    with pytest.raises(TypeError) as caught:
        register(app)
    assert words in str(caught.value)
    assert app.routes == []


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda app: app.on_error(lambda error: None), id="on_error(error)"),
        pytest.param(lambda app: app.on_error(lambda a, b, c: None), id="on_error of three"),
        pytest.param(lambda app: app.not_found(lambda: None), id="not_found()"),
        pytest.param(lambda app: app.not_found(lambda c, n: None), id="not_found(c, next)"),
    ],
)
def test_wrong_signature_of_on_error_and_not_found_is_refused(register: Any) -> None:
    with pytest.raises(TypeError, match=r"can't be called with"):
        register(Kit())


@pytest.mark.parametrize(
    ("pend", "call"),
    [
        pytest.param(lambda app: app.get("/x"), "get('/x')", id="get"),
        pytest.param(lambda app: app.all("/x"), "all('/x')", id="all"),
        pytest.param(lambda app: app.use("/x/*"), "use('/x/*')", id="use"),
        pytest.param(lambda app: app.use(), "use()", id="use without path"),
        pytest.param(lambda app: app.on("GET", "/x"), "on('GET', '/x')", id="on"),
        pytest.param(lambda app: app.on_error(), "on_error()", id="on_error"),
        pytest.param(lambda app: app.not_found(), "not_found()", id="not_found"),
    ],
)
async def test_pending_decorator_is_named_with_its_place(pend: Any, call: str) -> None:
    app = Kit()
    pend(app)
    text = (
        f"@app.{call} at {__file__}:{pend.__code__.co_firstlineno} was called without a handler "
        "and never used as a decorator: give it a handler, or put it above a function"
    )
    with pytest.raises(RuntimeError) as caught:
        _ = app.routes
    assert str(caught.value) == text
    with pytest.raises(RuntimeError) as caught:
        await app.request("/")
    assert str(caught.value) == text


async def test_pending_decorator_is_reported_under_a_server_too(client: Any) -> None:
    app = Kit()
    app.get("/x")
    with pytest.raises(RuntimeError, match=r"^@app\.get\('/x'\) at "):
        await client().ask(app)


def test_pending_decorator_is_not_forgotten_for_a_later_one() -> None:
    """Also where the later one has the place of the earlier one in memory."""
    for _ in range(5):
        app = Kit()
        app.get("/forgotten")
        gc.collect()
        app.get("/used")(ok)
        gc.collect()
        with pytest.raises(RuntimeError, match=r"^@app\.get\('/forgotten'\) at "):
            _ = app.routes


def test_decorator_that_got_its_function_late_is_content() -> None:
    app = Kit()
    register = app.get("/x")
    with pytest.raises(RuntimeError):
        _ = app.routes
    register(ok)
    assert routes_of(app) == [("GET", "/x")]


@pytest.mark.parametrize(
    "add",
    [
        pytest.param(lambda app: app.get("/late", ok), id="get"),
        pytest.param(lambda app: app.use("/late", ok), id="use"),
        pytest.param(lambda app: app.on(["GET"], ["/late"], ok), id="on"),
        pytest.param(lambda app: app.get("/late")(ok), id="decorator"),
    ],
)
async def test_adding_after_the_first_match(add: Any) -> None:
    app = Kit().get("/", ok)
    assert await get_text(app) == "200 ok"
    with pytest.raises(RouterClosedError) as caught:
        add(app)
    assert re.fullmatch(
        r"Can't add the route (GET|ALL) '/late': "
        r"the router has already matched a request; register all routes before",
        str(caught.value),
    )
    assert isinstance(caught.value, KitError)
    assert routes_of(app) == [("GET", "/")]
    assert await get_text(app, "/late") == "404 404 Not Found"


async def test_on_error_and_not_found_may_come_late() -> None:
    app = Kit()
    assert await get_text(app) == "404 404 Not Found"
    app.not_found(lambda c: c.text("late", 404))
    assert await get_text(app) == "404 late"
