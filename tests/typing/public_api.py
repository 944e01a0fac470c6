# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NewType, TypedDict, assert_type
from uuid import UUID

from msgspec import Meta

from kit import (
    Context,
    File,
    FormData,
    HTTPException,
    Kit,
    KitRequest,
    Request,
    Response,
    in_thread,
)
from kit.asgi import from_asgi
from kit.combine import some
from kit.interface import AsyncMiddleware, Handler, Middleware, Next, Router
from kit.interface import Context as InterfaceContext
from kit.interface import Response as AnyResponse
from kit.router import LinearRouter, PatternRouter, RegExpRouter, SmartRouter, TrieRouter
from kit.typed import Depends, Header
from kit.typed import typed as typed_endpoint
from kit.validator import RequestValidationError, validator


class Bindings(TypedDict):
    db: str


class Variables(TypedDict, total=False):
    user: int


# Middleware as third parties write it: on the interface alone.


def third_party(*, header: str) -> AsyncMiddleware:
    async def third_party(c: InterfaceContext, next: Next) -> None:
        c.header("x-request", c.req.header(header) or c.req.path)
        await next()
        if c.res.status == 404 and c.error is None:
            c.res = c.redirect("/", 302)
        c.res.headers.set("x-status", str(c.res.status))
        assert_type(dict(c.res.headers.items()), dict[str, str])
        assert_type(await c.req.json(), Any)
        assert_type(await c.req.bytes(), bytes)
        assert_type(await c.req.parse_body(all=True), dict[str, Any])
        assert_type(await c.res.text(), str)

    return third_party


async def typed_on_interface(c: InterfaceContext, next: Next) -> AnyResponse | None:
    if c.req.query("stop"):
        return c.text("stopped")
    if c.get("user") is None:
        raise HTTPException(401, res=c.json({"error": "no user"}, 401))
    await next()
    return None


def plain(c: InterfaceContext, next: Next) -> Any:
    return next()


async def answer(c: InterfaceContext) -> AnyResponse:
    return c.text("hello")


bare = Kit()
bare.use(third_party(header="x"))
bare.use("/api/*", third_party(header="x"), typed_on_interface, plain)
bare.get("/", third_party(header="x"), typed_on_interface, answer)
bare.get("/b", answer).post("/b", answer).on(["GET", "PURGE"], ["/c", "/d"], answer)

typed = Kit[Bindings, Variables]()
typed.use(third_party(header="x"))
typed.use("/api/*", third_party(header="x"), typed_on_interface, plain)
typed.get("/", third_party(header="x"), typed_on_interface, answer)
typed.get(answer).all("/all", answer).not_found(answer)

# Handlers typed on the core.


@typed.get("/users/:id")
async def user(c: Context[Bindings, Variables]) -> Response:
    assert_type(c.env["db"], str)
    assert_type(c.var.get("user"), int | None)
    assert_type(c.req, KitRequest)
    assert_type(c.req.param("id"), str | None)
    assert_type(c.req.param(), dict[str, str])
    assert_type(c.req.queries("q"), list[str] | None)
    assert_type(await c.req.json(), Any)
    assert_type(await c.req.json(Bindings), Bindings)
    assert_type(await c.req.json(type=Bindings), Bindings)
    assert_type(await c.req.json(list[Bindings] | None), list[Bindings] | None)
    assert_type(await c.req.form_data(), FormData)
    assert_type(c.res, Response)
    return c.json({"id": c.req.param("id")})


class Colour(Enum):
    RED = "red"


UserId = NewType("UserId", int)


@bare.get("/users/:id/:part?")
async def converted(c: Context) -> Response:
    assert_type(c.req.param("id", int), int)
    assert_type(c.req.param("id", UserId), UserId)
    assert_type(c.req.param("part", UUID, default=None), UUID | None)
    assert_type(c.req.param("part", default=""), str)
    assert_type(c.req.query("page", int), int | None)
    assert_type(c.req.query("page", int, default=1), int)
    assert_type(c.req.query("page", Annotated[int, Meta(ge=1)], default=1), int)
    assert_type(c.req.query("ratio", float, default=1), float)
    assert_type(c.req.query("since", date), date | None)
    assert_type(c.req.query("colour", Colour, default=Colour.RED), Colour)
    assert_type(c.req.query("sort", Literal["title", "year"]), Literal["title", "year"] | None)
    sort: Literal["title", "year"] = c.req.query("sort", Literal["title", "year"], default="year")
    assert_type(c.req.query("id", int | UUID), int | UUID | None)
    assert_type(c.req.query("q", default=""), str)
    assert_type(c.req.queries("tag", int), list[int])
    assert_type(c.req.header("x-version", int), int | None)
    assert_type(c.req.header("x-version", int, default=1), int)
    assert_type(c.req.header("x-user", default=""), str)
    assert_type(c.req.valid("json"), Any)
    assert_type(c.req.valid("json", Bindings), Bindings)
    assert_type(c.req.valid("json", list[Bindings]), list[Bindings])
    assert_type(c.req.valid("json", Bindings | None), Bindings | None)
    return c.json({"sort": sort}, by_alias=True)


@bare.get("/ping")
def ping(c: Context) -> Response:
    return c.text("pong")


@bare.use("/timed/*")
async def timed(c: Context, next: Next) -> None:
    await next()


