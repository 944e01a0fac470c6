# SPDX-License-Identifier: MIT
"""`inspect_routes`, `show_routes`, `get_router_name`, and which handlers never run."""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

import kit.dev
from kit import Context, Kit, Response
from kit.authoring.signatures import takes_next
from kit.dev import RouteData, get_router_name, inspect_routes, show_routes
from kit.dev.cli import main
from kit.interface import Next, RouterRoute
from kit.router import PatternRouter, TrieRouter


async def log(c: Context, next: Next) -> None:
    await next()


async def auth(c: Context, next: Next) -> None:
    await next()


def index(c: Context) -> Response:
    return c.text("index")


def user(c: Context) -> Response:
    return c.text("user")


def site() -> Kit:
    app = Kit()
    app.use(log)
    app.get("/", index)
    app.use("/users/*", auth)
    app.get("/users/:id", user).delete("/users/:id", lambda c: c.text("gone"))
    app.get("/pages", lambda c, go: go(), index)
    return app


def test_public_names() -> None:
    assert kit.dev.__all__ == (
        "AppError",
        "RouteData",
        "default_app",
        "get_router_name",
        "inspect_routes",
        "load_app",
        "show_routes",
    )
    for name in kit.dev.__all__:
        assert getattr(kit.dev, name).__module__ == "kit.dev"
        assert getattr(kit.dev, name).__doc__


