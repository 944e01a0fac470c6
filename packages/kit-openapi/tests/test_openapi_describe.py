# SPDX-License-Identifier: MIT
"""What `describe` adds to that which is found, on handlers and in front of parts."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import msgspec
import pytest
from openapi_spec_validator import validate

from kit import Context, HTTPException, Kit, Response
from kit.combine import every
from kit.interface.metadata import attach
from kit.openapi import build_document, describe
from kit.typed import Query, typed


class Book(msgspec.Struct):
    title: str


class Payment(msgspec.Struct):
    amount: int


def new_handler() -> Any:
    def handler(c: Context) -> Response:
        return c.json({}, 200)

    return handler


def operation(description: Any, path: str = "/books/:id") -> dict[str, Any]:
    """Returns the operation of a handler that reads a page, a header, and raises a 404."""

    def read(c: Context) -> Response:
        """Reads a book.

        Returns:
            The book.
        """
        page = c.req.query("page", int, default=1)
        if c.req.header("x-shelf") is None:
            raise HTTPException(404, "No such book")
        return c.json(Book(str(page)), 200)

    document = build_document(Kit().get(path, description(read)))
    validate(document)
    (found,) = document["paths"].values()
    (only,) = found.values()
    return {**only, "components": document.get("components", {})}


# --- parameters --------------------------------------------------------------------------------


def test_given_members_of_a_parameter_replace_those_that_were_found() -> None:
    found = operation(
        describe(
            parameters=[
                {"name": "page", "in": "query", "description": "From 1", "example": 2},
                {"name": "X-Shelf", "in": "header", "required": True},
                {"name": "id", "in": "path", "schema": int},
            ]
        )
    )
    assert found["parameters"] == [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
        {
            "name": "page",
            "in": "query",
            "schema": {"type": "integer", "default": 1},
            "description": "From 1",
            "example": 2,
        },
        {"name": "x-shelf", "in": "header", "schema": {"type": "string"}, "required": True},
    ]


def test_parameters_are_added_and_hidden() -> None:
    found = operation(
        describe(
            parameters=[
                {"name": "sort", "in": "query", "schema": list[str]},
                {"name": "filter", "in": "query", "content": {"application/json": Book}},
                {"name": "lang", "in": "cookie"},
                {"name": "x-shelf", "in": "header", "hidden": True},
            ]
        )
    )
    assert [(each["in"], each["name"]) for each in found["parameters"]] == [
        ("path", "id"),
        ("query", "page"),
        ("query", "sort"),
        ("query", "filter"),
        ("cookie", "lang"),
    ]
    *_, sort, filtered, lang = found["parameters"]
    assert sort["schema"] == {"type": "array", "items": {"type": "string"}}
    assert filtered == {
        "name": "filter",
        "in": "query",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
    }
    assert lang["schema"] == {"type": "string"}
    assert "Book" in found["components"]["schemas"]


def test_a_schema_replaces_the_style_of_the_one_that_was_found() -> None:
    @typed
    def read(words: Annotated[list[str], Query()]) -> None: ...

    given = describe(parameters=[{"name": "words", "in": "query", "schema": str}])
    found = build_document(Kit().get("/", given(read)))["paths"]["/"]["get"]["parameters"]
    assert found == [{"name": "words", "in": "query", "required": True, "schema": _TEXT}]


def test_parameters_of_a_path_with_optional_parts() -> None:
    given = describe(parameters=[{"name": "id", "in": "path", "description": "Its number"}])
    app = Kit().get("/books/:id?", given(new_handler())).put("/books/:number", new_handler())
    paths = build_document(app)["paths"]
    assert "parameters" not in paths["/books"]["get"]
    assert paths["/books/{id}"]["get"]["parameters"][0]["description"] == "Its number"


# --- responses and headers ---------------------------------------------------------------------


def test_a_description_keeps_the_body_that_was_found_and_the_other_way_round() -> None:
    @typed(status=201)
    def add(book: Book) -> Book:
        """Adds a book.

        Returns:
            The book as it is on the shelf.
        """
        return book

    def responses(given: Any) -> Any:
        app = Kit().post("/", describe(responses=given)(add))
        return build_document(app)["paths"]["/"]["post"]["responses"]

    book = {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}}
    assert responses({201: "Added"})["201"] == {"description": "Added", "content": book}
    text = "The book as it is on the shelf"
    payment = {"application/json": {"schema": {"$ref": "#/components/schemas/Payment"}}}
    assert responses({201: Payment})["201"] == {"description": text, "content": payment}
    links = {"read": {"operationId": "read"}}
    assert responses({201: {"links": links}})["201"] == {
        "description": text,
        "content": book,
        "links": links,
    }
    assert responses({201: None})["201"] == {"description": text}
    assert "content" in responses({400: "Not a book"})["400"]
    assert {*responses({409: "Twice"})} == {"201", "400", "409", "415"}


def test_a_description_of_a_plain_handler_keeps_its_media_type() -> None:
    found = operation(describe(responses={200: "A book", 404: "Gone", 503: "Closed"}))
    assert "content" in found["responses"].pop("400")
    assert found["responses"] == {
        "200": {"description": "A book", "content": {"application/json": {}}},
        "404": {"description": "Gone"},
        "503": {"description": "Closed"},
    }


def test_a_described_success_takes_the_place_of_those_that_were_found() -> None:
    assert {*operation(describe(responses={204: "Nothing"}))["responses"]} == {"204", "400", "404"}


def test_layers_describe_one_response_together() -> None:
    app = Kit()
    app.use(describe(responses={404: "No such book", 200: "A book"}))
    app.get("/", describe(responses={404: Book, 200: Book})(new_handler()))
    found = build_document(app)["paths"]["/"]["get"]["responses"]
    assert [each["description"] for each in found.values()] == ["A book", "No such book"]
    assert all("content" in each for each in found.values())


def test_headers_of_responses() -> None:
    found = operation(
        describe(
            headers={
                "X-Request-Id": "Identifies the request",
                "ETag": {"schema": str, "description": "Of the book"},
                200: {"etag": {"schema": int}, "Age": int},
                "4XX": {"X-Why": {"description": "The reason", "required": True}},
                202: {"Location": str},
            }
        )
    )["responses"]
    assert {*found} == {"200", "202", "400", "404"}
    request_id = {"description": "Identifies the request", "schema": {"type": "string"}}
    etag = {"schema": {"type": "string"}, "description": "Of the book"}
    assert found["200"]["headers"] == {
        "X-Request-Id": request_id,
        "ETag": {"schema": {"type": "integer"}},
        "Age": {"schema": {"type": "integer"}},
    }
    assert found["404"]["headers"] == {
        "X-Request-Id": request_id,
        "ETag": etag,
        "X-Why": {"description": "The reason", "required": True, "schema": {"type": "string"}},
    }
    assert found["202"] == {
        "description": "Accepted",
        "headers": {"Location": {"schema": {"type": "string"}}},
    }


def test_headers_of_a_response_object_and_of_middleware() -> None:
    app = Kit()
    app.use(describe(headers={"X-Id": str, 204: {"X-None": str}}))
    given = {200: {"headers": {"ETag": str}}}
    app.get("/", describe(responses=given)(new_handler()))
    found = build_document(app)["paths"]["/"]["get"]["responses"]
    assert found == {
        "200": {
            "description": "OK",
            "content": {"application/json": {}},
            "headers": {"ETag": {"schema": {"type": "string"}}, "X-Id": {"schema": _TEXT}},
        }
    }


_TEXT = {"type": "string"}


def test_references_stay_as_they_are() -> None:
    refs = {name: {"$ref": f"#/components/{name}/a"} for name in ("responses", "requestBodies")}
    given = describe(
        responses={200: refs["responses"]},
        request_body=refs["requestBodies"],
        headers={"ETag": str, 200: {"Age": int}},
        callbacks={"done": {"{$request.query.url}": {"$ref": "#/components/pathItems/a"}}},
    )
    found = build_document(Kit().post("/", given(new_handler())))["paths"]["/"]["post"]
    assert found["requestBody"] == refs["requestBodies"]
    assert found["responses"]["200"] == {"description": "OK", **refs["responses"]}
    assert found["callbacks"]["done"]["{$request.query.url}"] == {
        "$ref": "#/components/pathItems/a"
    }


# --- callbacks, extensions, other documentation ------------------------------------------------


def test_callbacks_describe_requests_that_the_app_sends() -> None:
    @typed
    def refunded(payment: Payment) -> None:
        """Tells that the payment was refunded."""

    found = operation(
        describe(
            callbacks={
                "paid": {
                    "{$request.query.url}": Payment,
                    "{$request.query.url}/refund": refunded,
                    "{$request.query.url}/all": {
                        "summary": "All events",
                        "put": describe(
                            summary="Sends all", request_body=list[Payment], responses={204: None}
                        ),
                        "delete": {"responses": {"200": {"content": {"text/csv": str}}}},
                    },
                }
            }
        )
    )
    payment = {"$ref": "#/components/schemas/Payment"}
    body = {"content": {"application/json": {"schema": payment}}, "required": True}
    accepted = {"2XX": {"description": "The request was accepted"}}
    urls = found["callbacks"]["paid"]
    assert urls["{$request.query.url}"] == {
        "post": {"summary": "Paid", "requestBody": body, "responses": accepted}
    }
    refund = urls["{$request.query.url}/refund"]["post"]
    assert refund["summary"] == "Tells that the payment was refunded"
    assert refund["requestBody"] == body
    assert {*refund["responses"]} == {"204"}
    assert urls["{$request.query.url}/all"] == {
        "summary": "All events",
        "delete": {
            "responses": {"200": {"content": {"text/csv": {"schema": _TEXT}}, "description": "OK"}}
        },
        "put": {
            "summary": "Sends all",
            "requestBody": {
                "content": {"application/json": {"schema": {"type": "array", "items": payment}}},
                "required": True,
            },
            "responses": {"204": {"description": "No Content"}},
        },
    }
    assert found["components"]["schemas"]["Payment"]["required"] == ["amount"]


def test_extensions_and_external_documentation() -> None:
    found = operation(
        describe(extensions={"x-cost": {"units": 2}}, external_docs="https://example.com/books")
    )
    assert found["x-cost"] == {"units": 2}
    assert found["externalDocs"] == {"url": "https://example.com/books"}
    both = {"url": "https://example.com", "description": "More"}
    assert operation(describe(external_docs=both))["externalDocs"] == both


def test_an_extension_that_json_does_not_have() -> None:
    app = Kit().get("/books", describe(extensions={"x-a": object()})(new_handler()))
    with pytest.raises(TypeError, match=r"GET /books: describe\(extensions=\.\.\.\) isn't JSON"):
        build_document(app)


def test_middleware_that_documents_itself() -> None:
    async def page(c: Context, next: Any) -> None:
        await next()

    attach(
        page,
        describes={
            "parameters": [{"name": "page", "in": "query", "schema": int}],
            "headers": {"X-Pages": int},
            "extensions": {"x-paged": True},
            "external_docs": "https://example.com/pages",
        },
    )
    app = Kit().get("/", page, describe(extensions={"x-own": 1})(new_handler()))
    found = build_document(app)["paths"]["/"]["get"]
    assert found["parameters"] == [{"name": "page", "in": "query", "schema": {"type": "integer"}}]
    assert found["responses"]["200"]["headers"] == {"X-Pages": {"schema": {"type": "integer"}}}
    assert (found["x-paged"], found["x-own"]) == (True, 1)
    assert found["externalDocs"] == {"url": "https://example.com/pages"}


# --- parts -------------------------------------------------------------------------------------


async def test_a_part_is_described_by_middleware_that_no_request_runs() -> None:
    ran: list[int] = []

    def count(c: Context) -> Response:
        ran.append(len(c.matched_routes))
        return c.json({}, 200)

    books = Kit()
    books.use(describe(tags=["shelf"], deprecated=True))
    books.get("/", count)
    books.get("/:id", describe(tags=["one"])(new_handler()))
    app = Kit().route("/books", books).get("/", new_handler())
    paths = build_document(app)["paths"]
    assert (paths["/books"]["get"]["tags"], paths["/books/{id}"]["get"]["tags"]) == (
        ["shelf"],
        ["one"],
    )
    assert paths["/books/{id}"]["get"]["deprecated"]
    assert not paths["/"]["get"].keys() & {"tags", "deprecated"}
    assert (await app.request("/books")).status == 200
    assert ran == [1]


async def test_a_description_of_some_paths() -> None:
    app = Kit()
    app.use("/admin/*", describe(hidden=True))
    app.get("/admin/users", new_handler())
    app.get("/admin/health", describe(hidden=False)(new_handler()))
    app.get("/", new_handler(), use=describe(tags=["home"]))
    paths = build_document(app)["paths"]
    assert {*paths} == {"/admin/health", "/"}
    assert paths["/"]["get"]["tags"] == ["home"]
    assert (await app.request("/admin/users")).status == 200


async def test_a_description_within_other_middleware() -> None:
    async def guard(c: Context, next: Any) -> None:
        c.header("x-guard", "ran")
        await next()

    app = (
        Kit()
        .use(every(describe(tags=["a"], headers={"X-Guard": str}), guard))
        .get("/", new_handler())
    )
    found = build_document(app)["paths"]["/"]["get"]
    assert found["tags"] == ["a"]
    assert "X-Guard" in found["responses"]["200"]["headers"]
    assert (await app.request("/")).headers.get("x-guard") == "ran"


async def test_a_description_that_covers_nothing_stops_the_start() -> None:
    app = (
        Kit()
        .get("/admin", new_handler())
        .use("/admin/*", describe(hidden=True))
        .get("/", new_handler())
    )
    with pytest.raises(ValueError, match=r"describe\(\.\.\.\) at '/admin/\*' describes nothing"):
        await app.request("/")
    app = Kit().get("/admin", describe(hidden=True))  # the handler is missing
    with pytest.raises(ValueError, match="'/admin' describes nothing"):
        await app.request("/")


def test_a_part_describes_its_tag() -> None:
    tag = {"name": "books", "description": "What is on the shelf"}
    books = Kit().use(describe(tags=[tag])).get("/", new_handler())
    app = Kit().route("/books", books).get("/", describe(tags=["home"])(new_handler()))
    document = build_document(app, tags=[{"name": "home"}])
    assert document["tags"] == [{"name": "home"}, tag]
    assert document["paths"]["/books"]["get"]["tags"] == ["books"]
    document = build_document(app, tags=[{"name": "books", "x-icon": "book"}, {"name": "home"}])
    assert document["tags"] == [{**tag, "x-icon": "book"}, {"name": "home"}]


def test_one_tag_described_twice() -> None:
    app = Kit()
    for text in ("One", "Two"):
        app.get(
            f"/{text}", describe(tags=[{"name": "a", "description": text}])(lambda c: c.text(""))
        )
    with pytest.raises(ValueError, match="the tag 'a' is described in two ways"):
        build_document(app)


# --- errors ------------------------------------------------------------------------------------


def test_only_responses_of_an_exception_class_are_described() -> None:
    with pytest.raises(TypeError, match=r"describe\(tags=\.\.\.\) can't describe .*BusyError"):

        @describe(tags=["a"], responses={409: None})
        class BusyError(HTTPException): ...


def test_an_app_is_described_by_its_own_middleware() -> None:
    with pytest.raises(TypeError, match=r"write app\.use\(describe\(\.\.\.\)\)"):
        describe(tags=["a"])(Kit())


async def test_a_description_of_a_mounted_app() -> None:
    other = Kit().get("/", new_handler())
    app = Kit().use("/other/*", describe(hidden=True)).mount("/other", other.fetch)
    assert (await app.request("/other")).status == 200


async def test_middleware_around_a_description_runs() -> None:
    description = describe(tags=["a"])

    @functools.wraps(description)
    async def count(c: Context, next: Any) -> None:
        c.header("x-count", "1")
        await description(c, next)

    app = Kit().use(count).get("/", new_handler())
    assert build_document(app)["paths"]["/"]["get"]["tags"] == ["a"]
    assert (await app.request("/")).headers.get("x-count") == "1"


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"tags": ["a", "a"]}, ValueError, "has the tag 'a' twice"),
        ({"tags": [{"title": "a"}]}, ValueError, "has the unknown member 'title'"),
        ({"tags": [{}]}, TypeError, "takes Tag Objects with a name, not {}"),
        ({"parameters": {"q": str}}, TypeError, "describe(parameters=...) takes a list such as"),
        ({"parameters": ["q"]}, TypeError, "takes Parameter Objects such as {'name': 'q'"),
        ({"parameters": [{"name": "q"}]}, ValueError, "expected one of 'query', 'header', 'path'"),
        ({"parameters": [{"name": "q", "in": "body"}]}, ValueError, "has 'q' in 'body'"),
        (
            {"parameters": [{"name": "q", "in": "query", "descripton": "x"}]},
            ValueError,
            "describe(parameters['q']=...) has the unknown member 'descripton'",
        ),
        (
            {"parameters": [{"name": "X-A", "in": "header"}, {"name": "x-a", "in": "header"}]},
            ValueError,
            "has the header parameter 'x-a' twice",
        ),
        ({"parameters": [{"name": "Accept", "in": "header"}]}, ValueError, "another header"),
        (
            {"parameters": [{"name": "id", "in": "path", "required": False}]},
            ValueError,
            "a path has all its parameters",
        ),
        (
            {"parameters": [{"name": "id", "in": "path", "hidden": True}]},
            ValueError,
            "a path has all its parameters",
        ),
        ({"responses": {200: {"desciption": "x"}}}, ValueError, "unknown member 'desciption'"),
        ({"responses": {200: {"content": str}}}, TypeError, "a mapping from media types"),
        (
            {"responses": {200: {"content": {"text/csv": {"scheme": str}}}}},
            ValueError,
            "describe(responses[200]['content']['text/csv']=...) has the unknown member 'scheme'",
        ),
        ({"responses": {200: {"headers": {"E Tag": str}}}}, ValueError, "a header name such as"),
        ({"responses": {200: {"headers": {200: {}}}}}, TypeError, "takes a mapping such as"),
        ({"request_body": {"contnt": {}}}, ValueError, "has the unknown member 'contnt'"),
        (
            {"parameters": [{"name": "q", "in": "query", "schema": str, "content": {}}]},
            ValueError,
            "has both 'schema' and 'content'",
        ),
        ({"parameters": [{"name": "q", "in": "query", "required": 1}]}, TypeError, "takes a bool"),
        ({"parameters": [{"name": "q", "in": "query", "schema": 5}]}, TypeError, "has 5: "),
        ({"headers": ["ETag"]}, TypeError, "takes a mapping such as {'ETag': str}"),
        ({"headers": {"E Tag": str}}, ValueError, "expected a header name such as 'ETag'"),
        ({"headers": {"Content-Type": str}}, ValueError, "expected another header"),
        ({"headers": {200: str}}, TypeError, "describe(headers[200]=...) takes a mapping such as"),
        ({"headers": {99: {}}}, TypeError, "takes a mapping such as"),
        ({"headers": {"ETag": {"type": "string"}}}, ValueError, "has the unknown member 'type'"),
        ({"headers": {"ETag": 5}}, TypeError, "describe(headers['ETag']=...) has 5: "),
        ({"callbacks": [Payment]}, TypeError, "takes a mapping such as {'paid'"),
        ({"callbacks": {"paid": Payment}}, TypeError, "takes a mapping such as {'paid'"),
        ({"callbacks": {"paid": {"x": None}}}, TypeError, "callbacks['paid']['x']=...) takes the"),
        ({"callbacks": {"paid": {"x": new_handler()}}}, TypeError, "says nothing of its request"),
        ({"callbacks": {"paid": {"x": {"psot": int}}}}, ValueError, "has the unknown member"),
        (
            {"callbacks": {"paid": {"x": {"post": {"sumary": "x"}}}}},
            ValueError,
            "describe(callbacks['paid']['x']['post']=...) has the unknown member 'sumary'",
        ),
        (
            {"callbacks": {"paid": {"x": {"post": {"responses": {200: int}}}}}},
            TypeError,
            "takes Response Objects by status",
        ),
        ({"callbacks": {"paid": {"x": {}}}}, ValueError, "expected an operation, such as"),
        ({"extensions": ["x-a"]}, TypeError, "takes a mapping such as {'x-internal'"),
        ({"extensions": {"internal": 1}}, ValueError, "expected names that begin with 'x-'"),
        ({"external_docs": 5}, TypeError, "takes a URL, or a mapping such as {'url'"),
        ({"external_docs": {"href": "x"}}, TypeError, "takes a URL, or a mapping such as {'url'"),
    ],
)
def test_wrong_calls_of_describe(options: dict[str, Any], kind: type, text: str) -> None:
    with pytest.raises(kind) as caught:
        describe(**options)
    assert text in str(caught.value)
