# SPDX-License-Identifier: MIT
"""The clients that `kit client` writes: their text, and what they send and return."""

from __future__ import annotations

import datetime
import decimal
import importlib.util
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import httpx
import msgspec
import pydantic
import pytest
from msgspec import Meta, Struct

import kit.interface
from kit import Context, File, HTTPException, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.interface import Next, ProblemError
from kit.interface.metadata import attach
from kit.openapi import Problem, build_document, describe
from kit.openapi._client.python import generate
from kit.typed import Body, Form, Partial, ServerSentEvent, typed
from kit.validator import validator


class Circle(Struct, tag="circle"):
    radius: int


class Square(Struct, tag="square"):
    side: int


class Tree(Struct):
    children: list[Tree] = []


class Book(Struct, rename="camel"):
    """A book."""

    full_title: str
    price: decimal.Decimal
    day: datetime.date
    shape: Circle | Square
    key: uuid.UUID | None = None
    kind: Literal["a", "b"] = "a"
    tags: list[str] = []
    tree: Tree | None = None
    class_: Annotated[int, Meta(description="A keyword.")] = 1
    long: Literal["a long value", "another long value", "and one more"] | None = None
    at: datetime.datetime | None = None


class Query(Struct):
    tag: list[str] = []
    page: int = 1
    is_new: bool = False
    day: datetime.date | None = None


class Headers(Struct):
    x_trace: str = ""


class Cookies(Struct):
    theme: str = ""


class Upload(Struct):
    cover: File
    note: str = ""


class Nullable(Struct):
    page: int | None
    day: datetime.date | None
    x_kind: Literal["a", "b"] | None
    numbers: list[int | None] = []
    left: int | None = 5


class Login(Struct):
    user_name: str
    roles: list[str] = []


class Parameters(Struct):
    id: int


def guard(scheme: dict[str, str]) -> Any:
    async def guarding(c: Context, next: Next) -> None:
        await next()

    return attach(guarding, security=scheme)


def make_app() -> Kit:
    app = Kit()
    app.use("/secret", bearer_auth(token="s3cret"))
    app.use("/basic", guard({"type": "http", "scheme": "basic"}))
    app.use("/key", guard({"type": "apiKey", "in": "header", "name": "X-Key"}))
    app.use("/key", guard({"type": "apiKey", "in": "query", "name": "key"}))
    app.use("/key", guard({"type": "apiKey", "in": "cookie", "name": "session"}))

    @app.get("/books/:id/:class", use=[validator("query", Query), validator("header", Headers)])
    @describe(responses={200: dict[str, Any]})
    async def list_books(c: Context) -> Response:
        """Lists books.

        With "quotes", and a \\ backslash.
        """
        return c.json(
            {"url": c.req.url, "trace": c.req.header("x-trace"), "cookie": c.req.header("cookie")}
        )

    @app.post("/books", use=[validator("json", Book), validator("cookie", Cookies)])
    @describe(responses={201: Book})
    async def add_book(c: Context) -> Response:
        return c.json(c.req.valid("json"), 201)

    @app.post("/upload", use=validator("form", Upload))
    @describe(responses={200: list[str | int]})
    async def upload(c: Context) -> Response:
        form = c.req.valid("form", Upload)
        return c.json([form.cover.name, form.cover.size, form.note])

    @app.post("/login", use=validator("form", Login))
    @describe(responses={200: Login})
    async def login(c: Context) -> Response:
        return c.json(c.req.valid("form"))

    @app.get("/shape")
    @describe(responses={200: Circle | Square})
    async def shape(c: Context) -> Response:
        return c.json(Square(2))

    for path in ("/secret", "/basic", "/key"):
        app.get(path, echo)
    app.get("/cookie", cookie, use=validator("cookie", Cookies))
    app.get("/nullable", nullable, use=validator("query", Nullable))
    app.get("/fails/:id", fails, use=validator("param", Parameters))
    for name, required in (("required", True), ("optional", False)):
        json = {"content": {"application/json": {}}, "required": required}
        app.post(f"/bodies/{name}", body(operation_id=name, request_body=json))
    app.get("/text", text)
    app.get("/unknown", unknown)
    app.get("/moved", moved)
    app.get("/import", text)
    app.get("/shapes/:count", shapes)
    app.post("/words", words)
    app.patch("/paintings", change_painting)
    return app


