# SPDX-License-Identifier: MIT
"""What is refused when it is registered; and that it leaves the app as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.http.paths import merge_path
from kit.interface import RouterClosedError, UnsupportedPathError
from kit.router import LinearRouter, PatternRouter, RegExpRouter, SmartRouter, TrieRouter

VERBS = ("get", "post", "put", "delete", "patch", "options", "all")
ROUTERS = [
    pytest.param(lambda: None, id="none"),
    pytest.param(lambda: "trie", id="name"),
    pytest.param(LinearRouter, id="LinearRouter"),
    pytest.param(PatternRouter, id="PatternRouter"),
    pytest.param(RegExpRouter, id="RegExpRouter"),
    pytest.param(lambda: SmartRouter([RegExpRouter(), TrieRouter()]), id="SmartRouter"),
    pytest.param(TrieRouter, id="TrieRouter"),
]


def ok(c: Context) -> Response:
    return c.text("ok")


def routes_of(app: Kit) -> list[tuple[str, str]]:
    return [(route.method, route.path) for route in app.routes]


async def status(app: Kit, path: str, method: str = "GET") -> int:
    return (await app.request(path, {"method": method})).status


def refused(kind: type[Exception], register: Callable[[], Any]) -> str:
    with pytest.raises(kind) as caught:
        register()
    assert type(caught.value) is kind
    return str(caught.value)


# --- HEAD --------------------------------------------------------------------------------------

HEAD = " would never run: a HEAD request is handled by the GET route"


@pytest.mark.parametrize("methods", ["HEAD", "head", ["HEAD"], ["GET", "HEAD"], ("PURGE", "Head")])
@pytest.mark.parametrize("handlers", [(ok,), ()], ids=["handler", "decorator"])
async def test_route_for_head(methods: Any, handlers: Any) -> None:
    app = Kit().get("/x", ok)
    text = refused(ValueError, lambda: app.on(methods, "/y", *handlers))
    assert text == f"on({methods!r}, '/y')" + HEAD
    assert routes_of(app) == [("GET", "/x")]
    assert await status(app, "/x", "HEAD") == 200


# --- no path after a use() without one ---------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("handlers", [(ok,), ()], ids=["handler", "decorator"])
def test_no_path_after_a_use_without_one(verb: str, handlers: Any) -> None:
    app = Kit().get("/x", ok)
    app.use()(ok)
    text = refused(TypeError, lambda: getattr(app, verb)(*handlers))
    assert text == f"{verb}() has no path, and use() before it had none either"
    assert routes_of(app) == [("GET", "/x"), ("ALL", "/*")]
    app.use(ok).get("/y", ok)
    getattr(app, verb)(ok)
    assert routes_of(app)[-1][1] == "/y"


async def test_no_path_after_calls_with_one() -> None:
    app = Kit().use("*", ok).post(ok).use("/m/*", ok).post(ok).on("PUT", ["/a", "/b"], ok).post(ok)
    assert [route for route in routes_of(app) if route[0] == "POST"] == [
        ("POST", "/*"),
        ("POST", "/m/*"),
        ("POST", "/b"),
    ]


def test_refused_call_is_not_the_call_before() -> None:
    app = Kit().get("/x", ok)
    with pytest.raises(UnsupportedPathError):
        app.get("/refused/:id{[}", ok)
    with pytest.raises(TypeError):
        app.use(5)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        app.put("/refused", use=5)  # type: ignore[call-overload]
    app.post(ok)
    assert routes_of(app) == [("GET", "/x"), ("POST", "/x")]


# --- routers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("router", [LinearRouter, PatternRouter, TrieRouter, SmartRouter])
def test_class_of_a_router(router: Any) -> None:
    assert f"not the class {router.__name__}" in refused(TypeError, lambda: Kit(router=router))


# --- one handler at most -----------------------------------------------------------------------


def on_error(error: Exception, c: Context) -> Response:
    return c.text("error")


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda app: app.on_error(on_error, on_error), "expected a class first, not "),
        (lambda app: app.on_error(KeyError, on_error, on_error), "takes one handler, not 2"),
        (lambda app: app.not_found(ok, ok), "not_found() takes one handler, not 2"),
    ],
)
def test_several_handlers_where_one_would_be_used(register: Any, words: str) -> None:
    assert words in refused(TypeError, lambda: register(Kit()))


# --- all or none -------------------------------------------------------------------------------


def wrong(a: Any, b: Any, c: Any) -> None:
    raise AssertionError("unreachable: refused")


def bad_part() -> Kit:
    return Kit().get("/first", ok).get("/second", ok)


@pytest.mark.parametrize(
    ("kind", "register"),
    [
        pytest.param(
            UnsupportedPathError,
            lambda app: app.on("GET", ["/first", "/x/:id{[}", "/last"], ok),
            id="on: a path in the middle",
        ),
        pytest.param(
            UnsupportedPathError,
            lambda app: app.on(["GET", "PUT"], ["/first", "/:x{[}?"])(ok),
            id="on: the last path of a decorator",
        ),
        pytest.param(
            UnsupportedPathError,
            lambda app: app.on("GET", ["/first", "/users/{id}"], ok),
            id="on: a pattern of another framework",
        ),
        pytest.param(
            UnsupportedPathError,
            lambda app: app.on("GET", ["/first", "/a/:x?/*"], ok),
            id="on: an optional parameter before a wildcard",
        ),
        pytest.param(
            TypeError, lambda app: app.get("/first", ok, wrong), id="get: the second handler"
        ),
        pytest.param(
            TypeError,
            lambda app: app.on("GET", ["/first", "/last"], ok, wrong),
            id="on: the second handler",
        ),
        pytest.param(
            TypeError, lambda app: app.get("/first", use=[passing])(wrong), id="decorated function"
        ),
        pytest.param(
            UnsupportedPathError,
            lambda app: app.route("/:x{[}", bad_part()),
            id="route: the prefix",
        ),
        pytest.param(
            UnsupportedPathError,
            lambda app: app.route("/:x?", Kit().get("/first", ok).use("*", passing)),
            id="route: the second route, with that prefix",
        ),
        pytest.param(
            UnsupportedPathError, lambda app: app.mount("/:x{[}", lambda r: None), id="mount"
        ),
    ],
)
@pytest.mark.parametrize("router", ROUTERS)
async def test_refused_call_adds_nothing(router: Any, kind: Any, register: Any) -> None:
    given = router()
    app = Kit(router=given).get("/before", ok).get("/files/:name?", ok)
    before = app.routes
    with pytest.raises(kind):
        register(app)
    assert app.routes == before
    app.get("/after", ok)
    for path in ("/before", "/files", "/files/a", "/after"):
        assert await status(app, path) == 200
    for path in ("/first", "/last", "/a/1", "/x/1", "/users/1"):
        for method in ("GET", "PUT"):
            assert await status(app, path, method) == 404


async def passing(c: Context, next: Any) -> None:
    await next()


class Counting(TrieRouter[Any]):
    """A router that refuses a path after it has taken it, and counts what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.added: list[str] = []

    def add(self, method: str, path: str, handler: Any) -> None:
        super().add(method, path, handler)
        self.added.append(path)
        if path == "/refused":
            raise UnsupportedPathError(path, "taken, and then refused", method)


