# SPDX-License-Identifier: MIT
"""What the document says of an app's routes, and in which order."""

from __future__ import annotations

import datetime
import functools
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import Struct
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.combine import except_
from kit.interface import Next
from kit.interface.metadata import attach
from kit.openapi import Problem, build_document, describe
from kit.typed import ServerSentEvent, typed
from kit.validator import validator
from kit.websocket import WebSocket, upgrade_websocket


class Book(Struct):
    """A book."""

    title: str


def build(app: Kit, **options: Any) -> dict[str, Any]:
    document = build_document(app, **options)
    validate(document)
    return document


def operations(app: Kit) -> dict[str, dict[str, Any]]:
    """The operations by `METHOD path`."""
    return {
        f"{method.upper()} {path}": operation
        for path, item in build(app)["paths"].items()
        for method, operation in item.items()
    }


async def read_book(c: Context) -> Response:
    return c.json({})


def test_empty_app() -> None:
    assert build(Kit()) == {
        "openapi": "3.1.1",
        "info": {"title": "API", "version": "0.1.0"},
        "servers": [{"url": "/"}],
        "paths": {},
    }


def test_plain_handler() -> None:
    app = Kit()
    app.get("/books/:id", read_book)
    assert build(app)["paths"] == {
        "/books/{id}": {
            "get": {
                "summary": "Read book",
                "operationId": "read_book",
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "minLength": 1},
                    }
                ],
                "responses": {"200": {"description": "OK", "content": {"application/json": {}}}},
            }
        }
    }


def test_what_openapi_is_given_stands_in_the_document() -> None:
    document = build(
        Kit(),
        info={"title": "Shelf", "version": "2", "license": {"name": "MIT"}, "x-team": "books"},
        servers=[{"url": "https://api.example.com"}],
        tags=[{"name": "books", "description": "All of them."}],
        security_schemes={"oauth": {"type": "openIdConnect", "openIdConnectUrl": "https://x.test"}},
    )
    assert document["info"]["x-team"] == "books"
    assert document["servers"] == [{"url": "https://api.example.com"}]
    assert document["tags"] == [{"name": "books", "description": "All of them."}]
    assert [*document["components"]["securitySchemes"]] == ["oauth"]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("/", ["/"]),
        ("/books/", ["/books/"]),
        ("/books/:id", ["/books/{id}"]),
        ("/books/:id?", ["/books", "/books/{id}"]),
        ("/:a?/:b?", ["/", "/{a}", "/{a}/{b}"]),
        ("/books/:id{[0-9]+}/:part{[a-z]{2}}", ["/books/{id}/{part}"]),
        ("/a-b.c/~d", ["/a-b.c/~d"]),
    ],
)
def test_paths(pattern: str, paths: list[str]) -> None:
    app = Kit()
    app.get(pattern, read_book)
    assert [*build(app)["paths"]] == paths


@pytest.mark.parametrize(
    ("pattern", "schema"),
    [
        ("/:x", {"type": "string", "minLength": 1}),
        ("/:x{[0-9]+}", {"type": "string", "pattern": "^(?:[0-9]+)$"}),
        ("/:x{a|b}", {"type": "string", "pattern": "^(?:a|b)$"}),
        (r"/:x{\w+\.(?:png|a\+)}", {"type": "string", "pattern": r"^(?:\w+\.(?:png|a\+))$"}),
        (r"/:x{a\++}", {"type": "string", "pattern": r"^(?:a\++)$"}),
        # What ECMA-262 has not.
        ("/:x{(?P<n>a)}", {"type": "string"}),
        ("/:x{(?>a)}", {"type": "string"}),
        ("/:x{[a-z]++}", {"type": "string"}),
        ("/:x{[a-z]{2}+}", {"type": "string"}),
        ("/:x{a{,3}}", {"type": "string"}),
        ("/:x{(?i)a}", {"type": "string"}),
    ],
)
def test_expressions_are_patterns(pattern: str, schema: dict[str, Any]) -> None:
    app = Kit()
    app.get(pattern, read_book)
    (item,) = build(app)["paths"].values()
    assert item["get"]["parameters"][0]["schema"] == schema