@typed
async def shapes(count: int) -> AsyncIterator[Circle | ServerSentEvent[Square]]:
    """Streams shapes."""
    if count < 0:
        raise ProblemError(409, "Conflict", left=3)
    for number in range(count):
        yield ServerSentEvent(Square(number), id=str(number)) if number % 2 else Circle(number)
    yield ServerSentEvent(comment="that is all")


@typed(status=202)
async def words(login: Login) -> AsyncIterator[str]:
    yield login.user_name
    yield "one\u2028two\nthree"


class Painting(Struct):
    title: str
    year: int | None = 1503
    size_cm: tuple[int, int] = (77, 53)


@typed
async def change_painting(changes: Partial[Painting]) -> dict[str, object]:
    return dict(changes)


@describe(responses={200: dict[str, str | None]})
async def echo(c: Context) -> Response:
    """Answers with what was sent."""
    headers = c.req.header()
    names = ("authorization", "x-key", "cookie")
    return c.json({"query": c.req.query("key"), **{name: headers.get(name) for name in names}})


async def fails(c: Context) -> Response:
    number = c.req.valid("param", Parameters).id
    if number == 1:
        raise ProblemError(409, "Conflict", "Is there", left=3)
    if number == 2:
        raise HTTPException(404, "Not there")
    if number == 3:
        raise ProblemError(400, "Odd")
    return c.body(None, 204)


@describe(responses={200: Cookies})
async def cookie(c: Context) -> Response:
    return c.json(c.req.valid("cookie"))


async def nullable(c: Context) -> Response:
    return c.json(c.req.valid("query"))


def body(**facts: Any) -> Any:
    async def answer(c: Context) -> Response:
        return c.json(await c.req.text())

    return describe(**{"responses": {200: str}, **facts})(answer)


async def text(c: Context) -> Response:
    return c.text("text")


async def unknown(c: Context) -> Response:
    made = c.json({})
    made.headers.set("x-a", "1")
    return made


async def moved(c: Context) -> Response:
    return c.redirect("/text", 303)


@pytest.fixture(scope="module")
def source() -> str:
    return generate(build_document(make_app(), info={"title": "Shelf", "version": "1"}))


