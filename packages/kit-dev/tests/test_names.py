# SPDX-License-Identifier: MIT
"""What handlers are called, whatever they are made of."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from kit import Context, Kit, Response, in_thread
from kit.bearer_auth import bearer_auth
from kit.dev import inspect_routes
from kit.dev.cli import main
from kit.interface import Middleware, Next, RouterRoute
from kit.logger import logger
from kit.trailing_slash import append_trailing_slash


class App:
    """An app with one route, whose handler may be anything."""

    def __init__(self, handler: Any) -> None:
        self.routes = [RouterRoute("/", "/", "GET", handler, takes_next=False)]


def name_of(handler: Any) -> str | None:
    """The name of a handler; None where it has none."""
    [route] = inspect_routes(App(handler))  # type: ignore[arg-type]
    return None if route.name in ("[handler]", "[middleware]") else route.name


def plain(c: Context) -> Response:
    return c.text("plain")


async def waiting(c: Context) -> Response:
    return c.text("waiting")


def text_of(text: str, c: Context) -> Response:
    return c.text(text)


class Books:
    def show(self, c: Context) -> Response:
        return c.text("book")

    @classmethod
    def count(cls, c: Context) -> Response:
        return c.text("1")

    @staticmethod
    def ping(c: Context) -> Response:
        return c.text("pong")

    def cached(self, seconds: int) -> Middleware:
        async def middleware(c: Any, next: Next) -> None:
            await next()

        return middleware


class Auth:
    async def __call__(self, c: Context, next: Next) -> None:
        await next()


class Named(Auth):
    def __init__(self) -> None:
        self.__name__ = "members_only"


def cors(origin: str) -> Middleware:
    async def inner(c: Any, next: Next) -> None:
        await next()

    return inner


def rate_limit(*, per_s: int) -> Callable[[int], Middleware]:
    def burst(size: int) -> Middleware:
        def apply(c: Any, next: Next) -> Any:
            return next()

        return apply

    return burst


def page(text: str) -> Callable[[Context], Response]:
    def handler(c: Context) -> Response:
        return c.text(text)

    handler.calls = 0  # type: ignore[attr-defined]
    return handler


def made_here(name: str) -> Any:
    """Makes a function, but gives back something else: the name is not that of a factory."""

    def local(c: Context) -> Response:
        return c.text(name)

    return {name: local}[name]


def timed(handler: Any) -> Any:
    @functools.wraps(handler)
    async def wrapper(*args: Any) -> Any:
        return await handler(*args)

    return wrapper


def unnamed_wrapper(handler: Any) -> Any:
    def wrapper(c: Context) -> Any:
        return handler(c)

    wrapper.__wrapped__ = handler  # type: ignore[attr-defined]
    return wrapper


def renaming_wrapper(handler: Any) -> Any:
    wrapper = functools.wraps(handler)(lambda c: handler(c))
    wrapper.__name__ = "report"
    return wrapper


class Cached:
    """A decorator that is a class."""

    def __init__(self, handler: Any) -> None:
        functools.update_wrapper(self, handler)
        self.handler = handler

    def __call__(self, c: Context) -> Any:
        return self.handler(c)


def renamed_lambda() -> Any:
    handler = lambda c: c.text("x")  # noqa: E731
    handler.__name__ = "index"
    return handler


def around_itself() -> Any:
    def strange(c: Context) -> Response:
        return c.text("x")

    strange.__wrapped__ = strange  # type: ignore[attr-defined]
    return strange


def nested() -> Any:
    class Local:
        def show(self, c: Context) -> Response:
            return c.text("x")

    return Local().show


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        pytest.param(plain, "plain", id="function"),
        pytest.param(waiting, "waiting", id="async function"),
        pytest.param(lambda c: c.text("x"), None, id="lambda"),
        pytest.param(renamed_lambda(), "index", id="lambda with a name"),
        pytest.param(functools.partial(text_of, "x"), "text_of", id="partial"),
        pytest.param(
            functools.partial(lambda t, c: c.text(t), "x"), None, id="partial of a lambda"
        ),
        pytest.param(
            functools.partial(functools.partial(text_of), "x"), "text_of", id="partial of a partial"
        ),
        pytest.param(Books().show, "Books.show", id="method"),
        pytest.param(Books.count, "Books.count", id="class method"),
        pytest.param(Books.ping, "Books.ping", id="static method"),
        pytest.param(nested(), "Local.show", id="method of a local class"),
        pytest.param(Auth(), "Auth", id="object"),
        pytest.param(Named(), "members_only", id="object with a name"),
        pytest.param(Mock(), "Mock", id="mock"),
        pytest.param(Response, "Response", id="class"),
        pytest.param(print, "print", id="written in C"),
        pytest.param(timed(waiting), "waiting", id="wrapper"),
        pytest.param(timed(timed(waiting)), "waiting", id="wrapper of a wrapper"),
        pytest.param(timed(functools.partial(text_of, "x")), "text_of", id="wrapper of a partial"),
        pytest.param(timed(Books().show), "Books.show", id="wrapper of a method"),
        pytest.param(timed(lambda c: c.text("x")), None, id="wrapper of a lambda"),
        pytest.param(unnamed_wrapper(plain), "plain", id="wrapper without the name"),
        pytest.param(renaming_wrapper(plain), "report", id="wrapper with another name"),
        pytest.param(
            renaming_wrapper(functools.partial(text_of, "x")), "report", id="that of a partial"
        ),
        pytest.param(Cached(plain), "plain", id="wrapper that is an object"),
        pytest.param(around_itself(), "around_itself", id="wrapper of itself"),
        pytest.param(cors("*"), "cors", id="from a factory"),
        pytest.param(rate_limit(per_s=1)(5), "rate_limit", id="from a factory of a factory"),
        pytest.param(page("x"), "page", id="handler from a factory"),
        pytest.param(Books().cached(3), "Books.cached", id="from a method"),
        pytest.param(made_here("x"), "local", id="from what is no factory"),
        pytest.param(logger(), "logger", id="Kit's logger"),
        pytest.param(bearer_auth(token="t"), "bearer_auth", id="Kit's bearer_auth"),
        pytest.param(append_trailing_slash(), "append_trailing_slash", id="Kit's trailing_slash"),
    ],
)
def test_name(handler: Any, name: str | None) -> None:
    assert name_of(handler) == name


def test_factory_within_a_function_gives_its_name() -> None:
    def auth() -> Middleware:
        async def middleware(c: Any, next: Next) -> None:
            await next()

        return middleware

    async def here(c: Any, next: Next) -> None:
        await next()

    assert name_of(auth()) == "auth"
    assert name_of(here) == "here"


def test_handlers_of_an_app_that_a_function_makes_have_their_own_names() -> None:
    def create_app() -> Kit:
        app = Kit()

        @app.get("/")
        def index(c: Context) -> Response:
            return c.text("index")

        return app

    assert [route.name for route in inspect_routes(create_app())] == ["index"]


def test_function_of_no_module_has_its_own_name() -> None:
    space: dict[str, Any] = {"__name__": "nowhere"}
    exec("def made():\n    def inner(c): ...\n    return inner\n", space)
    assert name_of(space["made"]()) == "inner"


def test_in_thread_handlers_bear_the_name_of_what_runs_there() -> None:
    assert name_of(in_thread(plain)) == "plain"
    assert name_of(in_thread(functools.partial(text_of, "x"))) == "text_of"


def test_mounted_applications_and_routed_apps() -> None:
    class Legacy:
        def __call__(self, request: Any, *rest: Any) -> Response:
            return Response("x")

    def old_site(request: Any, *rest: Any) -> Response:
        return Response("x")

    inner = Kit().get("/show", Books().show)
    inner.on_error(lambda error, c: c.text("x"))
    app = Kit().route("/books", inner)
    app.mount("/old", old_site).mount("/legacy", Legacy()).mount("/kit", Kit().fetch)
    app.mount("/lambda", lambda request, *rest: Response("x"))
    assert [(route.path, route.name) for route in inspect_routes(app)] == [
        ("/books/show", "Books.show"),
        ("/old/*", "old_site"),
        ("/legacy/*", "Legacy"),
        ("/kit/*", "Kit.fetch"),
        ("/lambda/*", "[middleware]"),
    ]


def test_mounted_asgi_application_bears_its_name() -> None:
    from kit.asgi import from_asgi

    class Starlette:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...

    async def site(scope: Any, receive: Any, send: Any) -> None: ...

    app = Kit().mount("/a", from_asgi(Starlette())).mount("/b", from_asgi(site))
    assert [route.name for route in inspect_routes(app)] == ["Starlette", "site"]


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        pytest.param(plain, plain, id="function"),
        pytest.param(functools.partial(plain), plain, id="partial"),
        pytest.param(timed(plain), plain, id="wrapper"),
        pytest.param(Auth(), Auth.__call__, id="object"),
        pytest.param(Cached, Cached.__init__, id="class"),
        pytest.param(print, None, id="written in C"),
    ],
)
def test_place(handler: Any, code: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("app_of_this_test")
    module.app = app = App(handler)
    app.fetch = app.router = None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    result = CliRunner().invoke(main, ["routes", f"{module.__name__}:app", "--verbose", "--json"])
    [route] = json.loads(result.output)
    line = None if code is None else code.__code__.co_firstlineno
    assert (route["file"], route["line"]) == (None if code is None else __file__, line)
