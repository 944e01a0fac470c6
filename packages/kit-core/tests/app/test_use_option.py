# SPDX-License-Identifier: MIT
"""`use=[...]`: middleware of a single registration."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.interface import Next

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
    ("register", "words"),
    [
        pytest.param(lambda app: app.get("/x", use=5), f"get('/x'): {ONE}5", id="int"),
        pytest.param(lambda app: app.get("/x", use="csrf"), f"{ONE}'csrf'", id="str"),
        pytest.param(lambda app: app.get("/x", use=b"x"), f"{ONE}b'x'", id="bytes"),
        pytest.param(lambda app: app.post(use=None), f"post(): {ONE}None", id="None, no path"),
        pytest.param(lambda app: app.get("/x", use={first}), ONE, id="set"),
        pytest.param(lambda app: app.on("GET", "/x", use=[first, 5]), f"{EACH}, not 5", id="on"),
        pytest.param(lambda app: app.use("/x", use=[[first]]), f"{EACH}, not [", id="list in it"),
        pytest.param(lambda app: app.use(use=["x"]), f"use(): {EACH}, not 'x'", id="str in it"),
        pytest.param(lambda app: app.put("/x", use=ok), f"{EACH}: got the sign", id="a handler"),
        pytest.param(
            lambda app: app.put("/x", ok, use=[first, async_middleware_factory]),
            f"{EACH}: got the signature async_middleware_factory()",
            id="a factory that was not called",
        ),
    ],
)
def test_what_is_no_middleware_is_refused_at_the_call(register: Any, words: str) -> None:
    app = Kit().get("/before", ok)
    with pytest.raises(TypeError) as caught:
        register(app)
    assert words in str(caught.value)
    assert names(app) == [("GET", "/before", "ok")]


async def test_app_that_is_taken_for_a_decorator(client: Any) -> None:
    app = Kit().get("/x", ok)
    with pytest.raises(TypeError, match="missing 2 required positional arguments"):

        @app.post("/x", first)  # type: ignore[arg-type]
        async def save(c: Context) -> Response:
            return c.text("saved")

    for _ in range(3):
        assert (await client().ask(app, "/x")).body == b"ok"