def test_expression_and_type_of_a_parameter() -> None:
    class Id(Struct):
        id: int

    app = Kit()
    app.get("/:id{[0-9]+}", read_book, use=validator("param", Id))
    (item,) = build(app)["paths"].values()
    assert item["get"]["parameters"][0]["schema"] == {"type": "integer", "minimum": 0}
    assert "404" in item["get"]["responses"]  # /x is no path of the app


def test_parts_are_under_their_prefix_which_is_their_tag() -> None:
    books = Kit()
    books.get("/:id", read_book)
    app = Kit()
    app.route("/api/books", books)
    app.base_path("/v1/shelves/:shelf").get("/last", read_book)
    app.get("/plain", read_book)
    found = operations(app)
    assert {name: each.get("tags") for name, each in found.items()} == {
        "GET /api/books/{id}": ["books"],
        "GET /v1/shelves/{shelf}/last": ["shelves"],
        "GET /plain": None,
    }
    assert [each["operationId"] for each in found.values()] == [
        "get_api_books_by_id",
        "get_v1_shelves_by_shelf_last",
        "get_plain",
    ]


def test_methods() -> None:
    app = Kit()
    app.options("/options", read_book)
    app.all("/all", read_book)
    assert [*operations(app)] == ["GET /all", "PUT /all", "POST /all", "DELETE /all", "PATCH /all"]


async def converse(c: Context, ws: WebSocket) -> None:
    """Converses."""


def test_what_is_left_out_is_noted() -> None:
    from kit.openapi._options import documentation

    app = Kit()
    app.get("/files/*", read_book)
    app.get("/assets*", read_book)
    app.on("PURGE", "/cache", read_book)
    app.mount("/old", lambda request: None)
    app.get("/live", upgrade_websocket(converse))
    app.get("/books/:id{[0-9]+}", read_book)
    app.get("/books/:name", read_book)
    app.get("/twice", read_book).get("/twice", read_book)
    documented = documentation(
        "openapi", app, info=None, servers=(), tags=(), errors=None, security_schemes=None
    )
    assert [*documented.document()["paths"]] == ["/cache", "/books/{id}", "/twice"]
    assert documented.notes == [
        "GET /files/* is left out: OpenAPI doesn't support wildcards",
        "GET /assets* is left out: OpenAPI doesn't support wildcards",
        "ALL /old/* is left out: it is a mounted application",
        "GET /live is left out: OpenAPI doesn't support WebSockets",
        "GET /books/{name} is left out: OpenAPI can't distinguish it from GET /books/:id{[0-9]+}, "
        "which differs only in its parameters",
        "GET /twice is left out: an earlier route handles it",
        "PURGE /cache is written as x-additionalOperations, which most tools ignore: OpenAPI 3.1 "
        'has no method PURGE; write openapi(version="3.2")',
    ]


def test_one_path_has_one_set_of_names() -> None:
    class Params(Struct):
        name: int

    app = Kit()
    app.get("/books/:id", read_book)
    app.put("/books/:name", read_book, use=validator("param", Params))
    (path,) = build(app)["paths"].items()
    assert path[0] == "/books/{id}"
    assert path[1]["put"]["parameters"] == [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    ]


def test_docstring() -> None:
    async def documented(c: Context) -> Response:
        """Reads a book
        of the shelf.

        With **all** its pages.

        And more.

        Args:
            c: The context.

        Returns:
            The book, as it is.

        Raises:
            HTTPException: 404 if there is no such book,
                or no shelf.
            ValueError: Never.

        Example:
            None.
        """
        return c.json({})

    app = Kit()
    app.get("/", documented)
    (operation,) = operations(app).values()
    assert operation["summary"] == "Reads a book of the shelf"
    assert operation["description"] == "With **all** its pages.\n\nAnd more."
    assert {status: each["description"] for status, each in operation["responses"].items()} == {
        "200": "The book, as it is",
        "404": "If there is no such book, or no shelf",
    }