def test_import_needs_neither_click_nor_uvicorn_nor_the_core_s_extras() -> None:
    code = (
        "import sys, kit.dev; "
        "print(sorted({'click', 'uvicorn', 'watchfiles', 'asyncio', 'anyio'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_routes_with_their_middleware() -> None:
    assert inspect_routes(site()) == [
        RouteData("/*", "ALL", "log", True, []),
        RouteData("/", "GET", "index", False, ["log"]),
        RouteData("/users/*", "ALL", "auth", True, ["log"]),
        RouteData("/users/:id", "GET", "user", False, ["log", "auth"]),
        RouteData("/users/:id", "DELETE", "[handler]", False, ["log", "auth"]),
        RouteData("/pages", "GET", "[middleware]", True, ["log"]),
        RouteData("/pages", "GET", "index", False, ["log", "[middleware]"]),
    ]


def test_middleware_counts_if_it_always_runs_before() -> None:
    app = Kit()
    app.get("/early", index)
    app.use("/*", log)
    app.on(["POST", "PUT"], "/users/*", auth)
    app.post("/users/:id", user).all("/users/:id", user).get("/users/me", user)
    found = {(r.method, r.path): r.middleware for r in inspect_routes(app) if not r.is_middleware}
    assert found == {
        ("GET", "/early"): [],
        ("POST", "/users/:id"): ["log", "auth"],
        ("ALL", "/users/:id"): ["log"],  # auth does not run for every request of it
        ("GET", "/users/me"): ["log"],
    }


def test_route_data_is_a_value() -> None:
    route = RouteData("/", "GET", "index", False, [])
    assert pickle.loads(pickle.dumps(route)) == route
    assert repr(route) == (
        "RouteData(path='/', method='GET', name='index', is_middleware=False, middleware=[])"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        route.name = "other"  # type: ignore[misc]


def test_routes_below_a_prefix_and_of_another_app() -> None:
    api = Kit().use(auth).get("/users", user)
    app = Kit()
    app.base_path("/v1").get("/x", index)
    app.route("/api", api)
    assert [(r.path, r.name, r.middleware) for r in inspect_routes(app)] == [
        ("/v1/x", "index", []),
        ("/api/*", "auth", []),
        ("/api/users", "user", ["auth"]),
    ]


def test_inspection_leaves_the_app_open() -> None:
    app = site()
    inspect_routes(app)
    show_routes(app, colorize=False)
    app.get("/more", index)
    assert inspect_routes(app)[-1].path == "/more"


def test_decorator_without_its_function_is_told() -> None:
    app = Kit()
    app.get("/x")
    with pytest.raises(RuntimeError, match="never used as a decorator"):
        inspect_routes(app)


def _route(handler: Any) -> RouterRoute:
    return RouterRoute("/", "/", "GET", handler, takes_next=takes_next(handler, "GET '/'"))


class OtherApp:
    """An app that is not Kit's, with routes that don't know whether they take `next`."""

    def __init__(self, *handlers: Any) -> None:
        self.router: PatternRouter[Any] = PatternRouter()
        self.routes = [_route(handler) for handler in handlers]


def optional_next(c: Any, next: Any = None) -> None: ...
def optional_other(c: Any, limit: int = 3) -> None: ...
def all_arguments(*args: Any) -> None: ...
def with_keywords(c: Any, *, next: Any = None) -> None: ...


@functools.wraps(log)
async def around_middleware(*args: Any) -> None: ...


@functools.wraps(index)
def around_handler(*args: Any) -> None: ...


class CallableMiddleware:
    def __call__(self, c: Any, next: Any) -> None: ...


@pytest.mark.parametrize(
    ("handler", "is_middleware"),
    [
        (log, True),
        (index, False),
        (lambda c, go: None, True),
        (optional_next, True),
        (optional_other, False),
        (all_arguments, True),
        (with_keywords, False),
        (around_middleware, True),
        (around_handler, False),
        (functools.partial(log), True),
        (functools.partial(lambda text, c: text, "x"), False),
        (CallableMiddleware(), True),
        (dict.get, True),
        (type, False),
    ],
)
def test_middleware_by_signature(handler: Any, is_middleware: bool) -> None:
    assert [r.is_middleware for r in inspect_routes(OtherApp(handler))] == [is_middleware]


@pytest.mark.parametrize("handler", [log, index, optional_next, optional_other, all_arguments])
def test_by_signature_as_the_core_judges(handler: Any) -> None:
    (mine,), (cores,) = inspect_routes(OtherApp(handler)), inspect_routes(Kit().get("/", handler))
    assert mine == cores


# Handlers that never run ----------------------------------------------------------------------


@pytest.fixture
def shadows(monkeypatch: pytest.MonkeyPatch) -> Callable[[Kit], list[tuple[str, str]]]:
    """Which handlers never run, each with the one that answers before it, by `kit routes`."""

    def shadows(app: Kit) -> list[tuple[str, str]]:
        module: Any = ModuleType("app_of_this_test")
        module.app = app
        monkeypatch.setitem(sys.modules, module.__name__, module)
        result = CliRunner().invoke(main, ["routes", module.__name__, "--json"])
        return [
            (route["name"], route["shadowed_by"]["name"])
            for route in json.loads(result.output)
            if route["shadowed_by"] is not None
        ]

    return shadows


@pytest.mark.parametrize(
    ("register", "expected"),
    [
        pytest.param(
            lambda app: app.get("/*", index).get("/users", user), [("user", "index")], id="wildcard"
        ),
        pytest.param(
            lambda app: app.get("/users/:id", index).get("/users/me", user),
            [("user", "index")],
            id="parameter",
        ),
        pytest.param(
            lambda app: app.get("/x", index).get("/x", user),
            [("user", "index")],
            id="the same path",
        ),
        pytest.param(
            lambda app: app.get("/x", index, user), [("user", "index")], id="in one registration"
        ),
        pytest.param(
            lambda app: app.all("/*", index).post("/x", user), [("user", "index")], id="any method"
        ),
        pytest.param(
            lambda app: app.use(lambda c: c.text("x")).get("/x", user),
            [("user", "[handler]")],
            id="a handler for middleware",
        ),
        pytest.param(lambda app: app.get("/users", user).get("/*", index), [], id="the other way"),
        pytest.param(lambda app: app.post("/*", index).get("/x", user), [], id="another method"),
        pytest.param(lambda app: app.get("/*", index).all("/x", user), [], id="one of all methods"),
        pytest.param(lambda app: app.get("/*", log).get("/x", user), [], id="middleware"),
        pytest.param(lambda app: app.get("/*", index).use("/x", log), [], id="before middleware"),
        pytest.param(lambda app: app.get("/:x", index).get("/", user), [], id="the empty segment"),
        pytest.param(
            lambda app: app.mount("/x", lambda r, *a: None).get("/x/y", user),
            [],
            id="a mounted application may leave it to others",
        ),
    ],
)
def test_shadows(
    shadows: Any, register: Callable[[Kit], Kit], expected: list[tuple[str, str]]
) -> None:
    assert shadows(register(Kit())) == expected


async def test_what_is_marked_does_not_run(shadows: Any) -> None:
    app = Kit().get("/*", index).get("/users", user)
    assert shadows(app) == [("user", "index")]
    assert await (await app.request("/users")).text() == "index"


# show_routes ----------------------------------------------------------------------------------


def test_a_line_for_each_method_and_path(capsys: pytest.CaptureFixture[str]) -> None:
    show_routes(site())
    assert capsys.readouterr().out == (
        "GET     /\n"
        "GET     /users/:id\n"
        "DELETE  /users/:id\n"
        "GET     /pages\n"
    )  # fmt: skip


def test_verbose_names_what_is_registered(capsys: pytest.CaptureFixture[str]) -> None:
    show_routes(site(), verbose=True)
    assert capsys.readouterr().out == (
        "ALL     /*\n"
        "          [log]\n"
        "GET     /\n"
        "          index\n"
        "ALL     /users/*\n"
        "          [auth]\n"
        "GET     /users/:id\n"
        "          user\n"
        "DELETE  /users/:id\n"
        "          [handler]\n"
        "GET     /pages\n"
        "          [middleware]\n"
        "          index\n"
    )


@pytest.mark.parametrize(
    ("colorize", "environment", "is_colored"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1"}, False),
        (None, {"FORCE_COLOR": "1"}, True),
        (None, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (None, {}, False),
    ],
)
def test_colors(
    colorize: bool | None,
    environment: dict[str, str],
    is_colored: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    show_routes(Kit().get("/a", index).delete("/b", index), colorize=colorize)
    plain, colored = (
        "GET     /a\nDELETE  /b\n",
        "\x1b[32mGET\x1b[0m     /a\n\x1b[32mDELETE\x1b[0m  /b\n",
    )
    assert capsys.readouterr().out == (colored if is_colored else plain)


def test_no_routes(capsys: pytest.CaptureFixture[str]) -> None:
    show_routes(Kit())
    show_routes(Kit().use(log))
    assert capsys.readouterr().out == ""


# get_router_name ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("app", "name"),
    [
        (Kit(), "SmartRouter"),
        (Kit().get("/users/:id{(a|b)x}", index), "SmartRouter"),
        (Kit(router="trie"), "TrieRouter"),
        (Kit(router=PatternRouter()), "PatternRouter"),
    ],
)
async def test_router_name(app: Kit, name: str) -> None:
    assert get_router_name(app) == name
    await app.request("/")
    assert get_router_name(app) == name


async def test_router_name_changes_nothing() -> None:
    class Unasked(TrieRouter[Any]):
        def match(self, method: str, path: str) -> Any:
            matches.append(path)
            return super().match(method, path)

    matches: list[str] = []
    app = Kit(router=Unasked())
    app.get("/a", index)
    assert get_router_name(app) == "TrieRouter"
    assert matches == []
    app.get("/b", index)
    assert (await app.request("/b")).status == 200
