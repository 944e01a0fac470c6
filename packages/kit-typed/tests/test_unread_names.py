# SPDX-License-Identifier: MIT
"""Path parameters that nothing reads are errors at startup."""

from __future__ import annotations

import functools
import re
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
import pytest

from kit import Context, Kit, Next
from kit.typed import Depends, Path, Query, Var, typed
from kit.websocket import WebSocket, upgrade_websocket


class Place(msgspec.Struct):
    id: int


def reads_nothing(q: int = 0) -> int:
    return q


def reads_id(id: str = "") -> str:
    return id


def reads_id_of_the_query(id: Annotated[str, Query()] = "") -> str:
    return id


def reads_by_another_name(number: Annotated[int, Path("id")]) -> int:
    return number


def reads_a_model(place: Annotated[Place, Path()]) -> int:
    return place.id


def reads_all(names: Annotated[dict[str, str], Path()]) -> dict[str, str]:
    return names


def takes_context(c: Context) -> str:
    return c.req.param("id") or ""


async def get_id(id: int) -> AsyncIterator[int]:
    yield id


def nested(id: Annotated[int, Depends(get_id)]) -> int:
    return id


def depends_on_id(number: Annotated[int, Depends(nested)]) -> int:
    return number


def depends_on_context(id: Annotated[str, Depends(takes_context)]) -> str:
    return id


def reads_variable(id: Annotated[str, Var()] = "") -> str:
    return id


async def middleware(c: Context, next: Next) -> None:
    c.set("id", c.req.param("id"))
    await next()


async def start(app: Kit[Any, Any]) -> None:
    async with app.running():
        pass


def refused(function: Callable[..., Any], pattern: str, name: str, method: str = "GET") -> str:
    line = function.__code__.co_firstlineno
    added = f"{name}: str" if name.isidentifier() else f"with Path({name!r})"
    return (
        f"@typed {function.__qualname__} ({__file__}:{line}): the pattern {pattern!r} ({method}) "
        f"has ':{name}', which no parameter reads: add a parameter {added}, or remove it from the "
        "pattern, or write * there"
    )


@pytest.mark.parametrize(
    ("function", "pattern", "name"),
    [
        (reads_nothing, "/x/:id", "id"),
        (reads_nothing, "/x/:id/y", "id"),
        (reads_nothing, "/x/:id?", "id"),
        (reads_nothing, "/:id{[0-9]+}", "id"),
        (reads_nothing, "/:book-id", "book-id"),
        (reads_id, "/:id/:other", "other"),
        (reads_id_of_the_query, "/:id", "id"),
        (reads_a_model, "/:other/:id", "other"),
        (reads_variable, "/:id", "id"),
        (depends_on_id, "/:id/:other", "other"),
    ],
)
async def test_refused(function: Callable[..., Any], pattern: str, name: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(refused(function, pattern, name))}$"):
        await start(Kit().get(pattern, typed(function)))


@pytest.mark.parametrize(
    ("function", "pattern"),
    [
        (reads_nothing, "/x/*"),
        (reads_nothing, "/*/x"),
        (reads_id, "/:id"),
        (reads_id, "/x/:id?"),
        (reads_by_another_name, "/:id"),
        (reads_a_model, "/:id"),
        (reads_all, "/:id/:other"),
        (takes_context, "/:id"),
        (depends_on_id, "/:id"),
        (depends_on_context, "/:id/:other"),
    ],
)
async def test_accepted(function: Callable[..., Any], pattern: str) -> None:
    await start(Kit().get(pattern, typed(function)))


async def test_middleware_that_can_read_it() -> None:
    handler = typed(reads_nothing)
    await start(Kit().get("/:id", handler, use=middleware))
    await start(Kit().get("/:id", middleware, handler))
    await start(Kit().get("/x/:id?/y", handler, use=[middleware]))
    await start(Kit().use("/x/:name/*", middleware).get("/x/:id", handler))
    await start(Kit().use("/:rest{.+}", middleware).get("/x/:id", handler))
    inner = Kit().get("/:id", handler)
    await start(Kit().use("/inner/:id", middleware).route("/inner", inner))


@pytest.mark.parametrize("pattern", ["/*", "/x/*", "/y/:id", "/:x/*"])
async def test_middleware_that_can_not_read_it(pattern: str) -> None:
    app = Kit().use(pattern, middleware).get("/x/:id", typed(reads_nothing))
    with pytest.raises(TypeError, match="has ':id', which no parameter reads"):
        await start(app)


async def test_middleware_of_another_method_or_after_it() -> None:
    handler = typed(reads_nothing)
    for app in (
        Kit().post("/:id", middleware).get("/:id", handler),
        Kit().get("/:id", handler).use("/:id", middleware),
    ):
        with pytest.raises(TypeError, match="has ':id', which no parameter reads"):
            await start(app)
    await start(Kit().post("/:id", middleware).all("/:id", handler))


async def test_prefixes_do_not_count() -> None:
    await start(Kit().base_path("/:org").get("/x", typed(reads_nothing)))
    await start(Kit().base_path("/:org?").get("/x", typed(reads_nothing)))
    await start(Kit().route("/:org", Kit().get("/:id", typed(reads_id))))
    await start(Kit().route("/:a", Kit().base_path("/:b").get("/", typed(reads_nothing))))
    app = Kit().route("/:org", Kit().get("/:id", typed(reads_nothing)))
    with pytest.raises(TypeError) as caught:
        await start(app)
    assert str(caught.value) == refused(reads_nothing, "/:org/:id", "id")


async def test_several_paths_and_methods() -> None:
    await start(Kit().on(["GET", "POST"], ["/", "/:id"], typed(reads_id)))
    app = Kit().on(["GET", "POST"], ["/:id", "/:other"], typed(reads_id))
    with pytest.raises(TypeError) as caught:
        await start(app)
    assert str(caught.value) == refused(reads_id, "/:other", "other")
    with pytest.raises(TypeError) as caught:
        await start(Kit().all("/:other", typed(reads_id)))
    assert str(caught.value) == refused(reads_id, "/:other", "other", "ALL")


async def test_decorators_above_get_the_context() -> None:
    handler = typed(reads_nothing)

    @functools.wraps(handler)
    def decorated(c: Context) -> Any:
        return c.text(c.req.param("id") or "")

    await start(Kit().get("/:id", decorated))


async def test_web_socket() -> None:
    async def connected(ws: WebSocket, id: str = "") -> None: ...

    await start(Kit().get("/:id", upgrade_websocket(typed(connected))))
    with pytest.raises(TypeError, match="has ':room', which no parameter reads"):
        await start(Kit().get("/:room", upgrade_websocket(typed(connected))))


async def test_the_first_request_fails_too() -> None:
    app = Kit().get("/x/:id", typed(reads_nothing))
    with pytest.raises(TypeError, match="has ':id', which no parameter reads"):
        await app.request("/x/1")
