# SPDX-License-Identifier: MIT
"""What Kit says to write in place of the most frequent mistakes: a row for each of them."""

from __future__ import annotations

import dataclasses
import gc
import operator
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from kit import Context, HTTPException, Kit, Next, Response
from kit.interface import HandlerError, Middleware, UnsupportedPathError

pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")


@pytest.fixture(autouse=True)
def collect_coroutines() -> Iterator[None]:
    """Forgotten coroutines warn when they are collected, which should be in the same test."""
    yield
    gc.collect()


def ok(c: Context) -> Response:
    return c.text("ok")


async def coroutine(c: Any) -> None: ...


def access_log(format: str = "json") -> Middleware: ...  # type: ignore[empty-body]
def cors(*, origin: str = "*") -> Any: ...
def index() -> str: ...  # type: ignore[empty-body]
def read_book(id: int) -> None: ...
def read_books(c: Context, limit: int, page: int) -> None: ...


class WebSocket:
    """That of another framework."""


class View:
    async def get(self, c: Context) -> None: ...


class Depends:
    """That of FastAPI."""

    __module__ = "fastapi.params"


def chat(websocket: WebSocket) -> None: ...
def read_user(c: Context, db: Any = Depends()) -> None: ...  # noqa: B008


TYPED = "put @typed of kit.typed above it"
AT_REGISTRATION: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda app: app.get("/users/{id}", ok), UnsupportedPathError, "write ':id'"),
    (lambda app: app.get("/users/<int:id>", ok), UnsupportedPathError, "write ':id'"),
    (lambda app: app.get("/users/:id:int", ok), UnsupportedPathError, "write ':id'"),
    (lambda app: app.get("/", coroutine(1)), TypeError, "coroutine, without calling it"),
    (lambda app: app.use("/api/*", Kit()), TypeError, "write app.route(path, other)"),
    (lambda app: app.get("/", View), TypeError, "not a class"),
    (lambda app: app.use("/", Annotated[str, 1]), TypeError, "write Depends(function) for a dep"),
    (lambda app: app.get("/", use=Annotated[str, 1]), TypeError, "write Depends(function) for"),
    (lambda app: app.use(access_log), TypeError, "write access_log(...)"),
    (lambda app: app.use(cors), TypeError, "write cors(...)"),
    (lambda app: app.get("/", use=[access_log]), TypeError, "write access_log(...)"),
    (lambda app: app.get("/", index), TypeError, "add the parameter c"),
    (lambda app: app.get("/", chat), TypeError, "put @upgrade_websocket of kit.websocket"),
    (lambda app: app.get("/", lambda c, ws: None), TypeError, "put @upgrade_websocket"),
    (lambda app: app.get("/", read_book), TypeError, TYPED),
    (lambda app: app.get("/", read_books), TypeError, TYPED),
    (lambda app: app.get("/", read_user), TypeError, TYPED),
    (lambda app: app.get("/", methods=["GET"]), TypeError, "write @app.on([...], path)"),
    (lambda app: app.post("/", status_code=201), TypeError, "c.json(..., 201)"),
    (lambda app: app.use("/", dependencies=[]), TypeError, "write use=[...]"),
    (lambda app: app.on("GET", "/", tags=["x"]), TypeError, "@describe(...) of kit.openapi"),
    (lambda app: app.run(), AttributeError, "run it with `kit serve app.py`"),
    (lambda app: app.include_router(Kit()), AttributeError, "write app.route(path, other)"),
    (lambda app: app.add_middleware(cors), AttributeError, "app.use() before the routes"),
    (lambda app: app.on_event("startup"), AttributeError, "write a lifespan"),
    (lambda app: app.state, AttributeError, "write a lifespan"),
    (lambda app: app.exception_handler(404), AttributeError, "write @app.on_error(SomeError)"),
    (lambda app: app.add_url_rule("/"), AttributeError, "write app.get(path, handler)"),
    (lambda app: app.websocket("/"), AttributeError, "above @upgrade_websocket"),
    (lambda app: app.url_path_for("read_book"), AttributeError, "app.path_to(handler, id=7)"),
]


