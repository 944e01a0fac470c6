# SPDX-License-Identifier: MIT
"""Handlers that are made for the place they are registered at."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal
from unittest.mock import Mock

import pytest

from kit import Context, Kit, Response
from kit.authoring.codecs import default_codecs
from kit.authoring.route_hooks import bind, check, is_bindable
from kit.authoring.signatures import describe
from kit.interface import Codecs, RouterRoute
from kit.interface.metadata import attach, get_facts


class Placed:
    """Answers with the place it is registered at."""

    def __init__(self) -> None:
        self.places: list[tuple[str, str]] = []
        self.before: list[list[str]] = []
        self.checked: list[RouterRoute | None] = []

    def __call__(self, c: Context) -> Response:
        return c.text("not bound")

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs) -> Callable[..., Any]:
        if "forbidden" in pattern:
            raise TypeError(f"can't be at {pattern}")
        self.places.append((method, pattern))

        def bound(c: Context) -> Response:
            return c.text(f"{method} {pattern}")

        def check(before: Sequence[RouterRoute], route: RouterRoute | None) -> None:
            self.before.append([each.path for each in before])
            self.checked.append(route)
            if "unsafe" in pattern:
                raise LookupError(f"nothing guards {pattern}")

        bound.__dict__.update(__kit_check__=check, __kit_origin__=test_origin)
        return attach(bound, validates={"param": Literal[method, pattern]})


def test_origin() -> None:
    handler = bind(Placed(), "GET", "/", default_codecs())
    assert describe(handler) == describe(test_origin)


def test_what_is_bindable() -> None:
    placed = Placed()
    assert is_bindable(placed)
    assert is_bindable(functools.partial(placed))
    assert is_bindable(functools.wraps(placed)(lambda c: placed(c)))
    for other in (test_origin, Mock(), None, 42, functools.partial(test_origin), Placed):
        assert not is_bindable(other)
        assert bind(other, "GET", "/", default_codecs()) is other
        check(other, [])


async def text(app: Kit, path: str, method: str = "GET") -> str:
    return await (await app.request(path, method=method)).text()


async def test_bound_at_registration() -> None:
    placed = Placed()
    app = Kit().get("/a/:id", placed).on(["POST", "PUT"], ["/b", "/c"], placed)
    app.base_path("/v1").all("/d", placed)
    expected = [("GET", "/a/:id")]
    expected += [(m, p) for p in ("/b", "/c") for m in ("POST", "PUT")]
    expected += [("ALL", "/v1/d")]
    assert placed.places == expected
    assert await text(app, "/a/1") == "GET /a/:id"
    assert await text(app, "/b", "PUT") == "PUT /b"
    assert await text(app, "/v1/d") == "ALL /v1/d"


async def test_bound_again_in_a_sub_app() -> None:
    placed = Placed()
    inner = Kit().get("/:id", placed)
    middle = Kit().route("/of/:author", inner)
    app = Kit().route("/books", middle)
    assert placed.places == [
        ("GET", "/:id"),
        ("GET", "/of/:author/:id"),
        ("GET", "/books/of/:author/:id"),
    ]
    assert await text(app, "/books/of/ada/1") == "GET /books/of/:author/:id"
    assert get_facts(app.routes[0].handler).validates == {"param": Literal[placed.places[-1]]}


async def test_optional_parameters_are_bound_whole() -> None:
    placed = Placed()
    app = Kit().route("/v1", Kit().get("/:lang?/about", placed))
    assert {pattern for _, pattern in placed.places} == {"/:lang?/about", "/v1/:lang?/about"}
    assert (
        await text(app, "/v1/about") == await text(app, "/v1/en/about") == ("GET /v1/:lang?/about")
    )


def test_mistakes_leave_no_trace() -> None:
    placed = Placed()
    app = Kit()
    with pytest.raises(TypeError, match=r"^can't be at /forbidden$"):
        app.on("GET", ["/fine", "/forbidden"], placed)
    with pytest.raises(TypeError, match=r"^can't be at /forbidden/x$"):
        app.route("/forbidden", Kit().get("/x", placed))
    assert app.routes == []


async def test_wrappers_run_around_it_and_have_its_facts() -> None:
    placed = Placed()

    @functools.wraps(placed)
    def wrapper(*arguments: Any) -> Any:
        return placed(*arguments)

    app = Kit().get("/x", wrapper)
    assert await text(app, "/x") == "not bound"
    assert get_facts(app.routes[0].handler).validates == {"param": Literal["GET", "/x"]}
    assert get_facts(wrapper).validates == {}
    assert describe(app.routes[0].handler) == describe(wrapper)
    assert placed.before == [[]]


async def test_checks_run_at_startup() -> None:
    placed = Placed()
    inner = Kit().get("/x", placed)
    app = Kit().use(lambda c, _next: _next()).route("/inner", inner)
    async with app.running():
        assert placed.before == [["/*"]]  # none of the inner app alone
        assert placed.checked == [app.routes[1]]
    check(app.routes[1].handler, [])
    assert placed.checked[1] is None


class Note:
    """Middleware that only has facts."""

    __kit_takes_next__ = True
    __kit_runs__ = False

    def __call__(self, c: Context, next: Any) -> Any:
        raise AssertionError("it isn't run")

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs) -> Callable[..., Any]:
        def note(c: Context, next: Any) -> Any:
            raise AssertionError("it isn't run")

        return attach(note, noted=pattern)


@pytest.mark.parametrize("strict", [True, False])
async def test_middleware_without_a_run_is_listed_but_not_matched(strict: bool) -> None:
    seen: list[int] = []

    def count(c: Context) -> Response:
        seen.append(len(c.matched_routes))
        return c.text("counted")

    inner = Kit(strict=strict).use(Note()).get("/x", Note(), count)
    app = Kit(strict=strict).route("/inner", inner)
    assert await text(app, "/inner/x") == "counted"
    assert seen == [1]
    facts = [get_facts(route.handler).others.get("noted") for route in app.routes]
    assert facts == ["/inner/*", "/inner/x", None]


async def test_failing_checks_prevent_the_start_and_every_request() -> None:
    app = Kit().get("/unsafe", Placed()).get("/other", lambda c: c.text(""))
    with pytest.raises(LookupError, match=r"^nothing guards /unsafe$"):
        async with app.running():
            pass
    for _ in range(2):
        with pytest.raises(LookupError, match=r"^nothing guards /unsafe$"):
            await app.request("/other")