def test_described_handler() -> None:
    @describe(
        summary="Adds",
        description="A lot.",
        tags=["a", "b"],
        operation_id="add",
        responses={
            201: Book,
            204: None,
            409: Problem,
            410: "Gone for good",
            "4XX": {"description": "Any", "content": {"text/plain": str}},
            "default": {"description": "Other", "headers": {"X-A": {"schema": {}}}},
        },
        request_body=Book,
        security={"type": "http", "scheme": "digest"},
        deprecated=True,
    )
    async def handler(c: Context) -> Response:
        """Is not shown."""
        return c.json({}, 201)

    app = Kit()
    app.post("/", handler)
    document = build(app)
    assert document["paths"]["/"]["post"] == {
        "tags": ["a", "b"],
        "summary": "Adds",
        "description": "A lot.",
        "operationId": "add",
        "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
            "required": True,
        },
        "responses": {
            "201": {
                "description": "Created",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
            },
            "204": {"description": "No Content"},
            "409": {
                "description": "Conflict",
                "content": {
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                },
            },
            "410": {"description": "Gone for good"},
            "4XX": {
                "description": "Any",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            },
            "default": {"description": "Other", "headers": {"X-A": {"schema": {}}}},
        },
        "deprecated": True,
        "security": [{"digest": []}],
    }
    assert document["components"]["securitySchemes"] == {
        "digest": {"type": "http", "scheme": "digest"}
    }


def test_odd_characters_of_a_docstring() -> None:
    async def handler(c: Context) -> Response:
        return c.text("x")

    handler.__doc__ = "A \ud800 half, and a \x00."
    app = Kit()
    app.get("/", handler)
    assert operations(app)["GET /"]["summary"] == "A ? half, and a \x00"


def test_hidden_handler() -> None:
    app = Kit()
    app.get("/", describe(hidden=True)(lambda c: c.text("x")))
    assert build(app)["paths"] == {}


def test_described_middleware_holds_for_what_it_covers() -> None:
    async def admin(c: Context, next: Next) -> None:
        await next()

    app = Kit()
    app.use("/admin/*", describe(tags=["admin"], responses={403: "No admin"})(admin))
    app.get("/admin/users", describe(responses={200: Book})(lambda c: c.json({})))
    app.get("/users", lambda c: c.json({}))
    found = operations(app)
    assert found["GET /admin/users"]["tags"] == ["admin"]
    assert [*found["GET /admin/users"]["responses"]] == ["200", "403"]
    assert "tags" not in found["GET /users"]


def test_a_description_costs_nothing_at_a_request() -> None:
    def handler(c: Context) -> Response:
        return c.text("x")

    assert describe(summary="Reads")(handler) is handler


def test_guards_in_front_of_a_route() -> None:
    app = Kit()
    app.get("/early/:id", read_book)
    app.use("/:part/:id", bearer_auth(token="t"))
    app.get("/books/:id", read_book)
    app.get("/books", read_book)
    app.post("/use", read_book, use=bearer_auth(token="t", header_name="X-Key", prefix=""))
    document = build(app)
    paths = document["paths"]
    assert paths["/early/{id}"]["get"]["security"] == []
    assert paths["/books"]["get"]["security"] == []
    assert paths["/books/{id}"]["get"]["security"] == [{"bearer": []}]
    assert paths["/use"]["post"]["security"] == [{"X-Key": []}]
    assert [*paths["/books/{id}"]["get"]["responses"]] == ["200", "400", "401"]
    assert document["components"]["securitySchemes"] == {
        "X-Key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "bearer": {"type": "http", "scheme": "bearer"},
    }


def test_one_status_for_several_reasons() -> None:
    app = Kit()
    app.post("/", read_book, use=[bearer_auth(token="t"), validator("json", Book)])
    found = operations(app)["POST /"]["responses"]["400"]
    assert found["description"] == "Malformed credentials; Invalid data"
    assert [*found["content"]] == ["application/problem+json", "text/plain"]


def test_schemes_that_are_needed_together_or_not_at_all() -> None:
    basic = {"type": "http", "scheme": "basic"}
    bearer = {"type": "http", "scheme": "bearer"}
    app = Kit()
    app.get("/", read_book, use=guard((basic, bearer), ()))
    assert operations(app)["GET /"]["security"] == [{"basic": [], "bearer": []}, {}]


def test_paths_that_a_guard_exempts() -> None:
    exempt = except_(["/api/public/*", "/api/login"], bearer_auth(token="t"))
    app = Kit()
    app.use("/api/*", exempt)
    app.use("/some/*", except_(lambda c: False, bearer_auth(token="t")))
    for path in ("/api/public/:id", "/api/login", "/api/:id", "/api/books", "/some/books"):
        app.get(path, read_book)
    found = operations(app)
    assert {name: each.get("security") for name, each in found.items()} == {
        "GET /api/public/{id}": [],
        "GET /api/login": [],
        "GET /api/{id}": [{"bearer": []}],
        "GET /api/books": [{"bearer": []}],
        "GET /some/books": [{"bearer": []}, {}],
    }
    assert "401" not in found["GET /api/login"]["responses"]