@pytest.fixture(scope="module")
def written(source: str, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    file = tmp_path_factory.mktemp("client") / "shelf_client.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location("shelf_client", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["shelf_client"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def use(written: ModuleType, run: Callable[..., Any]) -> Callable[..., Any]:
    """Calls a method of the async client, which asks the app in process."""

    def call(name: str, *args: Any, credentials: Any = None, **kwargs: Any) -> Any:
        async def ask() -> Any:
            transport = httpx.ASGITransport(make_app())
            async with (
                httpx.AsyncClient(transport=transport) as http,
                written.AsyncClient("http://api.test/", client=http, **(credentials or {})) as api,
            ):
                return await getattr(api, name)(*args, **kwargs)

        return run(ask)

    return call


@pytest.fixture
def use_stream(written: ModuleType, run: Callable[..., Any]) -> Callable[..., Any]:
    """Calls a method of the async client, and returns the items that it yields."""

    def call(name: str, *args: Any) -> Any:
        async def ask() -> list[Any]:
            transport = httpx.ASGITransport(make_app())
            async with (
                httpx.AsyncClient(transport=transport) as http,
                written.AsyncClient("http://api.test/", client=http) as api,
            ):
                return [each async for each in getattr(api, name)(*args)]

        return run(ask)

    return call


@pytest.mark.once
def test_text_is_formatted_and_type_checks(source: str, tmp_path: Path) -> None:
    file = tmp_path / "client.py"
    file.write_text(source)
    for command in (
        ["ruff", "format", "--isolated", "--check", str(file)],
        ["ruff", "check", "--isolated", str(file)],
        ["mypy", "--strict", "--config-file=", str(file)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_text_is_the_same_each_time(source: str) -> None:
    assert generate(build_document(make_app(), info={"title": "Shelf", "version": "1"})) == source


def test_names(source: str) -> None:
    for line in (
        '"""Client of Shelf 1.',
        "class AsyncClient:",
        "class Book(msgspec.Struct, kw_only=True):",
        'class Circle(msgspec.Struct, kw_only=True, tag_field="type", tag="circle"):',
        '    full_title: str = msgspec.field(name="fullTitle")',
        "    shape: Circle | Square",
        "    key: uuid.UUID | None = None",
        '    kind: Literal["a", "b"] = "a"',
        "    tags: list[str] = []",
        "    long: BookLong | None = None",
        "    def login(self, form: Login) -> Login:",
        "    def get_text(self) -> str:",
        "    def moved(self) -> httpx.Response:",
        "    def unknown(self) -> httpx.Response:",
        "    def fails(self, id: int) -> None:",
    ):
        assert f"{line}\n" in source


def test_parameters(use: Callable[..., Any]) -> None:
    found = use(
        "list_books",
        "a/b",
        "ü",
        tag=["x y", "&"],
        page=2,
        is_new=True,
        day=datetime.date(2026, 1, 2),
        x_trace="t",
    )
    assert found == {
        "url": "http://api.test/books/a%2Fb/%C3%BC?tag=x+y&tag=%26&page=2&is_new=true&day=2026-01-02",
        "trace": "t",
        "cookie": None,
    }


def test_a_body_and_its_answer(use: Callable[..., Any], written: ModuleType) -> None:
    book = written.Book(
        full_title="Emma",
        price=decimal.Decimal("9.90"),
        day=datetime.date(2026, 1, 2),
        shape=written.Square(side=2),
        tree=written.Tree(children=[written.Tree()]),
        at=datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    )
    assert use("add_book", book, theme="dark") == book


def test_bodies_that_are_null_or_left_out(use: Callable[..., Any]) -> None:
    assert use("required", None) == "null"
    assert use("required", {"a": 1}) == '{"a":1}'
    assert use("optional") == ""
    assert use("optional", body=[1]) == "[1]"


def test_changes(use: Callable[..., Any], written: ModuleType) -> None:
    """What is left out differs from null."""
    assert use("change_painting", written.PaintingPatch(year=None)) == {"year": None}
    assert use("change_painting", written.PaintingPatch(title="La Gioconda")) == {
        "title": "La Gioconda"
    }


def test_forms(use: Callable[..., Any], written: ModuleType) -> None:
    assert use("upload", written.Upload(cover=b"123", note="n")) == ["cover", 3, "n"]
    form = written.Login(user_name="a", roles=["b", "c"])
    assert use("login", form) == form


def test_streams(use_stream: Callable[..., Any], written: ModuleType) -> None:
    circle, square = written.Circle, written.Square
    assert use_stream("shapes", 3) == [circle(radius=0), square(side=1), circle(radius=2)]
    assert use_stream("shapes", 0) == []
    form = written.Login(user_name="ada")
    assert use_stream("words", form) == ["ada", "one\u2028two\nthree"]


def test_errors_of_streams(use_stream: Callable[..., Any], written: ModuleType) -> None:
    with pytest.raises(written.ClientError) as caught:
        use_stream("shapes", -1)
    assert caught.value.status == 409
    with pytest.raises(written.ClientError) as caught:
        use_stream("shapes", "x")
    assert isinstance(caught.value.problem, written.ValidationProblem)


def test_lines_in_pieces(written: ModuleType) -> None:
    pieces = [b'{"type":"cir', b'cle","radius":1}\n\n{"ty', b'pe":"circle","radius":2}']

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept"] == "application/jsonl"
        assert request.extensions["timeout"]["read"] is None
        return httpx.Response(200, content=iter(pieces))

    http = httpx.Client(transport=httpx.MockTransport(answer))
    found = [*written.Client("http://api.test", client=http).shapes(2)]
    assert found == [written.Circle(radius=1), written.Circle(radius=2)]


def test_errors_have_classes(use: Callable[..., Any], written: ModuleType) -> None:
    with pytest.raises(written.ConflictError) as caught:
        use("fails", 1)
    assert caught.value.problem.title == "Conflict"
    with pytest.raises(written.BadRequestError) as invalid:
        use("fails", "x")
    assert isinstance(invalid.value.problem, written.ValidationProblem)


@pytest.mark.parametrize(
    ("status", "content_type", "content", "expected"),
    [
        (404, "application/json", b'{"text": "gone"}', ("NotFoundError", "Fault")),
        (404, "application/json", b'{"text": 1}', ("ClientError", "dict")),
        (404, "application/json", b"{", ("ClientError", "str")),
        (404, "text/html", b"<h1>Not found</h1>", ("ClientError", "str")),
        (409, "application/json", b'{"text": "twice"}', ("ClientError", "dict")),
        (410, "text/plain", b"gone", ("GoneError", "str")),
        (503, "application/json", b'{"text": "later"}', ("ClientError", "Fault")),
    ],
    ids=["typed", "other-json", "no-json", "of-a-proxy", "undocumented", "text", "range"],
)
def test_class_of_an_error(
    tmp_path: Path, status: int, content_type: str, content: bytes, expected: tuple[str, str]
) -> None:
    class Fault(Struct):
        text: str

    app = Kit()
    gone = {"description": "Gone", "content": {"text/plain": str}}
    responses: dict[Any, Any] = {404: Fault, 410: gone, "5XX": Fault}
    app.get("/a", body(operation_id="a", responses={200: str, **responses}))
    app.get("/b", body(operation_id="b", responses={200: str, 409: Fault}))
    module = imported(generate(build_document(app)), "client_of_errors", tmp_path)
    headers = {"Content-Type": content_type}
    answer = httpx.MockTransport(
        lambda request: httpx.Response(status, content=content, headers=headers)
    )
    with httpx.Client(transport=answer) as http, pytest.raises(module.ClientError) as caught:
        module.Client("http://x", client=http).a()
    error = caught.value
    assert (type(error).__name__, type(error.problem).__name__) == expected
    assert error.status == error.response.status_code == status


def test_results(use: Callable[..., Any], written: ModuleType) -> None:
    assert use("shape") == written.Square(side=2)
    assert use("get_text") == "text"
    assert use("fails", 4) is None
    assert use("unknown").headers["x-a"] == "1"
    assert use("moved").status_code == 303


def test_errors(use: Callable[..., Any], written: ModuleType) -> None:
    with pytest.raises(written.ClientError) as caught:
        use("fails", 1)
    error = caught.value
    assert (error.status, error.problem.title, error.problem.detail) == (
        409,
        "Conflict",
        "Is there",
    )
    assert error.response.status_code == 409
    with pytest.raises(written.ClientError) as caught:
        use("fails", 2)
    assert str(caught.value) == "404 Not Found: Not there"
    assert caught.value.problem == "Not there"
    with pytest.raises(written.ClientError) as caught:
        use("fails", "x")
    assert caught.value.problem.errors[0].path == "id"
    with pytest.raises(written.ClientError) as caught:
        use("fails", 3)
    assert caught.value.problem == written.Problem(title="Odd", status=400)


def test_text_stays_in_its_place(use: Callable[..., Any], written: ModuleType) -> None:
    odd = 'a; theme=x, "b"\\ % \u00fc'
    assert use("cookie", theme=odd) == written.Cookies(theme=odd)
    found = use("list_books", 3, "../a?b#c/d", tag=[odd, "&"])
    assert found["url"].startswith("http://api.test/books/3/..%2Fa%3Fb%23c%2Fd?")
    for segment in ("", ".", ".."):
        with pytest.raises(ValueError, match=f"{segment!r} can't be a part of a path"):
            use("list_books", 3, segment)


def test_credentials(use: Callable[..., Any], written: ModuleType) -> None:
    with pytest.raises(written.ClientError):
        use("get_secret")
    credentials = {"token": "s3cret"}
    assert use("get_secret", credentials=credentials)["authorization"] == "Bearer s3cret"
    found = use("get_basic", credentials={"basic_auth": ("me", "pass")})
    assert found["authorization"] == "Basic bWU6cGFzcw=="
    found = use("get_key", credentials={"x_key": "a", "key": "b", "session": "c"})
    assert found == {"query": "b", "authorization": None, "x-key": "a", "cookie": "session=c"}


def test_sync_client(written: ModuleType) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"type": "circle", "radius": 3})

    with (
        httpx.Client(transport=httpx.MockTransport(answer)) as http,
        written.Client("http://api.test", client=http) as api,
    ):
        assert api.shape() == written.Circle(radius=3)


HIDING = [
    ("str", str), ("int", int), ("float", float), ("bool", bool), ("bytes", bytes),
    ("list", list[str]), ("dict", dict[str, int]), ("tuple", tuple[int, str]), ("uuid", uuid.UUID),
    ("datetime", datetime.datetime), ("decimal", decimal.Decimal), ("date", datetime.date),
    ("httpx", str), ("msgspec", str), ("quote", str), ("base64", str), ("type", str), ("id", int),
]  # fmt: skip
Hiding = msgspec.defstruct(
    "Hiding",
    [*HIDING, *((f"other_{name}", kind | None, None) for name, kind in HIDING)],
    module=__name__,
)
TEXTS = msgspec.defstruct("Texts", [(name, str, "") for name, _ in HIDING], module=__name__)


@pytest.mark.once
def test_names_hide_nothing_that_the_client_uses(tmp_path: Path) -> None:
    app = Kit()
    for name, kind in HIDING:

        async def handler(c: Context) -> Response:
            return c.json([])

        described = describe(operation_id=name, responses={200: kind, 404: Hiding})(handler)
        app.get(f"/{name}/:{name}", described, use=validator("query", TEXTS))
    app.post("/", handler, use=validator("json", Hiding))
    source = generate(build_document(app))
    assert "    def list_(\n" in source
    assert '    uuid_: uuid.UUID = msgspec.field(name="uuid")\n' in source
    module = checked(source, "hiding_client", tmp_path)
    fields = msgspec.structs.fields(module.Hiding)
    assert {name for name, _ in HIDING} < {each.encode_name for each in fields}


STATUSES: list[tuple[dict[str, Any], int, Any]] = [
    ({"default": {}}, 201, None),
    ({"default": {}}, 302, None),
    ({"default": {}}, 404, "error"),
    ({"2XX": {}}, 202, None),
    ({"2XX": {}}, 302, "error"),
    ({"201": {}, "default": {}}, 202, "error"),
    ({"204": {}, "3XX": {}}, 304, None),
]


@pytest.mark.parametrize(("responses", "status", "expected"), STATUSES)
def test_ranges_of_statuses(
    responses: dict[str, Any], status: int, expected: Any, tmp_path: Path
) -> None:
    described = {key: {"description": "x"} for key in responses}
    paths = {"/": {"get": {"operationId": "ask", "responses": described}}}
    document = {"info": {"title": "A", "version": "1"}, "paths": paths}
    module = imported(generate(document), f"client_of_{status}", tmp_path)
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(status))) as http:
        api = module.Client("http://api.test", client=http)
        if expected == "error":
            with pytest.raises(module.ClientError):
                api.ask()
        else:
            assert api.ask().status_code == status


