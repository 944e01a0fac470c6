# SPDX-License-Identifier: MIT
"""What users of Flask, FastAPI, Starlette and Litestar write on their first day: whole texts."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import operator
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Limits, Next, Response
from kit.interface import HandlerError, Middleware, MissingBindingError, UnsupportedPathError
from kit.interface.signatures import describe


def text_of(kind: type[Exception], do: Callable[[], Any]) -> str:
    with pytest.raises(kind) as caught:
        do()
    assert type(caught.value) is kind
    return str(caught.value)


async def error_of(app: Kit, path: str = "/") -> str:
    """The text of the exception that a request raises."""
    raised: list[Exception] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        raised.append(error)
        return c.text("failed", 500)

    await app.request(path)
    return str(raised[0])


# --- what a handler returns --------------------------------------------------------------------


@dataclasses.dataclass
class Book:
    title: str


class View:
    async def get(self, c: Context) -> None: ...


async def async_handler(c: Any) -> None: ...


class JSONResponse:
    """That of another framework."""


def chunks() -> Any:
    yield b"a"


MARKUP = "use c.text(...) or c.html(...)"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (({"a": 1}, 201), "returned tuple, expected a Response: use c.json(..., 201)"),
        (("made", 201), "returned tuple, expected a Response: use c.text(..., 201)"),
        (
            ({}, 201, {"x-a": "b"}),
            "returned tuple, expected a Response: use c.json(..., 201, {...})",
        ),
        (
            ("made", {"x-a": "b"}),
            "returned tuple, expected a Response: use c.text(..., 200, {...})",
        ),
        ((), "returned tuple, expected a Response: use c.text(...) or c.body(...)"),
        ({"a": 1}, "returned dict, expected a Response: use c.json(...)"),
        (Book("Dune"), "returned Book, expected a Response: use c.json(...)"),
        ("<p>", f"returned str, expected a Response: {MARKUP}"),
        (
            404,
            "returned int, expected a Response: use c.body(None, 404), or raise HTTPException(404)",
        ),
        (HTTPException(404), "returned HTTPException, expected a Response: raise it"),
        (
            Response,
            "returned the class Response, expected a Response: return an instance, "
            "e.g. c.text(...)",
        ),
        (
            text_of,
            "returned function, expected a Response: call it; a function that makes middleware, "
            "such as cors, is called at registration",
        ),
        (
            JSONResponse(),
            f"returned JSONResponse, expected a Response: it is one of {__name__}, not of Kit; "
            "use c.json(...), c.html(...), c.text(...) or c.body(...)",
        ),
        (
            chunks(),
            "returned generator, expected a Response: use c.body(...) to send it as a stream, "
            "or stream_sse() of kit.streaming for events",
        ),
    ],
)
async def test_result_that_is_no_response(result: Any, text: str) -> None:
    def handler(c: Context) -> Any:
        return result

    assert await error_of(Kit().get("/", handler)) == f"{describe(handler)} {text}"


async def test_no_result() -> None:
    def handler(c: Context) -> Any:
        c.text("forgotten")

    def twice(c: Context) -> Any:
        return c.text

    text = f"{describe(handler)} returned nothing for GET '/': return a Response"
    assert await error_of(Kit().get("/", handler)) == text
    assert "returned method, expected a Response: call it;" in await error_of(Kit().get("/", twice))


# --- HTTPException -----------------------------------------------------------------------------

NOT_FOUND: Any = HTTPException


class Gone(HTTPException):
    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (
            lambda: NOT_FOUND(status_code=404),
            TypeError,
            "HTTPException has no keyword 'status_code', but status, message, res, headers and "
            "body: write HTTPException(404)",
        ),
        (
            lambda: NOT_FOUND(status_code=404, detail="No such book"),
            TypeError,
            "HTTPException has no keyword 'status_code', but status, message, res, headers and "
            "body: write HTTPException(404, 'No such book')",
        ),
        (
            lambda: NOT_FOUND(404, detail="No such book"),
            TypeError,
            "HTTPException has no keyword 'detail', but status, message, res, headers and "
            "body: write HTTPException(404, 'No such book')",
        ),
        (
            lambda: NOT_FOUND(description="No such book"),
            TypeError,
            "HTTPException has no keyword 'description', but status, message, res, headers and "
            "body: write HTTPException(404, 'No such book')",
        ),
        (
            lambda: NOT_FOUND(404, detail={"error": "no such book"}),
            TypeError,
            "HTTPException has no keyword 'detail', but status, message, res, headers and "
            "body: write HTTPException(404, res=Response.json(...))",
        ),
        (
            lambda: NOT_FOUND(404, code=7),
            TypeError,
            "HTTPException has no keyword 'code', but status, message, res, headers and body",
        ),
        (
            lambda: Gone(status_code=410),
            TypeError,
            "HTTPException has no keyword 'status_code', but status, message, res, headers and "
            "body: write HTTPException(410)",
        ),
        (
            lambda: NOT_FOUND("No such book", 404),
            ValueError,
            "HTTPException status must be an int from 200 to 599, not 'No such book': "
            "write HTTPException(404, 'No such book')",
        ),
        (
            lambda: NOT_FOUND(404, {"error": "no such book"}),
            TypeError,
            "HTTPException message must be a str, not dict: "
            "for JSON write HTTPException(404, res=Response.json(...))",
        ),
    ],
)
def test_http_exception(make: Any, kind: type[Exception], text: str) -> None:
    assert text_of(kind, make) == text


def test_http_exception_shows_its_own_parameters() -> None:
    names = [*inspect.signature(HTTPException).parameters]
    assert names == ["status", "message", "res", "headers", "body"]


def test_http_exception_with_a_member_of_http_status() -> None:
    assert HTTPException(HTTPStatus.NOT_FOUND, "x").status == 404


def test_subclass_of_http_exception_may_have_such_keywords() -> None:
    class NotFoundError(HTTPException):
        def __init__(self, *, detail: str) -> None:
            super().__init__(404, detail)

    assert NotFoundError(detail="x").message == "x"


# --- registration ------------------------------------------------------------------------------


def handler(c: Context) -> Response:
    return c.text("x")


def index() -> str:
    return "Flask"


def cors(*, origin: str = "*") -> Any:
    raise AssertionError("not called")


def access_log(format: str = "json") -> Middleware:
    raise AssertionError("not called")


FACTORY = (
    "its signature is access_log(format: 'str' = 'json') -> 'Middleware'; "
    "it makes middleware when it is called: write access_log()"
)


class CORSMiddleware:
    def __init__(self, app: Any, allow_origins: Any = ()) -> None: ...


class Depends:
    """That of FastAPI."""

    __module__ = "fastapi.params"


DEPENDS = Depends()


def with_dependency(c: Context, db: Any = DEPENDS) -> Response:
    raise AssertionError("not called")


def with_keyword_dependency(c: Context, *, db: Any = DEPENDS) -> Response:
    raise AssertionError("not called")


ROUTE = "route() takes a path and a Kit app, whose routes it adds; for a handler write "
IN_OPENAPI = "write @describe(...) of kit.openapi above the handler"


@pytest.mark.parametrize(
    ("register", "text"),
    [
        (lambda app: app.route("/x"), ROUTE + "@app.get('/x')"),
        (
            lambda app: app.route("/x", methods=["GET", "POST"]),
            ROUTE + "@app.on(['GET', 'POST'], '/x')",
        ),
        (lambda app: app.route(), ROUTE + "@app.get('/path')"),
        (
            lambda app: app.get("/x", methods=["GET", "POST"]),
            "get('/x') takes no keyword 'methods', but use: "
            "write @app.on(['GET', 'POST'], path) for several methods, @app.post(path) for one",
        ),
        (
            lambda app: app.post("/x", status_code=201),
            "post('/x') takes no keyword 'status_code', but use: "
            "give it to the response, c.json(..., 201), or write @typed(status=201)",
        ),
        (
            lambda app: app.get("/x", response_model=dict),
            "get('/x') takes no keyword 'response_model', but use: "
            "annotate what a @typed function of kit.typed returns",
        ),
        (
            lambda app: app.get("/x", tags=["books"]),
            f"get('/x') takes no keyword 'tags', but use: {IN_OPENAPI}",
        ),
        (
            lambda app: app.get("/x", dependencies=[]),
            "get('/x') takes no keyword 'dependencies', but use: give middleware as use=[...]",
        ),
        (
            lambda app: app.get(path="/x"),
            "get() takes no keyword 'path', but use: give the path first, without a keyword",
        ),
        (
            lambda app: app.on("GET", "/x", handler, nothing=1),
            "on('GET', '/x') takes no keyword 'nothing', but use: leave it out",
        ),
        (
            lambda app: app.use(CORSMiddleware, allow_origins=["*"]),
            "use() takes no keyword 'allow_origins', but use: "
            "give options to the function that makes the middleware, as in "
            "cors(allow_origins=...)",
        ),
        (
            lambda app: app.use(CORSMiddleware),
            "The handler of ALL '/*' is the class CORSMiddleware: expected a function "
            "(c) or (c, next), or an instance that can be called with these",
        ),
        (
            lambda app: app.use(cors),
            "The handler of ALL '/*' can't be called with (c) or (c, next): its signature is "
            "cors(*, origin: 'str' = '*') -> 'Any'; it makes middleware when it is called: "
            "write cors()",
        ),
        (
            lambda app: app.use(access_log),
            f"The handler of ALL '/*' is neither a handler (c) nor middleware (c, next): {FACTORY}",
        ),
        (
            lambda app: app.get("/", access_log, handler),
            f"The handler of GET '/' is neither a handler (c) nor middleware (c, next): {FACTORY}",
        ),
        (
            lambda app: app.get("/", use=[access_log]),
            "get('/'): use takes middleware (c, next): got the signature "
            + FACTORY.removeprefix("its signature is "),
        ),
        (
            lambda app: app.get("/", index),
            "The handler of GET '/' can't be called with (c) or (c, next): its signature is "
            "index() -> 'str'; a handler takes the context: write index(c)",
        ),
        (
            lambda app: app.get("/", View),
            "The handler of GET '/' can't be called with (c) or (c, next): its signature is "
            "View(); it is a class: give a function, or a method of an object, View().get",
        ),
        (
            lambda app: app.get("/", View()),
            "The handler of GET '/' is not callable: expected a function (c) or (c, next), "
            "not an object of the class View",
        ),
        (
            lambda app: app.get("/", async_handler(1)),
            "The handler of GET '/' is not callable: expected a function (c) or (c, next), "
            "not the result of async_handler(...): write async_handler",
        ),
        (
            lambda app: app.use("/api/*", Kit()),
            "The handler of ALL '/api/*' is a Kit app: "
            "write app.route(path, other) to add the routes of another app",
        ),
        (
            lambda app: app.get("/x", with_dependency),
            "The handler of GET '/x' has a default made by Depends(), which only @typed of "
            "kit.typed reads: put @typed above with_dependency, and annotate the parameter with "
            "Annotated[..., Depends(...)] of kit.typed",
        ),
        (
            lambda app: app.get("/x", with_keyword_dependency),
            "The handler of GET '/x' has a default made by Depends(), which only @typed of "
            "kit.typed reads: put @typed above with_keyword_dependency, and annotate the "
            "parameter with Annotated[..., Depends(...)] of kit.typed",
        ),
        (
            lambda app: app.mount("/static", "static"),
            "mount('/static', ...) takes a function (request, ...), not 'static': "
            "for a folder of files use serve_static of kit.serve_static",
        ),
        (
            lambda app: app.on_error(404, handler),
            "on_error() takes a class of exceptions, not the status 404: register a handler for "
            "HTTPException, which has the status as error.status, or @app.not_found() for "
            "unmatched requests",
        ),
        (
            lambda app: app.route("/api", Kit),
            "route('/api', ...) takes a Kit app, not <class 'kit.app.Kit'>: write Kit()",
        ),
        (
            lambda app: app.get(["/a", "/b"], handler),
            "get() takes a path and handlers, or only handlers: expected a str or a function "
            "first, not ['/a', '/b']; several paths are given to on('GET', [...])",
        ),
        (
            lambda app: Kit("app"),
            "Kit() takes keywords only, not 'app': write Kit()",
        ),
        (
            lambda app: Kit(title="Books"),
            "Kit() takes no keyword 'title', but strict, router, get_path, lifespan, limits, "
            "method_not_allowed: use kit.openapi, which describes the routes of an app",
        ),
        (
            lambda app: Kit(nothing=1),
            "Kit() takes no keyword 'nothing', but strict, router, get_path, lifespan, limits, "
            "method_not_allowed",
        ),
    ],
)
def test_refused_at_registration(register: Any, text: str) -> None:
    app: Any = Kit()
    assert text_of(TypeError, lambda: register(app)) == text
    assert app.routes == []


def test_path_before_the_method() -> None:
    text = text_of(ValueError, lambda: Kit().on("/x", "GET", handler))
    assert text == "on('/x', 'GET'): the method comes first: write on('GET', '/x')"


def test_completion_does_not_offer_them() -> None:
    c: Any = Context
    assert not hasattr(Response(), "status_code")
    assert "status_code" not in dir(Response())
    assert {"status", "headers"} <= {*dir(Response())}
    assert c.request is vars(Context)["request"]


@pytest.mark.parametrize(
    ("path", "kit"), [("/users/{id}", "/users/:id"), ("/users/<int:id>", "/users/:id{[0-9]+}")]
)
def test_paths_of_other_frameworks(path: str, kit: str) -> None:
    with pytest.raises(ValueError, match="a parameter begins with a colon") as caught:
        Kit().get(path, handler)
    assert f"as in {kit!r}" in str(caught.value)


def test_converter_after_a_colon() -> None:
    app = Kit()
    assert text_of(UnsupportedPathError, lambda: app.get("/items/:id:int", handler)) == (
        "Unsupported route GET '/items/:id:int': "
        "the name of a parameter has no colon in it: write '/items/:id{[0-9]+}'"
    )
    assert app.routes == []


LIFESPAN = "start and end things in a lifespan, Kit(lifespan=...)"
MIDDLEWARE = "write middleware (c, next) and register it with app.use(), before the routes"
ON = "write app.get(path), app.post(path), or app.on(['GET', 'POST'], path)"
OTHER_APP = "make the other app with Kit(), and write app.route('/prefix', other)"
SERVE = "run it with `kit serve app.py`, with `kit dev app.py` while developing"


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("run", SERVE),
        ("add_middleware", MIDDLEWARE),
        ("middleware", MIDDLEWARE),
        ("before_request", MIDDLEWARE),
        ("include_router", OTHER_APP),
        ("register_blueprint", OTHER_APP),
        ("on_event", LIFESPAN),
        ("add_api_route", ON),
        ("add_url_rule", ON),
        (
            "exception_handler",
            "write @app.on_error(SomeError), and @app.not_found() for unmatched requests",
        ),
        ("websocket", "write @app.get(path) above @upgrade_websocket of kit.websocket"),
        (
            "state",
            "yield values from a lifespan, Kit(lifespan=...), and read them from c.env",
        ),
        ("test_client", "write test_client(app) or sync_test_client(app) of kit.testing"),
    ],
)
def test_attributes_of_other_apps(name: str, advice: str) -> None:
    for app in (Kit(), Kit().base_path("/api")):
        text = text_of(AttributeError, lambda app=app: getattr(app, name))  # type: ignore[misc]
        assert text == f"A Kit app has no attribute {name!r}: {advice}"
        assert not hasattr(app, name)


def test_attribute_that_no_framework_has() -> None:
    class Shop(Kit):
        pass

    assert text_of(AttributeError, lambda: Shop().gett) == "'Shop' object has no attribute 'gett'"


# --- in a handler ------------------------------------------------------------------------------


async def refused(do: Callable[[Context], Any]) -> str:
    async def handler(c: Context) -> Any:
        result = do(c)
        return await result if hasattr(result, "__await__") else result

    return await error_of(Kit().post("/", handler).get("/", handler))


@pytest.mark.parametrize(
    ("do", "text"),
    [
        (
            lambda c: c.json({}, {"a": "b"}),
            "Invalid response status {'a': 'b'}: expected an int from 200 to 599; "
            "headers come after the status, or as headers=...",
        ),
        (
            lambda c: c.text("<p>", "text/html"),
            "Invalid response status 'text/html': expected an int from 200 to 599; "
            "a content type is a header, headers={'content-type': 'text/html'}",
        ),
        (
            lambda c: c.text("made", "201"),
            "Invalid response status '201': expected an int from 200 to 599; write 201",
        ),
        (
            lambda c: c.redirect(302, "/x"),
            "c.redirect() takes the location, then the status: write c.redirect('/x', 302)",
        ),
        (
            lambda c: c.abort(404),
            "The context has no attribute 'abort': use `raise HTTPException(404)`",
        ),
        (
            lambda c: c.user,
            "The context has no attribute 'user': "
            "use c.get('user'), which middleware sets by c.set('user', ...)",
        ),
        (
            lambda c: setattr(c, "user", 5),
            "The context has no attribute 'user': "
            "use c.get('user'), which middleware sets by c.set('user', ...)",
        ),
        (
            lambda c: c.text("x", 200, {"x-count": 5}),
            "Invalid value 5 of header 'x-count': expected a str",
        ),
        (
            lambda c: c.text("x", 200, {"x-count": None}),
            "Invalid value None of header 'x-count': expected a str",
        ),
        (
            lambda c: c.text("x", 200, {"x-count": ["1", 2]}),
            "Invalid value 2 of header 'x-count': expected a str",
        ),
        (
            lambda c: c.req.remote_addr,
            "c.req has no attribute 'remote_addr': use get_conn_info(c) of kit.conninfo",
        ),
        (
            lambda c: c.header({"a": "b"}),
            "c.header() takes a name and a value, not {'a': 'b'}: "
            "several headers are set by c.set_headers({...})",
        ),
        (
            lambda c: setattr(c.res, "status", 404),
            "The status of a Response can't be changed: make another one, "
            "c.res = c.res.replace(status=404)",
        ),
        (
            lambda c: c.env.db,
            "c.env is a mapping and has no attribute 'db': use c.env['db']",
        ),
        (
            lambda c: c.json(c.req.json),
            "Can't encode the method KitRequest.json as JSON, at $: call it",
        ),
        (
            lambda c: c.json({"a": [c.req.json()]}),
            "Can't encode the coroutine KitRequest.json as JSON, at $['a'][0]: await it",
        ),
        (
            lambda c: c.json(refused),
            "Can't encode the function refused as JSON, at $: call it",
        ),
        (
            lambda c: c.text(c.req.text()),
            "c.text() takes a str, not coroutine: await KitRequest.text() first",
        ),
        (lambda c: c.text({"a": 1}), "c.text() takes a str, not dict: use c.json()"),
        (lambda c: c.html(b"<p>"), "c.html() takes a str, not bytes: use c.body()"),
        (
            lambda c: c.req.param(":id"),
            "c.req.param(':id'): a parameter is read without its colon: write c.req.param('id')",
        ),
        (
            lambda c: c.req.param("id", int),
            "c.req.param('id', int): the running route '/' has no parameter 'id'; "
            "it has no parameters",
        ),
        (lambda c: c.request, "The context has no attribute 'request': use c.req"),
        (
            lambda c: c.set_cookie("a", "b"),
            "The context has no attribute 'set_cookie': "
            "use set_cookie(c, 'name', 'value') of kit.cookie",
        ),
        (
            lambda c: c.state,
            "The context has no attribute 'state': use c.set('name', value) and c.get('name'), "
            "or c.env for the values of the lifespan",
        ),
        (lambda c: c.req.args, "c.req has no attribute 'args': use c.req.query('name')"),
        (lambda c: c.req.form(), "c.req has no attribute 'form': use await c.req.parse_body()"),
        (lambda c: c.req.get_json(), "c.req has no attribute 'get_json': use await c.req.json()"),
        (lambda c: c.req.nothing, "'KitRequest' object has no attribute 'nothing'"),
        (lambda c: c.nothing, "'Context' object has no attribute 'nothing'"),
        (
            lambda c: c.text("x").status_code,
            "A Response has no attribute 'status_code': use response.status",
        ),
    ],
)
async def test_mistakes_in_a_handler(do: Any, text: str) -> None:
    assert await refused(do) == text


@pytest.mark.parametrize(
    "do",
    [
        lambda c: c.render_template("x"),
        lambda c: c.response,
        lambda c: setattr(c, "user", 5),
        lambda c: c.req.path_params,
        lambda c: c.text("x").content,
        lambda c: Kit().run(),  # type: ignore[attr-defined]
    ],
)
async def test_python_adds_no_suggestion(do: Any) -> None:
    raised: list[Exception] = []

    async def handler(c: Context) -> Any:
        return do(c)

    async def on_error(error: Exception, c: Context) -> Response:
        raised.append(error)
        return c.text("failed", 500)

    await Kit().get("/", handler).on_error(on_error).request("/")
    (error,) = raised
    assert isinstance(error, AttributeError)
    assert error.obj is None  # what Python would suggest names of
    assert str(error).endswith(traceback.format_exception_only(error)[-1].strip().split(": ", 1)[1])


# --- notes on exceptions of Python -------------------------------------------------------------


async def extra(c: Context, next: Next) -> Any:
    await next(c)  # type: ignore[call-arg]


async def result(c: Context, next: Next) -> Any:
    response: Any = await next()
    response.headers["x"] = "1"


async def passing(c: Context, next: Next) -> None:
    await next()


NO_RESPONSE = "If this is the result of `await next()`, it is None: the response is then c.res"
NO_ARGUMENTS = "next takes no arguments: write `await next()`; the response is then c.res"


@pytest.mark.parametrize("has_on_error", [False, True])
@pytest.mark.parametrize(
    ("handlers", "text", "notes"),
    [
        (
            [lambda c: c.json({}, status_code=201)],
            "Context.json() got an unexpected keyword argument 'status_code'",
            ["Write c.json(..., status=...)"],
        ),
        (
            [lambda c: c.text("x", media_type="text/css")],
            "Context.text() got an unexpected keyword argument 'media_type'",
            ["Write c.text(..., headers={'content-type': ...})"],
        ),
        (
            [lambda c: c.json({}, nothing=1)],
            "Context.json() got an unexpected keyword argument 'nothing'",
            [],
        ),
        (
            [lambda c: c.req.query("a", type=int)],
            "KitRequest.query() got some positional-only arguments passed as keyword arguments: "
            "'type'",
            ["The type is given without its name: write c.req.query('name', int)"],
        ),
        (
            [lambda c: c.var.__setitem__("x", 1)],
            "'mappingproxy' object has no attribute '__setitem__'",
            ["If this is c.var, write c.get('__setitem__') or c.var['__setitem__']"],
        ),
        (
            [lambda c: operator.setitem(c.var, "x", 1)],
            "'mappingproxy' object does not support item assignment",
            ["If this is c.var, it is read-only: write c.set('name', value)"],
        ),
        (
            [lambda c: c.db],
            "'Context' object has no attribute 'db'",
            ["If it is a value for later handlers, write c.set('db', value) and c.get('db')"],
        ),
        (
            [lambda c: c.headers],
            "The context has no attribute 'headers': "
            "use c.req.header('name'), or c.header('name', 'value') for the response",
            [],
        ),
        ([result], "'NoneType' object has no attribute 'headers'", [NO_RESPONSE]),
        ([passing, result], "'NoneType' object has no attribute 'headers'", [NO_RESPONSE]),
        ([extra], "next() takes 1 positional argument but 2 were given", [NO_ARGUMENTS]),
        ([passing, extra], "next() takes 1 positional argument but 2 were given", [NO_ARGUMENTS]),
        (
            [extra, passing, passing],
            "next() takes 1 positional argument but 2 were given",
            [NO_ARGUMENTS],
        ),
        ([lambda c: int(c)], None, []),
        ([lambda c: {}["x"]], None, []),
    ],
)
async def test_notes(
    has_on_error: bool,
    handlers: Any,
    text: str | None,
    notes: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Kit().get("/", *handlers).get("/", handler)
    raised: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Response:
        raised.append(error)
        return c.text("failed", 500)

    if has_on_error:
        app.on_error(on_error)
    assert (await app.request("/")).status == 500
    if not has_on_error:
        (record,) = caplog.records
        assert record.exc_info is not None
        assert isinstance(record.exc_info[1], Exception)
        raised.append(record.exc_info[1])
    (error,) = raised
    assert text is None or str(error) == text
    assert getattr(error, "__notes__", []) == notes


async def test_exception_that_is_raised_again_gets_one_note() -> None:
    error = TypeError("Context.json() got an unexpected keyword argument 'status_code'")

    def raising(c: Context) -> Response:
        raise error

    app = Kit().get("/", raising)
    await app.request("/")
    await app.request("/")
    assert error.__notes__ == ["Write c.json(..., status=...)"]


# --- c.env -------------------------------------------------------------------------------------


def read_db(c: Context) -> Response:
    return c.text(c.env["db"])


@asynccontextmanager
async def with_db(app: Kit) -> AsyncIterator[dict[str, Any]]:
    yield {"db": "a database"}


@asynccontextmanager
async def without_bindings(app: Kit) -> AsyncIterator[None]:
    yield


async def test_env_without_a_lifespan() -> None:
    assert await error_of(Kit().get("/", read_db)) == (
        "c.env has no 'db': the app has no lifespan. Write one that yields it, as in "
        "`yield {'db': ...}`, for Kit(lifespan=...); or give it to a test client, as in "
        "test_client(app, {'db': ...})"
    )


async def test_env_of_a_lifespan_that_does_not_run() -> None:
    app = Kit(lifespan=with_db).get("/", read_db)
    text = (
        "isn't running. In a test, write `with sync_test_client(app) as client:` or "
        "`async with test_client(app) as client:`; around app.request(), "
        "`async with app.running():`"
    )
    assert await error_of(app) == f"c.env has no 'db': the lifespan {describe(with_db)} {text}"
    outer = Kit().route("/", Kit(lifespan=with_db).get("/", read_db))
    assert await error_of(outer) == f"c.env has no 'db': its lifespan {text}"


async def test_env_of_a_lifespan_that_yields_nothing() -> None:
    app = Kit(lifespan=without_bindings).get("/", read_db)
    async with app.running():
        assert await error_of(app) == (
            f"c.env has no 'db': the lifespan {describe(without_bindings)} yields nothing. "
            "Write `yield {'db': ...}` in it"
        )


async def test_env_without_bindings_is_an_empty_mapping() -> None:
    def read(c: Context) -> Response:
        assert (dict(c.env), c.env.get("db"), "db" in c.env) == ({}, None, False)
        with pytest.raises(KeyError):
            c.env["db"]
        return c.text("read")

    assert await (await Kit().get("/", read).request("/")).text() == "read"
    assert issubclass(MissingBindingError, KeyError)


# --- errors that have no route -----------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/books", "/api/nowhere"])
async def test_too_large_body_below_a_base_path(path: str) -> None:
    app = Kit(limits=Limits(max_body_size_bytes=2))
    api = app.base_path("/api")
    api.on_error(lambda error, c: c.text(f"api: {error}", 413))
    api.post("/books", handler)
    app.on_error(lambda error, c: c.text(f"app: {error}", 413))
    response = await app.request(path, method="POST", body="four")
    assert (await response.text()).startswith("api: 413")
    response = await app.request("/elsewhere", method="POST", body="four")
    assert (await response.text()).startswith("app: 413")


async def test_too_large_body_of_an_app_within_another() -> None:
    inner = Kit().post("/books", handler)
    inner.on_error(lambda error, c: c.text("inner", 413))
    app = Kit(limits=Limits(max_body_size_bytes=2)).route("/api", inner)
    assert await (await app.request("/api/books", method="POST", body="four")).text() == "inner"


async def test_middleware_sees_a_handler_that_returned_nothing() -> None:
    seen: list[Any] = []

    async def watch(c: Context, next: Next) -> None:
        await next()
        seen.extend((c.finalized, c.error))

    app = Kit().use(watch).get("/", lambda c: None)
    assert (await app.request("/")).status == 500
    assert seen == [False, None]
    assert HandlerError.__name__ == "HandlerError"


# --- what is imported and run ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FastAPI", "cannot import 'FastAPI' from 'kit': write `from kit import Kit`"),
        ("jsonify", "cannot import 'jsonify' from 'kit': return c.json(...) from the handler"),
        ("abort", "cannot import 'abort' from 'kit': write `raise HTTPException(404)`"),
        ("Depends", "cannot import 'Depends' from 'kit': it is part of kit.typed"),
        (
            "redirect",
            "cannot import 'redirect' from 'kit': return c.redirect(...) from the handler",
        ),
        ("g", "cannot import 'g' from 'kit': write c.set('name', value) and c.get('name')"),
    ],
)
def test_names_that_other_frameworks_export(name: str, text: str) -> None:
    namespace: dict[str, Any] = {}
    assert text_of(ImportError, lambda: exec(f"from kit import {name}", namespace)) == text
    assert importlib.util.find_spec(f"kit.{name}") is None


def test_modules_are_imported_from_kit_as_before() -> None:
    for name in ("request", "testing", "route"):
        namespace: dict[str, Any] = {}
        exec(f"from kit import {name}", namespace)
        assert namespace[name].__name__ == f"kit.{name}"


def test_command_without_kit_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    main = importlib.import_module("kit.__main__").main
    for name in [name for name in sys.modules if name.startswith("kit.dev")]:
        monkeypatch.delitem(sys.modules, name)
    import kit

    monkeypatch.setattr(kit, "__path__", kit.__path__[:1])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == (
        "The kit command is part of kit-dev, which is not installed here. "
        "Install it with: pip install 'kit-dev[serve]'"
    )


def test_command_whose_own_import_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    main = importlib.import_module("kit.__main__").main
    monkeypatch.setitem(sys.modules, "kit.dev.cli", None)
    with pytest.raises(ModuleNotFoundError):
        main()


def test_command_runs_that_of_kit_dev(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    cli = SimpleNamespace(main=lambda: ran.append("ran"))
    monkeypatch.setitem(sys.modules, "kit.dev.cli", cli)  # type: ignore[arg-type]
    importlib.import_module("kit.__main__").main()
    assert ran == ["ran"]
