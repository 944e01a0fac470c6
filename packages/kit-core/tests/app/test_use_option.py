# SPDX-License-Identifier: MIT
"""`use=[...]`: middleware of a single registration, and an app that is taken for a decorator."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.interface import Next
from kit.router import TrieRouter

VERBS = ("get", "post", "put", "delete", "patch", "options", "all")


def ok(c: Context) -> Response:
    return c.text("ok")


def noting(name: str) -> Callable[[Context, Next], Any]:
    async def middleware(c: Context, next: Next) -> None:
        c.header("x-ran", name, append=True)
        await next()

    middleware.__qualname__ = name
    return middleware


first, second = noting("first"), noting("second")


async def ran(app: Kit, path: str = "/x", method: str = "GET") -> tuple[str, list[str]]:
    """The text of the answer, and the middleware that ran before it."""
    response = await app.request(path, {"method": method})
    return await response.text(), response.headers.get_all("x-ran")


def names(app: Kit) -> list[tuple[str, str, str]]:
    return [(each.method, each.path, each.handler.__qualname__) for each in app.routes]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        pytest.param(first, ["first"], id="one"),
        pytest.param([first], ["first"], id="list of one"),
        pytest.param([first, second], ["first", "second"], id="list"),
        pytest.param((second, first), ["second", "first"], id="tuple"),
        pytest.param([], [], id="empty list"),
        pytest.param(functools.partial(first), ["first"], id="partial"),
    ],
)
@pytest.mark.parametrize("verb", VERBS)
async def test_middleware_of_a_decorated_handler(verb: str, use: Any, expected: list[str]) -> None:
    app = Kit()
    assert getattr(app, verb)("/x", use=use)(ok) is ok
    method = "GET" if verb == "all" else verb.upper()
    assert await ran(app, "/x", method) == ("ok", expected)


@pytest.mark.parametrize("verb", VERBS)
async def test_middleware_of_handlers_in_the_call(verb: str) -> None:
    app = Kit()
    assert getattr(app, verb)("/x", noting("third"), ok, use=[first, second]) is app
    method = "GET" if verb == "all" else verb.upper()
    assert await ran(app, "/x", method) == ("ok", ["first", "second", "third"])


async def test_registrations_are_those_of_a_call_with_all_of_them() -> None:
    app = Kit().post("/x", first, second, ok)
    decorated = Kit()
    decorated.post("/x", use=[first, second])(ok)
    assert names(decorated) == names(app)
    assert names(app) == [("POST", "/x", "first"), ("POST", "/x", "second"), ("POST", "/x", "ok")]


async def test_on_with_several_methods_and_paths() -> None:
    app = Kit()
    assert app.on(["GET", "PUT"], ["/a", "/b"], use=[first, second])(ok) is ok
    for method in ("GET", "PUT"):
        for path in ("/a", "/b"):
            assert await ran(app, path, method) == ("ok", ["first", "second"])
    app = Kit().on("PURGE", "/a", ok, use=first)
    assert await ran(app, "/a", "PURGE") == ("ok", ["first"])


async def test_middleware_before_middleware() -> None:
    app = Kit()
    app.use("/x", use=first)(second)
    app.use(noting("third"), use=[noting("zeroth")])
    app.get("/x", ok)
    assert await ran(app) == ("ok", ["first", "second", "zeroth", "third"])


async def test_without_a_path() -> None:
    app = Kit().get("/x", ok)
    app.post(use=first)(ok)
    app.put(ok, use=[second])
    assert await ran(app, "/x", "POST") == ("ok", ["first"])
    assert await ran(app, "/x", "PUT") == ("ok", ["second"])
    assert await ran(app, "/x", "GET") == ("ok", [])


async def test_below_a_prefix_and_in_a_part() -> None:
    app = Kit()
    app.base_path("/v1").get("/x", use=first)(ok)
    part = Kit()
    part.get("/x", use=second)(ok)
    app.route("/part", part)
    assert await ran(app, "/v1/x") == ("ok", ["first"])
    assert await ran(app, "/part/x") == ("ok", ["second"])


async def test_middleware_may_answer_in_place_of_the_handler() -> None:
    app = Kit()

    async def refuse(c: Context, next: Next) -> Response:
        return c.text("refused", 403)

    @app.get("/x", use=refuse)
    def never(c: Context) -> Response:
        raise AssertionError("unreachable: refused")

    assert (await app.request("/x")).status == 403


class Deque(Sequence[Any]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        return (first, second)[index]


async def test_any_sequence() -> None:
    app = Kit()
    app.get("/x", use=Deque())(ok)
    assert await ran(app) == ("ok", ["first", "second"])


def async_middleware_factory() -> Any:
    return "no middleware"


ONE = "use takes a middleware or a list of them, not "
EACH = "use takes middleware (c, next)"


@pytest.mark.parametrize(
    ("register", "text"),
    [
        pytest.param(lambda app: app.get("/x", use=5), f"get('/x'): {ONE}5", id="int"),
        pytest.param(lambda app: app.get("/x", use="csrf"), f"get('/x'): {ONE}'csrf'", id="str"),
        pytest.param(lambda app: app.get("/x", use=b"x"), f"get('/x'): {ONE}b'x'", id="bytes"),
        pytest.param(lambda app: app.post(use=None), f"post(): {ONE}None", id="None, no path"),
        pytest.param(
            lambda app: app.get("/x", use={first}),
            f"get('/x'): {ONE}{ {first}!r:.100}",
            id="set",
        ),
        pytest.param(
            lambda app: app.on("GET", "/x", use=[first, 5]),
            f"on('GET', '/x'): {EACH}, not 5",
            id="on: int in the list",
        ),
        pytest.param(
            lambda app: app.use("/x", use=[[first]]),
            f"use('/x'): {EACH}, not {[first]!r:.100}",
            id="use: list in the list",
        ),
        pytest.param(
            lambda app: app.use(use=["x"]), f"use(): {EACH}, not 'x'", id="use: str in the list"
        ),
        pytest.param(
            lambda app: app.put("/x", use=ok),
            f"put('/x'): {EACH}: got the signature ok(c: 'Context') -> 'Response'",
            id="a handler, which would answer",
        ),
        pytest.param(
            lambda app: app.put("/x", ok, use=[first, async_middleware_factory]),
            f"put('/x'): {EACH}: got the signature async_middleware_factory() -> 'Any'",
            id="a factory that was not called",
        ),
    ],
)
def test_what_is_no_middleware_is_refused_at_the_call(register: Any, text: str) -> None:
    app = Kit().get("/before", ok)
    with pytest.raises(TypeError) as caught:
        register(app)
    assert str(caught.value) == text
    assert names(app) == [("GET", "/before", "ok")]


# --- an app that is taken for a decorator ------------------------------------------------------


def handler_text(call: str, with_use: str, name: str = "save") -> str:
    return (
        rf"@app.{re.escape(call)} can't decorate .*\.{name} \({re.escape(__file__)}:\d+\), since "
        rf"it was given handlers: write @app.{re.escape(with_use)}, with only middleware in the "
        "list"
    )


def check_mistake(app: Kit, decorate: Callable[[Kit], Any], text: str) -> None:
    """The mistake is refused, and the app is as if it had not been made."""
    before = names(app)
    with pytest.raises(TypeError) as caught:
        decorate(app)
    assert re.fullmatch(text, str(caught.value)), str(caught.value)
    assert names(app) == before


def post_decorator(app: Kit) -> None:
    @app.post("/x", first)  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def post_several(app: Kit) -> None:
    @app.post(
        "/x",
        first,
        second,
    )  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def post_with_use_as_well(app: Kit) -> None:
    @app.post("/x", first, use=second)  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def post_handler(app: Kit) -> None:
    @app.post("/x", ok)  # type: ignore[arg-type]
    def save(c: Context) -> Response:
        return c.text("saved")


def on_decorator(app: Kit) -> None:
    @app.on(["POST", "PUT"], ["/x", "/y"], first)  # type: ignore[arg-type]
    def save(c: Context) -> Response:
        return c.text("saved")


def use_decorator(app: Kit) -> None:
    @app.use(first)  # type: ignore[arg-type]
    async def save(c: Context, next: Next) -> None:
        await next()


def use_decorator_with_path(app: Kit) -> None:
    @app.use("/x", first)  # type: ignore[arg-type]
    async def save(c: Context, next: Next) -> None:
        await next()


def without_path(app: Kit) -> None:
    @app.post(first)  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def chained(app: Kit) -> None:
    @app.get("/kept", ok).post("/x", first)  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def called(app: Kit) -> None:
    def save(c: Context) -> Response:
        return c.text("saved")

    app.post("/x", ok)(save)  # type: ignore[arg-type]


def called_later(app: Kit) -> None:
    def save(c: Context) -> Response:
        return c.text("saved")

    post = app.post("/x", first)
    post(save)  # type: ignore[arg-type]


def stacked(app: Kit) -> None:
    @app.post("/x", first)  # type: ignore[arg-type]
    @app.get("/kept")
    async def save(c: Context) -> Response:
        return c.text("saved")


@pytest.mark.parametrize(
    ("decorate", "call", "with_use"),
    [
        pytest.param(post_decorator, "post('/x')", "post('/x', use=[...])", id="post"),
        pytest.param(post_several, "post('/x')", "post('/x', use=[...])", id="several lines"),
        pytest.param(post_with_use_as_well, "post('/x')", "post('/x', use=[...])", id="and use="),
        pytest.param(post_handler, "post('/x')", "post('/x', use=[...])", id="a handler"),
        pytest.param(
            on_decorator,
            "on(['POST', 'PUT'], ['/x', '/y'])",
            "on(['POST', 'PUT'], ['/x', '/y'], use=[...])",
            id="on",
        ),
        pytest.param(use_decorator, "use()", "use(use=[...])", id="use"),
        pytest.param(
            use_decorator_with_path, "use('/x')", "use('/x', use=[...])", id="use with a path"
        ),
        pytest.param(without_path, "post()", "post(use=[...])", id="no path"),
        pytest.param(called, "post('/x')", "post('/x', use=[...])", id="called"),
        pytest.param(called_later, "post('/x')", "post('/x', use=[...])", id="called later"),
    ],
)
@pytest.mark.parametrize("router", [lambda: None, lambda: "pattern", TrieRouter])
async def test_app_as_decorator_is_refused_and_leaves_no_trace(
    decorate: Any, call: str, with_use: str, router: Any
) -> None:
    app = Kit(router=router()).get("/before", ok)
    check_mistake(app, decorate, handler_text(call, with_use))
    app.post("/x", use=[noting("third")])(ok)  # as the text says
    assert names(app)[1:] == [("POST", "/x", "third"), ("POST", "/x", "ok")]
    assert await ran(app, "/x", "POST") == ("ok", ["third"])
    assert (await app.request("/y", {"method": "POST"})).status == 404


@pytest.mark.parametrize("decorate", [chained, stacked])
async def test_only_the_mistaken_call_is_taken_back(decorate: Any) -> None:
    app = Kit().get("/before", ok)
    with pytest.raises(TypeError, match=handler_text("post('/x')", "post('/x', use=[...])")):
        decorate(app)
    assert [(method, path) for method, path, _ in names(app)] == [
        ("GET", "/before"),
        ("GET", "/kept"),
    ]
    assert (await app.request("/kept")).status == 200
    assert (await app.request("/x", {"method": "POST"})).status == 404


def test_app_of_a_base_path_as_decorator() -> None:
    app = Kit().get("/before", ok)
    with pytest.raises(TypeError, match=handler_text("post('/x')", "post('/x', use=[...])")):
        post_decorator(app.base_path("/v1"))
    assert names(app) == [("GET", "/before", "ok")]


NO_DECORATOR = (
    r"one argument, .*save \(.*test_use_option.py:\d+\).* An app isn't a decorator: "
    r"write @app.get\(path\), and @app.get\(path, use=\[...\]\)"
)


def bare(app: Kit) -> None:
    app.get("/kept", ok)

    @app  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def bare_behind_middleware(app: Kit) -> None:
    app.use("/kept", first)

    @app  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def error_handler(app: Kit) -> None:
    app.get("/kept", ok)

    @app.on_error(lambda error, c: c.text("error"))  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


def part(app: Kit) -> None:
    @app.route("/kept", Kit().get("/", ok))  # type: ignore[arg-type]
    async def save(c: Context) -> Response:
        return c.text("saved")


@pytest.mark.parametrize("decorate", [bare, bare_behind_middleware, error_handler, part])
def test_any_other_call_with_a_function_is_refused_and_takes_nothing_back(decorate: Any) -> None:
    app = Kit()
    with pytest.raises(TypeError, match=NO_DECORATOR):
        decorate(app)
    assert [each.path for each in app.routes] == ["/kept"]


def test_class_above_which_an_app_stands() -> None:
    app = Kit()
    with pytest.raises(
        TypeError, match=r"^@app\.get\('/x'\) can't decorate .*\.Page, since it was"
    ):

        @app.get("/x", first)  # type: ignore[arg-type]
        class Page:
            """What answers."""

    assert app.routes == []


def test_registering_goes_on_where_nothing_tells_the_column(tmp_path: Any) -> None:
    """Positions in code can be switched off; the line tells then."""
    import subprocess

    program = tmp_path / "app.py"
    program.write_text(
        "from kit import Kit\n"
        "app = Kit().get('/before', lambda c: c.text('x'))\n"
        "try:\n"
        "    @app.post('/x', lambda c: c.text('x'))\n"
        "    def save(c): ...\n"
        "except TypeError as error:\n"
        "    print(error)\n"
        "try:\n"
        "    @app\n"
        "    def save(c): ...\n"
        "except TypeError as error:\n"
        "    print(error)\n"
        "print([route.path for route in app.routes])\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    first_line, second_line, routes = done.stdout.splitlines()
    assert first_line.startswith("@app.post('/x') can't decorate save (")
    assert second_line.startswith("A Kit app was called with one argument, save (")
    assert routes == "['/before']"


async def test_serving_is_as_before_after_a_mistake(client: Any) -> None:
    app = Kit().get("/x", ok)
    with pytest.raises(TypeError):
        post_decorator(app)
    for _ in range(3):
        assert (await client().ask(app, "/x")).body == b"ok"
    with pytest.raises(TypeError, match=r"missing 2 required positional arguments"):
        app(ok)  # type: ignore[call-arg,arg-type]