@pytest.mark.once
def test_problems_of_ranges_have_their_type(tmp_path: Path) -> None:
    content = {"application/json": {"schema": {"$ref": f"{REF}Fault"}}}
    described = {
        "200": {"description": "x"},
        "4XX": {"description": "x", "content": content},
    }
    fault = {"type": "object", "properties": {"text": TEXT}, "required": ["text"]}
    document = {
        "info": {"title": "A", "version": "1"},
        "paths": {"/": {"get": {"operationId": "ask", "responses": described}}},
        "components": {"schemas": {"Fault": fault}},
    }
    module = checked(generate(document), "client_of_ranges", tmp_path)
    answer = httpx.MockTransport(lambda _: httpx.Response(418, json={"text": "short"}))
    with httpx.Client(transport=answer) as http, pytest.raises(module.ClientError) as caught:
        module.Client("http://api.test", client=http).ask()
    assert caught.value.problem == module.Fault(text="short")


REF = "#/components/schemas/"
TWO = {"minItems": 2, "maxItems": 2}
TEXT = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "a-b": {"type": "string", "enum": ["x"]},
    "Client": {"type": "object", "properties": {"from": {"type": "integer"}}},
    "Loop": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": f"{REF}Loop"}}]},
    "Pair": {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], **TWO},
    "Both": {"anyOf": [{"$ref": "#/components/schemas/Client"}, {"type": "object"}]},
    "Dates": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]},
    "Maybe": {"type": ["integer", "null"]},
    "All": {"allOf": [{"$ref": "#/components/schemas/Client"}]},
    "Const": {"const": 3},
    "Empty": {"type": "object", "properties": {}},
    "Odd": {"enum": [1.5, {}]},
}  # fmt: skip


