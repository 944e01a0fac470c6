# SPDX-License-Identifier: MIT
"""Which routes are tools, and how they are described."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import pytest
from mcp_peer import ask, call, list_tools, text_of
from msgspec import Meta, Struct, defstruct

from kit import Kit
from kit.interface import HandlerError
from kit.mcp import mcp, tool
from kit.openapi import describe
from kit.typed import typed
from kit.validator import validator
from kit.websocket import upgrade_websocket


class Author(Struct):
    name: str
    born: date | None = None


class Book(Struct):
    """A book."""

    title: str
    authors: list[Author] = []
    sequel: Book | None = None


class Paging(Struct):
    page: int = 1
    tags: list[str] = []


def answering() -> Any:
    """A new handler, as decorators change the one that they are given."""

    async def answer(c: Any) -> Any:
        """Answers.

        At some length.
        """
        return c.text("yes")

    return answer


async def problem(app: Any) -> str:
    """Why an app can't start."""
    with pytest.raises(HandlerError) as caught:
        async with app.running():
            pass
    return str(caught.value).partition("failed at startup: ")[2]


async def test_nothing_is_a_tool_unless_it_is_chosen():
    app = Kit()
    app.get("/a", answering())
    mcp(app)
    assert await list_tools(app) == {}
    assert await ask(app, "tools/call", {"name": "answer"}) == {
        "code": -32602,
        "message": "Unknown tool: 'answer'",
    }


async def test_decorated_named_and_tagged_routes_are_tools_in_the_order_of_their_routes():
    app = Kit()

    @app.get("/a")
    async def first(c: Any) -> Any:
        return c.text("a")

    @app.get("/b")
    @tool()
    async def second(c: Any) -> Any:
        return c.text("b")

    @app.get("/c")
    @describe(tags=["agents"], operation_id="third.one")
    async def third(c: Any) -> Any:
        return c.text("c")

    app.get("/d", answering())
    mcp(app, operations="first", tags=["agents"])
    assert list(await list_tools(app)) == ["first", "second", "third.one"]


async def test_a_server_says_what_it_is():
    app = Kit()
    mcp(app, name="Bookshelf", version="2.0", instructions="Look up books first.")
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    result = await ask(app, "initialize", params)
    assert result["protocolVersion"] == "2025-06-18"
    assert result["serverInfo"] == {"name": "Bookshelf", "version": "2.0"}
    assert result["instructions"] == "Look up books first."
    assert result["capabilities"] == {"tools": {"listChanged": False}}


async def test_a_tool_is_described_by_its_operation():
    app = Kit()
    app.get("/a", tool()(answering()))
    mcp(app)
    assert (await list_tools(app))["answer"] == {
        "name": "answer",
        "title": "Answers",
        "description": "Answers\n\nAt some length.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {"title": "Answers", "readOnlyHint": True},
    }


async def test_a_query_reads_with_a_body():
    app = Kit()

    class Search(Struct):
        title: str

    @app.query("/books")
    @tool()
    @typed
    async def search(search: Search | None = None) -> dict[str, Any]:
        return {"title": None if search is None else search.title}

    mcp(app)
    described = (await list_tools(app))["search"]
    assert described["annotations"]["readOnlyHint"] is True
    assert described["inputSchema"]["required"] == ["body"]  # since a QUERY has a Content-Type
    for body, title in (({"title": "Emma"}, "Emma"), (None, None)):
        result = await call(app, "search", {"body": body})
        assert result["structuredContent"] == {"title": title}


async def test_the_decorator_says_the_rest():
    app = Kit()
    said = tool(
        name="ask",
        title="Ask",
        description="Asks.",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    )
    app.post("/a", said(answering()))
    mcp(app)
    assert (await list_tools(app))["ask"] == {
        "name": "ask",
        "title": "Ask",
        "description": "Asks.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {
            "title": "Ask",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("GET", {"readOnlyHint": True}),
        ("POST", {"readOnlyHint": False}),
        ("PATCH", {"readOnlyHint": False}),
        ("PUT", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}),
        ("DELETE", {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}),
    ],
)
async def test_hints_go_by_the_method(method: str, hints: dict[str, bool]):
    app = Kit()
    app.on(method, "/a", tool()(answering()))
    mcp(app)
    found = (await list_tools(app))["answer"]["annotations"]
    assert found == {"title": "Answers", **hints}