class Locked(Counting):
    """A router that can't be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


async def test_router_that_keeps_what_it_refuses_is_made_anew() -> None:
    router = Counting()
    app = Kit(router=router)
    assert app.router is router
    app.get("/before", ok)
    text = refused(UnsupportedPathError, lambda: app.on("GET", ["/first", "/refused", "/last"], ok))
    assert text == "Unsupported route GET '/refused': taken, and then refused"
    assert isinstance(app.router, Counting)
    assert app.router.added == ["/before"]
    app.get("/after", ok)
    assert app.router.added == ["/before", "/after"]
    assert [await status(app, path) for path in ("/before", "/after")] == [200, 200]
    assert [await status(app, path) for path in ("/first", "/refused", "/last")] == [404] * 3


async def test_router_that_can_not_be_copied_keeps_what_it_took_in_both_places() -> None:
    router = Locked()
    app = Kit(router=router).get("/before", ok)
    with pytest.raises(UnsupportedPathError):
        app.on("GET", ["/first", "/refused", "/last"], ok)
    assert app.router is router
    assert routes_of(app) == [("GET", "/before"), ("GET", "/first")]
    assert [await status(app, path) for path in ("/before", "/first", "/last")] == [200, 200, 404]


def test_route_that_would_never_match_is_refused() -> None:
    app = Kit()
    text = refused(UnsupportedPathError, lambda: app.get("/:id{a/b}?", ok))
    assert "would never match, since its expression has a slash" in text
    assert routes_of(app) == []


async def test_refused_part_is_not_routed() -> None:
    started: list[str] = []

    def lifespan(app: Kit) -> Any:
        started.append("part")
        raise AssertionError("unreachable: it is no part")

    part = Kit(lifespan=lifespan).get("/first", ok)
    app = Kit().get("/before", ok)
    with pytest.raises(UnsupportedPathError):
        app.route("/:x{[}", part)
    part.get("/more", ok)  # it is not routed, so it may grow
    async with app.running():
        assert started == []


async def test_closed_app_adds_nothing() -> None:
    app = Kit().get("/x", ok)
    await app.request("/x")
    text = refused(RouterClosedError, lambda: app.on("GET", ["/y", "/z"], ok))
    assert text == (
        "Can't add the route GET '/y': the router has already matched a request; "
        "register all routes before"
    )
    assert routes_of(app) == [("GET", "/x")]


# --- handlers that come too late ---------------------------------------------------------------


def route_below_api(part: Kit) -> Kit:
    return Kit().route("/api", part)


@pytest.mark.parametrize(
    ("name", "register"),
    [
        ("on_error", lambda app: app.on_error(on_error)),
        ("on_error", lambda app: app.on_error(KeyError, on_error)),
        ("on_error", lambda app: app.on_error()(on_error)),
        ("not_found", lambda app: app.not_found(ok)),
        ("not_found", lambda app: app.not_found()(ok)),
    ],
)
@pytest.mark.parametrize("below", [None, "/v1"])
def test_handlers_of_a_part_after_it_was_routed(name: str, register: Any, below: Any) -> None:
    part = Kit().get("/a", ok)
    app = part.base_path(below) if below else part
    route_below_api(part)
    line = route_below_api.__code__.co_firstlineno + 1
    assert refused(RuntimeError, lambda: register(app)) == (
        f"{name}() has no effect any more: the app was copied into another one by "
        f"route('/api') at {__file__}:{line}; add everything before"
    )


def test_paths_are_joined_before_they_are_judged() -> None:
    assert merge_path("/a/:x?", "/*") == "/a/:x?/*"
    app = Kit().base_path("/a/:x?")
    text = refused(UnsupportedPathError, lambda: app.use("*", passing))
    assert text.startswith("Unsupported route ALL '/a/:x?/*': a path could match both ")