def checked(source: str, name: str, folder: Path) -> Any:
    """Imports a client, once formatter and type checker have accepted it."""
    module = imported(source, name, folder)
    for command in (
        ["ruff", "format", "--isolated", "--diff"],
        ["mypy", "--strict", "--config-file="],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command, f"{name}.py"],
            capture_output=True,
            text=True,
            cwd=folder,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return module


def imported(source: str, name: str, folder: Path) -> Any:
    """Imports a client."""
    file = folder / f"{name}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.once
def test_schemas_of_all_kinds(tmp_path: Path) -> None:
    schemas = {
        "type": "object",
        "required": [*SCHEMAS],
        "properties": {name: {"$ref": f"#/components/schemas/{name}"} for name in SCHEMAS},
    }
    document = {
        "info": {"title": 'A "title"', "version": "1"},
        "paths": {
            "/": {
                "get": {
                    "operationId": "class",
                    "summary": "Reads.",
                    "parameters": [
                        {"name": "self", "in": "query", "schema": {"type": "string"}},
                        {"name": "a-b", "in": "query", "required": True, "schema": {}},
                        {"name": "a_b", "in": "header", "schema": {"type": "integer"}},
                    ],
                    "requestBody": {"content": {"text/csv": {}}},
                    "responses": {"200": {"description": "x", "content": {"image/png": {}}}},
                }
            }
        },
        "components": {"schemas": {**SCHEMAS, "Holder": schemas}},
    }
    source = generate(document)
    for line in (
        "    def class_(",
        "    a_b: AB",
        "    client: Client_2",
        "    loop: Loop",
        "    pair: Pair",
        "    both: Any",
        "    dates: Any",
        "    maybe: Maybe",
        "    all: All",
        "    odd: Any",
        "Pair: TypeAlias = tuple[str, int]",
        "Const: TypeAlias = Literal[3]",
        "Maybe: TypeAlias = int | None",
        "    from_: int | msgspec.UnsetType = msgspec.field(",
    ):
        assert line in source, line
    module = checked(source, "odd_client", tmp_path)
    decoded = msgspec.json.decode(b'{"from": 1}', type=module.Client_2)
    assert decoded.from_ == 1