def test_a_scheme_that_nobody_knows_is_noted() -> None:
    from kit.openapi._options import documentation

    app = Kit()
    app.get("/", describe(security={"oauth": ["read"]})(lambda c: c.text("x")))
    documented = documentation(
        "openapi", app, info=None, servers=(), tags=(), errors=None, security_schemes=None
    )
    documented.document()
    assert documented.notes == [
        "GET / requires the security scheme 'oauth', which openapi(security_schemes=...) doesn't "
        "have"
    ]


def test_guards_of_one_method_are_for_that_alone() -> None:
    app = Kit()
    app.on(["POST", "PUT"], "/api/*", bearer_auth(token="t"))
    app.all("/api/books", read_book)
    found = operations(app)
    assert [name for name, each in found.items() if each["security"]] == [
        "PUT /api/books",
        "POST /api/books",
    ]


def test_only_documents_with_a_guard_say_which_operations_are_open() -> None:
    app = Kit()
    app.get("/open", read_book)
    assert "security" not in operations(app)["GET /open"]
    app.get("/closed", read_book, use=bearer_auth(token="t"))
    found = {name: each["security"] for name, each in operations(app).items()}
    assert found == {"GET /open": [], "GET /closed": [{"bearer": []}]}


def test_all_tags_are_declared_after_the_given_ones() -> None:
    app = Kit()
    app.route("/shelves", Kit().get("/", read_book))
    app.get("/books", describe(tags=["books", "admin"])(lambda c: c.text("x")))
    given = [{"name": "books", "description": "All of them."}, {"name": "unused"}]
    assert build_document(app, tags=given)["tags"] == [
        *given,
        {"name": "shelves"},
        {"name": "admin"},
    ]
    assert "tags" not in build_document(Kit())


def test_every_response_has_a_description() -> None:
    app = Kit()
    described = describe(responses={200: {"description": ""}, 404: None})
    app.get("/", described(lambda c: c.text("x")))
    responses = operations(app)["GET /"]["responses"]
    assert responses["200"]["description"] == "OK"
    assert responses["404"]["description"] == "Not Found"


def guard(*schemes: Any) -> Any:
    async def guarding(c: Context, next: Next) -> None:
        await next()

    return attach(guarding, security=schemes)


def test_several_guards_and_several_schemes() -> None:
    basic = {"type": "http", "scheme": "basic"}
    bearer = {"type": "http", "scheme": "bearer"}
    key = {"type": "apiKey", "in": "cookie", "name": "session id"}
    other = {"type": "apiKey", "in": "query", "name": "session id"}
    app = Kit()
    app.use("/*", guard(basic, bearer))
    app.get("/", read_book, use=[guard(key), guard(other)])
    app.get("/free", describe(security=[])(lambda c: c.text("x")))
    app.get("/named", describe(security=[{"oauth": ["read"]}, basic])(lambda c: c.text("x")))
    document = build_document(
        app, security_schemes={"oauth": {"type": "openIdConnect", "openIdConnectUrl": "x"}}
    )
    paths = document["paths"]
    assert paths["/"]["get"]["security"] == [
        {"basic": [], "session_id": [], "session_id_2": []},
        {"bearer": [], "session_id": [], "session_id_2": []},
    ]
    assert paths["/free"]["get"]["security"] == []
    assert paths["/named"]["get"]["security"] == [{"oauth": ["read"]}, {"basic": []}]
    assert [*document["components"]["securitySchemes"]] == [
        "basic",
        "bearer",
        "oauth",
        "session_id",
        "session_id_2",
    ]


class OwnError(Struct):
    """The error of an app."""

    message: str