@pytest.mark.parametrize(("register", "kind", "words"), AT_REGISTRATION)
def test_at_registration(register: Any, kind: type[Exception], words: str) -> None:
    app = Kit()
    with pytest.raises(kind) as caught:
        register(app)
    assert words in str(caught.value)
    assert app.routes == []


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda app: app.get("/", lambda a, b, c: None), "neither a handler (c) nor middleware"),
        (lambda app: app.get("/", View()), "is not callable"),
        (lambda app: app.get("/", nothing=1), "takes no keyword 'nothing', but use"),
        (lambda app: app.route("/"), "missing 1 required positional argument: 'app'"),
        (lambda app: app.get("/", ok)(ok), "missing 2 required positional arguments"),
        (lambda app: app.mount("/static", "static"), "takes a function (request, ...)"),
        (lambda app: app.on_error(404, ok), "expected a class first, not 404"),
        (lambda app: app.route("/api", Kit), "takes a Kit app"),
        (lambda app: Kit("app"), "1 positional argument"),
        (lambda app: Kit(title="Books"), "unexpected keyword argument 'title'"),
    ],
)
def test_plain_errors(register: Any, words: str) -> None:
    app: Any = Kit()
    with pytest.raises(TypeError) as caught:
        register(app)
    assert words in str(caught.value)


def test_attribute_that_no_framework_has() -> None:
    class Shop(Kit):
        pass

    with pytest.raises(AttributeError, match=r"^'Shop' object has no attribute 'gett'$"):
        Shop().gett  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(Kit(), "run")


# --- in a handler ------------------------------------------------------------------------------


async def error_of(app: Kit) -> Exception:
    """The exception that a request raises."""
    raised: list[Exception] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        raised.append(error)
        return c.text("failed", 500)

    assert (await app.request("/")).status == 500
    return raised[0]


@dataclasses.dataclass
class Book:
    title: str


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (({"a": 1}, 201), "returned tuple, expected a Response: the status and headers follow"),
        ({"a": 1}, "returned dict, expected a Response: use c.json(...)"),
        (Book("Dune"), "returned Book, expected a Response: use c.json(...)"),
        ("<p>", "returned str, expected a Response: use c.text(...) or c.html(...)"),
        (HTTPException(404), "returned HTTPException, expected a Response: raise it"),
        (ok, "returned function, expected a Response: call it"),
        (404, "returned int, expected a Response"),
        (Response, "returned the class Response, expected a Response"),
        (None, "returned nothing for GET '/': return a Response"),
    ],
)
async def test_result_that_is_no_response(result: Any, words: str) -> None:
    error = await error_of(Kit().get("/", lambda c: result))
    assert type(error) is HandlerError
    assert words in str(error)


async def extra(c: Context, next: Next) -> None:
    await next(c)  # type: ignore[call-arg]


async def result(c: Context, next: Next) -> None:
    response: Any = await next()
    response.headers["x"] = "1"


async def passing(c: Context, next: Next) -> None:
    await next()


KEYWORD = "unexpected keyword argument 'status_code'"


@pytest.mark.parametrize("has_on_error", [False, True])
@pytest.mark.parametrize(
    ("handlers", "text", "note"),
    [
        ([lambda c: c.json({}, status_code=201)], KEYWORD, "write status=..."),
        ([lambda c: HTTPException(status_code=404)], KEYWORD, "write status=..."),  # type: ignore[call-arg]
        ([lambda c: c.json(c.req.json())], "Can't encode coroutine as JSON, at $", "`await`"),
        ([lambda c: c.text(c.req.text())], "takes a str, not coroutine", "`await`"),
        ([lambda c: c.req.json()["a"]], "'coroutine' object is not subscriptable", "`await`"),
        ([lambda c: operator.setitem(c.var, "x", 1)], "item assignment", "c.set('name', value)"),
        ([lambda c: c.request], "no attribute 'request'", "write c.req"),
        ([lambda c: c.req.args], "no attribute 'args'", "c.req.query('name')"),
        ([lambda c: c.headers], "no attribute 'headers'", "c.req.header('name')"),
        ([lambda c: c.req.form()], "no attribute 'form'", "`parse_body()`"),
        ([lambda c: c.user], "no attribute 'user'", "c.set('name', value)"),
        ([result], "'NoneType' object has no attribute 'headers'", "is then c.res"),
        ([passing, extra], "next() takes 1 positional argument", "write `await next()`"),
        ([lambda c: c.nothing], "no attribute 'nothing'", None),
        ([lambda c: {}["x"]], "'x'", None),
    ],
)
async def test_notes(
    has_on_error: bool,
    handlers: Any,
    text: str,
    note: str | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Kit().get("/", *handlers).get("/", ok)
    if has_on_error:
        error = await error_of(app)
    else:
        assert (await app.request("/")).status == 500
        (record,) = caplog.records
        error = record.exc_info[1]  # type: ignore[index,assignment]
    assert text in str(error)
    notes = getattr(error, "__notes__", [])
    assert notes == [] if note is None else note in notes[0]


async def test_exception_that_is_raised_again_gets_one_note() -> None:
    error = TypeError(KEYWORD)

    def raising(c: Context) -> Response:
        raise error

    app = Kit().get("/", raising)
    await app.request("/")
    await app.request("/")
    assert len(error.__notes__) == 1