def served(app: Kit, name: str, folder: Path, run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that calls a method of the client of an app."""
    module = imported(generate(build_document(app)), name, folder)

    def call(method: str, *args: Any, **kwargs: Any) -> Any:
        async def ask() -> Any:
            async with (
                httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http,
                module.AsyncClient("http://api.test", client=http) as api,
            ):
                return await getattr(api, method)(*args, **kwargs)

        return run(ask)

    return call


def document_of(operation: dict[str, Any], path: str = "/", **components: Any) -> dict[str, Any]:
    whole = {"operationId": "ask", "responses": {"200": {"description": "x"}}, **operation}
    return {
        "info": {"title": "A", "version": "1"},
        "paths": {path: {"get": whole}},
        "components": components,
    }


INJECTED = 'x"+str(exec("raise SystemExit"))+f"'


@pytest.mark.parametrize("scheme", [INJECTED, "{token}", "a'b\\"])
def test_schemes_are_text(scheme: str, tmp_path: Path) -> None:
    schemes = {"odd": {"type": "http", "scheme": scheme}}
    module = imported(generate(document_of({}, securitySchemes=schemes)), "scheme_client", tmp_path)
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        module.Client("http://api.test", token="t", client=http).ask()
    assert sent[0].headers["Authorization"] == f"{scheme.capitalize()} t"


def test_braces_of_paths_are_text(tmp_path: Path) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    document = document_of({"parameters": [parameter]}, "/{1/0}/{{id}}/}/{id}")
    module = imported(generate(document), "brace_client", tmp_path)
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        return httpx.Response(200)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        module.Client("http://api.test", client=http).ask("{id}")
    assert sent == ["/{1/0}/{{id}}/}/{id}"]


VALUES = ["alpha, beta [gamma] | delta", "] | epsilon, 'zeta'", '"eta", [theta', "a | b", "Second"]


def test_values_with_commas_and_bars(tmp_path: Path) -> None:
    values = {"enum": VALUES}
    held = {
        "type": "object",
        "required": ["a", "b", "c"],
        "properties": {
            "a": values,
            "b": {"anyOf": [{"enum": ["] | x", "[ | y"]}, {"type": "null"}]},
            "c": {"anyOf": [{"type": "array", "items": values}, {"type": "integer"}]},
        },
    }
    first = {"anyOf": [values, {"type": "null"}]}
    second = {"type": "array", "items": {"$ref": f"{REF}First"}}
    schemas = {"Second": second, "First": first, "Whole": values, "Held": held}
    module = imported(generate(document_of({}, schemas=schemas)), "value_client", tmp_path)
    for value in VALUES:
        given = {"a": value, "b": "[ | y", "c": [value]}
        found = msgspec.convert(given, module.Held)
        assert msgspec.to_builtins(found) == given
        assert msgspec.convert([value, None], module.Second) == [value, None]
        assert msgspec.convert(value, module.Whole) == value
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert("alpha", module.Whole)


class Lists(Struct):
    x_tag: list[str]
    x_other: str = ""


def test_lists_in_headers(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.get("/", use=[validator("header", Lists), validator("cookie", Cookies)])
    @describe(operation_id="ask", responses={200: list[Any]})
    async def ask(c: Context) -> Response:
        return c.json([c.req.valid("header", Lists).x_tag, c.req.valid("cookie", Cookies).theme])

    call = served(app, "list_client", tmp_path, run)
    assert call("ask", x_tag=["a", "b"], x_other="o", theme="t") == [["a", "b"], "t"]


class One(Struct, tag=1):
    x: int


class Two(Struct, tag=2):
    y: int


class Range(Struct):
    low: int
    high: int | None = None


class Ranges(Struct):
    range: Range | None = None
    others: list[Range] = []
    counts: dict[str, int] = {}
    page: int = 1


def test_objects_in_queries_and_forms(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.get("/", use=validator("query", Ranges))
    @describe(operation_id="find", responses={200: Ranges})
    async def find(c: Context) -> Response:
        return c.json(c.req.valid("query"))

    @app.post("/", use=validator("form", Ranges))
    @describe(operation_id="send", responses={200: Ranges})
    async def send(c: Context) -> Response:
        return c.json(c.req.valid("form"))

    call = served(app, "ranges_client", tmp_path, run)
    module = sys.modules["ranges_client"]
    low, both = module.Range(low=1), module.Range(low=2, high=3)
    sent = module.Ranges(range=both, others=[low, both], counts={"a b": 5}, page=2)
    found = call("find", range=sent.range, others=sent.others, counts=sent.counts, page=sent.page)
    assert msgspec.to_builtins(found)["range"] == {"low": 2, "high": 3}
    assert found == call("send", form=sent)
    assert [each.low for each in found.others] == [1, 2]
    assert found.counts == {"a b": 5}


def test_raw_bodies_have_their_media_type(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.post("/save")
    @typed
    async def save(image: Annotated[bytes, Body(media_type="image/png")]) -> int:
        return len(image)

    @app.post("/any")
    @typed
    async def any_kind(image: Annotated[bytes, Body(media_type="image/*")], c: Context) -> int:
        return len(image)

    call = served(app, "raw_bodies_client", tmp_path, run)
    module = sys.modules["raw_bodies_client"]
    assert call("save", b"abc") == 3
    with pytest.raises(module.ClientError) as caught:
        call("any_kind", b"abc")
    assert caught.value.status == 415  # the client can't know which one it is


SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.mark.parametrize("media_type", [SHEET, "application/json-seq", "application/jsonl"])
def test_media_types_that_only_resemble_forms_and_json(
    media_type: str, run: Callable[..., Any], tmp_path: Path
) -> None:
    app = Kit()

    @app.post("/save")
    @typed
    async def save(data: Annotated[bytes, Body(media_type=media_type)]) -> int:
        return len(data)

    assert served(app, "resembling_client", tmp_path, run)("save", b"abc") == 3


def test_tags_are_sent(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.post("/shapes")
    @typed
    def send_shape(form: Annotated[Circle | Square, Form()]) -> Circle | Square:
        return form

    @app.post("/numbers")
    @typed
    def send_number(body: One | Two) -> One | Two:
        return body

    call = served(app, "tag_client", tmp_path, run)
    module = sys.modules["tag_client"]
    for shape in (module.Circle(radius=1), module.Square(side=2)):
        assert call("send_shape", shape) == shape
    for number in (module.One(x=1), module.Two(y=2)):
        assert call("send_number", number) == number


def test_aliases_are_sent_and_names_returned(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.post("/users")
    @typed
    def send(body: User) -> User:
        return body

    call = served(app, "alias_client", tmp_path, run)
    module = sys.modules["alias_client"]
    assert call("send", module.UserInput(user_name="a")) == module.UserOutput(user_name="a")


class User(pydantic.BaseModel):
    user_name: str = pydantic.Field(alias="userName")


class Raw(pydantic.BaseModel):
    data: bytes


class Sent(pydantic.BaseModel):
    file: bytes


def test_bytes_of_pydantic_are_text(run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.post("/", use=validator("json", Raw))
    @describe(operation_id="ask", responses={200: Raw})
    async def ask(c: Context) -> Response:
        assert c.req.valid("json", Raw).data == "xyü".encode()
        return c.json(c.req.valid("json", Raw))

    form = {"content": {"multipart/form-data": {"schema": Sent}}, "required": True}

    @app.post("/form")
    @describe(operation_id="send", request_body=form, responses={200: str})
    async def send(c: Context) -> Response:
        file = (await c.req.parse_body())["file"]
        assert isinstance(file, File)
        return c.json((await file.bytes()).decode())

    call = served(app, "raw_client", tmp_path, run)
    module = sys.modules["raw_client"]
    assert call("ask", module.Raw(data="xyü")) == module.Raw(data="xyü")
    assert call("send", module.Sent(file=b"xy")) == "xy"


class Nameless(Struct):
    name: str | None


@pytest.mark.parametrize("target", ["query", "header", "cookie", "form"])
def test_none_is_sent_if_required(target: Any, run: Callable[..., Any], tmp_path: Path) -> None:
    app = Kit()

    @app.post("/", use=validator(target, Nullable))
    @describe(operation_id="ask", responses={200: Nullable})
    async def ask(c: Context) -> Response:
        return c.json(c.req.valid(target))

    @app.post("/name", use=validator(target, Nameless))
    @describe(operation_id="name", responses={200: Nameless})
    async def name(c: Context) -> Response:
        return c.json(c.req.valid(target))

    call = served(app, f"{target}_client", tmp_path, run)
    module = sys.modules[f"{target}_client"]
    values = {"page": None, "day": None, "x_kind": None, "numbers": [1, None], "left": None}
    if target == "cookie":
        del values["numbers"]
    received = module.Nullable(**{**values, "left": 5})
    if target == "form":
        assert call("ask", module.Nullable(**values)) == received
        unnamed: Any = {"form": module.Nameless(name=None)}
    else:
        assert call("ask", **values) == received
        unnamed = {"name": None}
    with pytest.raises(module.ClientError):  # the app couldn't tell `null` from a name
        call("name", **unnamed)


def test_problem_type_is_exported() -> None:
    assert Problem is kit.interface.Problem