def test_errors_of_the_app_are_those_that_it_is_said_to_make() -> None:
    app = Kit()
    app.use("/*", bearer_auth(token="t"))
    app.get("/:id", read_book, use=validator("query", Book))
    app.get("/said/:id", describe(responses={404: Problem})(lambda c: c.json({})))
    paths = build(app, errors=OwnError)["paths"]
    schema = {"$ref": "#/components/schemas/OwnError"}
    responses = paths["/{id}"]["get"]["responses"]
    for status in ("400", "401"):
        assert responses[status]["content"] == {"application/json": {"schema": schema}}
    said = paths["/said/{id}"]["get"]["responses"]["404"]
    assert [*said["content"]] == ["application/problem+json"]

    paths = build(app, errors={"application/vnd.acme+json": OwnError})["paths"]
    responses = paths["/{id}"]["get"]["responses"]
    assert responses["401"]["content"] == {"application/vnd.acme+json": {"schema": schema}}


def test_facts_of_a_typed_endpoint() -> None:
    class Query(Struct):
        fields: list[str] = []

    class Params(Struct):
        id: int

    async def run(c: Context) -> Response:
        return c.json({})

    attach(
        run,
        validates={"query": Query, "param": Params, "json": Book | None},
        responses={201: Book, 400: "Bad"},
        describes={"summary": "Creates"},
    )
    app = Kit()
    app.post("/:id", run)
    operation = operations(app)["POST /{id}"]
    assert operation["summary"] == "Creates"
    assert [each["name"] for each in operation["parameters"]] == ["id", "fields"]
    assert "required" not in operation["requestBody"]
    assert [*operation["responses"]] == ["201", "400"]
    assert [*operation["responses"]["201"]["content"]] == ["application/json"]


def test_annotated_result_of_an_endpoint() -> None:
    def typed(function: Any) -> Any:
        @functools.wraps(function)
        async def run(c: Context) -> Response:
            return c.json(await function())

        return run

    async def read() -> list[Book]:
        return []

    app = Kit()
    app.get("/", typed(read))
    assert operations(app)["GET /"]["responses"]["200"]["content"] == {
        "application/json": {
            "schema": {"type": "array", "items": {"$ref": "#/components/schemas/Book"}}
        }
    }


def test_the_document_is_the_same_each_time() -> None:
    def make() -> Kit:
        app = Kit()
        app.use("/b/*", bearer_auth(token="t"))
        app.post("/b/:id", read_book, use=[validator("json", Book), validator("query", Book)])
        app.get("/a", describe(responses={404: Problem, 200: Book})(lambda c: c.json({})))
        return app

    import json

    assert json.dumps(build(make())) == json.dumps(build(make()))
    assert [*build(make())["paths"]] == ["/b/{id}", "/a"]  # the order of the routes


@typed
async def stream_books() -> AsyncIterator[Book]:
    """Streams books."""
    yield Book("Emma")


@typed
async def stream_text() -> AsyncIterator[str]:
    yield "text"


@typed
async def stream_days() -> AsyncIterator[ServerSentEvent[datetime.date]]:
    yield ServerSentEvent(datetime.date(2026, 1, 2))


@typed
async def stream_anything() -> AsyncIterator[Any]:
    yield None


BOOK = {"$ref": "#/components/schemas/Book"}
DAY = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("endpoint", "item", "data"),
    [
        (
            stream_books,
            BOOK,
            {"type": "string", "contentMediaType": "application/json", "contentSchema": BOOK},
        ),
        (stream_text, {"type": "string"}, {"type": "string"}),
        (
            stream_days,
            DAY,
            {"type": "string", "contentMediaType": "application/json", "contentSchema": DAY},
        ),
        (stream_anything, {}, {"type": "string"}),
    ],
)
def test_streams(endpoint: Any, item: Any, data: Any) -> None:
    app = Kit()
    app.get("/", endpoint)
    responses = operations(app)["GET /"]["responses"]
    content = responses["200"]["content"]
    assert content["application/jsonl"] == {"schema": {"type": "string"}, "x-itemSchema": item}
    event = content["text/event-stream"]
    assert event["schema"] == {"type": "string"}
    assert event["x-itemSchema"]["properties"]["data"] == data
    assert event["x-itemSchema"]["properties"].keys() == {"data", "event", "id", "retry"}
    assert responses["406"]["description"]


def test_described_streams() -> None:
    app = Kit()
    content = {"application/jsonl": {"itemSchema": Book}}
    app.get("/", describe(responses={200: {"description": "Books", "content": content}})(read_book))
    assert operations(app)["GET /"]["responses"]["200"] == {
        "description": "Books",
        "content": {"application/jsonl": {"schema": {"type": "string"}, "x-itemSchema": BOOK}},
    }