@bare.on_error()
async def on_error(error: Exception, c: Context) -> Response:
    return c.text(str(error), 500)


@bare.not_found()
async def not_found(c: Context) -> Response:
    return c.text("nothing", 404)


class SoldOutError(Exception):
    left = 0


@bare.on_error(SoldOutError)
async def on_sold_out(error: SoldOutError, c: Context) -> Response:
    return c.json({"left": error.left}, 409)


def on_any_error(error: Exception, c: InterfaceContext) -> AnyResponse:
    return c.text("error", 500)


typed.on_error(SoldOutError, on_sold_out).on_error(KeyError, on_any_error)
typed.on_error(HTTPException, lambda error, c: c.text(error.message or "", error.status))
typed.on_error(KeyError)(on_any_error)


async def call_error_handler(c: Context) -> None:
    assert_type(await on_sold_out(SoldOutError(), c), Response)


@bare.post("/used", use=[third_party(header="x"), typed_on_interface, timed])
async def used(c: Context) -> Response:
    return c.text("used")


@typed.on(["GET", "PUT"], "/used", use=plain)
async def used_once(c: Context[Bindings, Variables]) -> Response:
    return c.text(c.env["db"])


@typed.use("/used/*", use=(third_party(header="x"),))
async def used_around(c: Context[Bindings, Variables], next: Next) -> None:
    await next()


# Typed guards: whatever their functions return.


def require(role: str) -> Callable[..., None]:
    def check(user: Annotated[Variables, Depends(find_user)]) -> None: ...

    return check


async def find_user(token: Annotated[str, Header()]) -> Variables:
    return {"user": 1}


@bare.get("/guarded", use=Depends(find_user))
@typed_endpoint
async def guarded(user: Annotated[Variables, Depends(find_user)]) -> Variables:
    return user


@typed.get("/guarded", use=[Depends(require("admin")), third_party(header="x")])
async def guarded_plain(c: Context[Bindings, Variables]) -> Response:
    return c.json(c.get("user"))


typed.use(Depends(find_user)).use("/admin/*", Depends(require("admin")), plain)
bare.use(some(Depends(find_user), third_party(header="x")))
bare.all("/used", answer, use=timed).delete(use=[])(answer)
bare.post("/validated", use=validator("json", Bindings))(answer)

bare.get("/lambda", lambda c: c.text("lambda"))
bare.get("/chained", timed, lambda c: c.text("lambda"))


@asynccontextmanager
async def lifespan(app: Kit[Bindings, Variables]) -> AsyncGenerator[Bindings]:
    yield {"db": "open"}


# Composition.


async def other_asgi(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})


def read_file(c: Context) -> Response:
    return c.body(b"x")


assert_type(typed.base_path("/v1"), Kit[Bindings, Variables])
assert_type(bare.route("/sub", typed), Kit[Any, Any])
bare.mount("/other", from_asgi(other_asgi)).mount("/raw", lambda request: Response("x"))
bare.get("/file", in_thread(read_file))

# Validation: types, and functions of the value and the context.


async def checked(value: Any, c: Context) -> Any:
    return value or c.text("empty", 400)


bare.post("/a", validator("json", Bindings), answer)
bare.post("/b", validator("json", list[int]), answer)
bare.post("/c", validator("json", Bindings | None), answer)
bare.post("/f", validator("json", Literal["a", "b"]), answer)
bare.get("/d", validator("query", lambda value, c: value), answer)
bare.get("/e", validator("header", checked), answer)


def errors_of(error: RequestValidationError) -> list[str]:
    return [each["path"] for each in error.errors]


with_lifespan = Kit[Bindings, Variables](lifespan=lifespan, router=TrieRouter())
routers: list[Router[Any]] = [
    LinearRouter(),
    PatternRouter(),
    RegExpRouter(),
    SmartRouter(routers=[RegExpRouter(), TrieRouter()]),
    TrieRouter(),
]
chosen = [Kit(router=each) for each in routers]
handler: Handler = answer
as_middleware: Middleware = typed_on_interface

# Middleware that wraps another one, typed on the interface and on the core.

key_required = third_party(header="x-key")


async def wrapping(c: InterfaceContext, next: Next) -> AnyResponse | None:
    return await key_required(c, next)


async def wrapping_on_core(c: Context[Bindings, Variables], next: Next) -> AnyResponse | None:
    if c.var.get("user") is None:
        return c.text("no user", 401)
    return await key_required(c, next)


bare.use(wrapping).get("/f", key_required, wrapping, answer)
typed.use(wrapping, wrapping_on_core)


async def in_process() -> None:
    response = await bare.request("/", {"method": "POST", "headers": {"x": "1"}, "body": "x"})
    assert_type(response, Response)
    assert_type(response.status, int)
    assert_type(await response.text(), str)
    assert_type(await bare.fetch(Request("http://localhost/")), Response)
    await bare.request("/", method="POST", json={"a": [1]}, headers={"x": "1"})
    await bare.request("/", {"method": "PUT"}, body=b"x")
    made = Response.json({"a": 1}, status=201)
    assert_type(made, Response)
    assert_type(await made.json(), Any)
    async with typed.running():
        pass
    file = FormData().get("x")
    if isinstance(file, File):
        assert_type(await file.bytes(), bytes)