async def test_parameters_and_fields_of_the_body_are_arguments():
    app = Kit()

    @app.put(
        "/shelves/:shelf/:row{[0-9]+}", use=[validator("query", Paging), validator("json", Book)]
    )
    @tool()
    async def put_book(c: Any) -> Any:
        return c.json(c.req.valid("json"))

    mcp(app)
    schema = (await list_tools(app))["put_book"]["inputSchema"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert sorted(schema["properties"]) == [
        "authors",
        "page",
        "row",
        "sequel",
        "shelf",
        "tags",
        "title",
    ]
    assert sorted(schema["required"]) == ["row", "shelf", "title"]
    assert schema["properties"]["row"] == {"type": "string", "pattern": "^(?:[0-9]+)$"}
    assert schema["properties"]["authors"]["items"] == {"$ref": "#/$defs/Author"}
    assert sorted(schema["$defs"]) == ["Author", "Book"]
    assert "#/components" not in str(schema)


async def test_names_that_collide_are_told_apart():
    app = Kit()

    class Query(Struct):
        id: int
        body: str = ""

    class Header(Struct):
        id: int

    class Body(Struct):
        id: int

    use = [validator("query", Query), validator("header", Header), validator("json", Body)]

    @app.post("/ids/:id", use=use)
    @tool()
    async def ids(c: Any) -> Any:
        valid = c.req.valid
        found = [valid("query").id, valid("header").id, valid("json").id, valid("query").body]
        return c.json([c.req.param("id"), *found])

    mcp(app)
    schema = (await list_tools(app))["ids"]["inputSchema"]
    names = ["id", "query_id", "body", "header_id", "request_body"]
    assert list(schema["properties"]) == names
    arguments = {"id": "1", "query_id": 2, "header_id": 3, "request_body": {"id": 4}, "body": "b"}
    assert (await call(app, "ids", arguments))["structuredContent"] == {
        "result": ["1", 2, 3, 4, "b"]
    }


async def test_names_that_models_do_not_take_are_changed():
    app = Kit()

    class Query(Struct, rename={"low": "price[low]", "high": "price{low}", "odd": "price(low)"}):
        low: int = 0
        high: int = 0
        odd: int = 0

    class Body(Struct, rename={"title": "the title"}):
        title: str

    @app.post("/", use=[validator("query", Query), validator("json", Body)])
    @tool()
    async def search(c: Any) -> Any:
        query = c.req.valid("query")
        return c.json([query.low, query.high, query.odd, c.req.valid("json").title])

    mcp(app)
    schema = (await list_tools(app))["search"]["inputSchema"]
    names = ["price_low_", "query_price_low_", "query_price_low__2", "body"]
    assert list(schema["properties"]) == names
    arguments = dict(zip(names, (1, 2, 3, {"the title": "Emma"}), strict=True))
    result = await call(app, "search", arguments)
    assert result["structuredContent"] == {"result": [1, 2, 3, "Emma"]}


async def test_a_body_that_may_be_left_out_is_one_argument():
    app = Kit()

    @app.post("/")
    @tool()
    @typed
    async def is_none(book: Book | None = None) -> bool:
        return book is None

    mcp(app)
    schema = (await list_tools(app))["is_none"]["inputSchema"]
    assert list(schema["properties"]) == ["body"]
    assert "required" not in schema
    for arguments in ({}, {"body": None}):
        assert (await call(app, "is_none", arguments))["structuredContent"] == {"result": True}


async def test_a_body_that_may_be_null_has_to_be_sent():
    app = Kit()

    @app.post("/", use=validator("json", Book | None))
    @tool()
    async def maybe(c: Any) -> Any:
        return c.json(c.req.valid("json"))

    mcp(app)
    schema = (await list_tools(app))["maybe"]["inputSchema"]
    assert schema["required"] == ["body"]
    assert (await call(app, "maybe", {"body": None}))["structuredContent"] == {"result": None}
    assert (await call(app, "maybe", {}))["isError"]


async def test_a_form_that_may_be_left_out_is_left_out():
    app = Kit()
    form = {"content": {"multipart/form-data": {}}}
    app.post("/", tool()(describe(request_body=form)(answering())))
    mcp(app)
    assert (await list_tools(app))["answer"]["inputSchema"]["properties"] == {}


async def test_parameters_have_their_descriptions():
    app = Kit()

    class Query(Struct):
        q: Annotated[str, Meta(description="What to look for.")] = ""

    app.get("/", tool()(answering()), use=validator("query", Query))
    mcp(app)
    found = (await list_tools(app))["answer"]["inputSchema"]["properties"]["q"]
    assert found == {"type": "string", "description": "What to look for.", "default": ""}


async def test_credentials_are_no_arguments():
    app = Kit()

    class Header(Struct):
        authorization: str = ""
        x_forwarded_for: str = ""
        x_key: str = ""
        x_tenant: str = ""

    class Cookie(Struct):
        session: str = ""

    key = {"type": "apiKey", "in": "header", "name": "X-Key"}

    @app.get("/", use=[validator("header", Header), validator("cookie", Cookie)])
    @tool()
    @describe(security=key)
    async def read(c: Any) -> Any:
        return c.text("")

    mcp(app)
    schema = (await list_tools(app))["read"]["inputSchema"]
    assert list(schema["properties"]) == ["x-tenant"]


@pytest.mark.parametrize("name", ["Remote-User", "X-Auth-Request-Email", "X-API-Key", "X-User-Id"])
async def test_headers_that_say_who_is_calling_are_no_arguments(name: str):
    kind = defstruct("Header", [("user", str, "")], rename={"user": name.lower()})
    app = Kit()
    app.get("/", tool()(answering()), use=validator("header", kind))
    mcp(app)
    assert (await list_tools(app))["answer"]["inputSchema"]["properties"] == {}
    refused = await call(app, "answer", {name.lower(): "ada"})
    assert text_of(refused) == f"There is no argument {name.lower()!r}: expected none"


async def test_a_header_that_is_read_but_not_declared_is_no_argument():
    app = Kit()

    class Header(Struct):
        x_shelf: str = ""

    @app.get("/", use=validator("header", Header))
    @tool()
    async def read(c: Any) -> Any:
        return c.json([c.req.header("X-Shelf"), c.req.header("x-principal"), c.req.query("q")])

    mcp(app)
    schema = (await list_tools(app))["read"]["inputSchema"]
    assert list(schema["properties"]) == ["q", "x-shelf"]
    refused = await call(app, "read", {"x-principal": "admin"})
    assert text_of(refused) == "There is no argument 'x-principal': expected q, x-shelf"
    called = await call(app, "read", {"x-shelf": "7"}, headers={"x-principal": "ada"})
    assert called["structuredContent"] == {"result": ["7", "ada", None]}


async def test_the_output_schema_is_that_of_the_response():
    app = Kit()

    @app.get("/book")
    @tool()
    @describe(responses={200: Book})
    async def one(c: Any) -> Any:
        return c.json(Book("Emma"))

    @app.get("/books")
    @tool()
    @describe(responses={200: list[Book]})
    async def several(c: Any) -> Any:
        return c.json([Book("Emma")])

    mcp(app)
    tools = await list_tools(app)
    assert tools["one"]["outputSchema"]["type"] == "object"
    assert sorted(tools["one"]["outputSchema"]["properties"]) == ["authors", "sequel", "title"]
    wrapped = tools["several"]["outputSchema"]
    assert wrapped["required"] == ["result"]
    assert wrapped["properties"]["result"]["items"] == {"$ref": "#/$defs/Book"}
    content = {"title": "Emma", "authors": [], "sequel": None}
    assert (await call(app, "one"))["structuredContent"] == content
    assert (await call(app, "several"))["structuredContent"] == {"result": [content]}


@pytest.mark.parametrize(
    "responses", [{200: Book, 201: Book}, {200: {"description": "", "content": {"text/plain": {}}}}]
)
async def test_there_is_no_output_schema_unless_all_successful_responses_have_it(responses: Any):
    app = Kit()
    app.get("/", tool()(describe(responses=responses)(answering())))
    mcp(app)
    assert "outputSchema" not in (await list_tools(app))["answer"]


async def test_a_schema_with_data_that_looks_like_a_reference_keeps_it():
    app = Kit()
    schema = {
        "type": "object",
        "properties": {"a": {"const": {"$ref": "#/components/schemas/No"}}},
        "discriminator": {"propertyName": "a"},
    }
    response = {"description": "", "content": {"application/json": {"schema": schema}}}
    app.get("/", tool()(describe(responses={200: response})(answering())))
    mcp(app)
    found = (await list_tools(app))["answer"]["outputSchema"]
    assert found == {
        "type": "object",
        "properties": {"a": {"const": {"$ref": "#/components/schemas/No"}}},
    }


async def test_typed_endpoints_are_tools_as_well():
    app = Kit()

    @app.post("/add/:number")
    @tool()
    @typed
    async def add(number: int, *, by: int = 1) -> dict[str, int]:
        """Adds."""
        return {"sum": number + by}

    mcp(app)
    assert (await call(app, "add", {"number": 40, "by": 2}))["structuredContent"] == {"sum": 42}


async def test_the_routes_of_a_part_are_tools_of_the_whole():
    books = Kit()
    books.get("/:id", tool()(answering()))
    app = Kit()
    app.route("/books", books)
    mcp(app.base_path("/api"))
    assert list(await list_tools(app, path="/api/mcp")) == ["answer"]
    assert text_of(await call(app, "answer", {"id": "7"}, path="/api/mcp")) == "yes"


async def test_routes_may_come_until_the_first_request():
    app = Kit()
    mcp(app)
    async with app.running():
        app.get("/a", tool()(answering()))
        assert list(await list_tools(app)) == ["answer"]


async def test_two_tools_of_one_name_are_refused():
    app = Kit()
    app.get("/a", tool(name="ask")(answering()))

    @app.get("/b")
    @tool(name="ask")
    async def other(c: Any) -> Any:
        return c.text("")

    mcp(app)
    assert await problem(app) == (
        "Two tools have the name 'ask': GET /a and GET /b; rename one of them with @tool(name=...)"
    )


async def test_an_ambiguous_operation_is_refused():
    part = Kit()
    part.get("/books", answering())
    app = Kit()
    app.route("/v1", part)
    app.route("/v2", part)
    mcp(app, operations="answer")
    assert await problem(app) == (
        "mcp(operations=...) has 'answer', which isn't the name of one operation alone: expected "
        "the id of one of them, get_v1_books (GET /v1/books), get_v2_books (GET /v2/books); "
        "describe(operation_id=...) sets other ids"
    )


async def test_an_id_that_is_the_name_of_another_function_is_refused():
    app = Kit()
    app.get("/a", answering())
    app.get("/b", describe(operation_id="answer")(lambda c: c.text("b")))
    mcp(app, operations="answer")
    found = await problem(app)
    assert "answer (GET /b)" in found
    assert "get_a (GET /a)" in found


async def test_an_operation_can_be_chosen_by_the_id_of_method_and_path():
    part = Kit()
    part.get("/books", answering())
    app = Kit()
    app.route("/v1", part)
    app.route("/v2", part)
    mcp(app, operations="get_v1_books")
    assert list(await list_tools(app)) == ["get_v1_books"]


async def test_unknown_operations_and_tags_are_refused():
    app = Kit()
    app.get("/a", describe(tags="read")(answering()))
    mcp(app, operations=["anser"])
    assert await problem(app) == (
        "mcp(operations=...) has 'anser', which isn't an operation of the app: expected some of "
        "answer"
    )
    app = Kit()
    mcp(app, tags=["write"])
    assert await problem(app) == (
        "mcp(tags=...) has 'write', which no operation of the app uses: expected some of none, "
        "as it has no tags"
    )


async def test_a_websocket_route_is_refused():
    app = Kit()

    @app.get("/ws")
    @tool()
    @upgrade_websocket
    async def ws(c: Any, ws: Any) -> None: ...

    mcp(app)
    assert await problem(app) == (
        "GET /ws can't be a tool: OpenAPI doesn't support WebSockets; remove @tool from its handler"
    )


async def test_a_hidden_route_and_middleware_are_refused():
    app = Kit()
    app.get("/a", tool()(describe(hidden=True)(answering())))
    mcp(app)
    assert await problem(app) == (
        "GET /a can't be a tool: it is middleware, or hidden from the document of the app; remove "
        "@tool from its handler"
    )


async def test_forms_are_refused():
    app = Kit()

    class Form(Struct):
        title: str

    app.post("/a", tool()(answering()), use=validator("form", Form))
    mcp(app)
    assert await problem(app) == (
        "POST /a can't be a tool: it takes a body of application/x-www-form-urlencoded or "
        "multipart/form-data, but tools send JSON; don't select it"
    )


async def test_an_operation_id_that_is_no_name_is_refused():
    app = Kit()
    app.get("/a", tool()(describe(operation_id="books:list")(answering())))
    mcp(app)
    assert await problem(app) == (
        "GET /a can't be a tool: its operation id 'books:list' has characters other than letters, "
        "digits, '_', '-' and '.', or more than 64; rename it with @tool(name=...)"
    )


async def test_a_get_route_with_a_body_is_refused():
    app = Kit()
    app.get("/a", tool()(describe(request_body=Book)(answering())))
    mcp(app)
    assert await problem(app) == (
        "GET /a can't be a tool: a GET request can't have a body; use POST"
    )


async def test_without_lifespan_a_wrong_choice_is_an_error_of_the_request():
    app = Kit()
    mcp(app, operations="no")
    response = await app.request("/mcp", method="POST", json={})
    assert response.status == 500


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"name": 1}, "tool(name=...) takes a str, not 1"),
        ({"name": "a b"}, "expected up to 64 letters, digits, '_', '-' and '.'"),
        ({"title": 1}, "tool(title=...) takes a str, not 1"),
        ({"description": 1}, "tool(description=...) takes a str, not 1"),
        ({"read_only": 1}, "tool(read_only=...) takes a bool, not 1"),
        ({"open_world": "no"}, "tool(open_world=...) takes a bool, not 'no'"),
    ],
)
def test_options_of_the_decorator_are_checked(options: dict[str, Any], error: str):
    with pytest.raises((TypeError, ValueError)) as caught:
        tool(**options)
    assert error in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"path": "mcp"}, "expected a path without parameters such as '/mcp'"),
        ({"path": "/:id"}, "expected a path without parameters such as '/mcp'"),
        ({"name": ""}, "mcp(name='') can't be used: expected a name such as 'Bookshelf'"),
        ({"version": 1}, "mcp(version=...) takes a str, not 1"),
        ({"instructions": 1}, "mcp(instructions=...) takes a str, not 1"),
        ({"operations": 1}, "mcp(operations=...) takes a str or a list of them, not 1"),
        ({"tags": [1]}, "mcp(tags=...) takes a str or a list of them, not a list with 1"),
        ({"stateless": 1}, "mcp(stateless=...) takes a bool, not 1"),
        ({"json_response": None}, "mcp(json_response=...) takes a bool, not None"),
        ({"forward_cookies": 1}, "mcp(forward_cookies=...) takes a bool, not 1"),
        ({"timeout": 0}, "mcp(timeout=0) can't be used: expected at least 0.001 seconds"),
        ({"max_result_size": 0}, "mcp(max_result_size=0) can't be used: expected at least 1 bytes"),
        ({"max_sessions": 0}, "mcp(max_sessions=0) can't be used: expected at least 1 sessions"),
        ({"session_idle_timeout": 0.5}, "expected at least 1 seconds"),
        ({"identify": 1}, "mcp(identify=...) takes a function (c), not 1"),
        ({"allowed_hosts": "https://example.com"}, "expected a host name in lower case"),
        ({"allowed_origins": "example.com"}, "expected only scheme, host and port, in lower"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: str):
    with pytest.raises((TypeError, ValueError)) as caught:
        mcp(Kit(), **options)
    assert error in str(caught.value)


def test_identify_is_about_sessions():
    def identify(c: Any) -> str:
        return ""

    with pytest.raises(ValueError, match="expected stateless=False with it, since it is for sess"):
        mcp(Kit(), identify=identify)


def test_an_app_is_returned():
    app = Kit()
    assert mcp(app) is app
