# SPDX-License-Identifier: MIT
"""Options for whole documents: webhooks, transformations, and several documents of one app."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec
import pytest
from openapi_spec_validator import validate

from kit import Context, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.interface.metadata import attach
from kit.openapi import RouteOperation, build_document, describe, openapi
from kit.typed import typed


class Book(msgspec.Struct):
    title: str


class User(msgspec.Struct):
    name: str


def returning(kind: Any) -> Any:
    @describe(responses={200: kind})
    def handler(c: Context) -> Response:
        return c.json([])

    return handler


async def served(app: Kit, path: str = "/openapi.json") -> Any:
    return await (await app.request(path)).json()


# --- webhooks ----------------------------------------------------------------------------------


def test_webhooks_are_types_descriptions_functions_and_path_items() -> None:
    @typed
    def book_removed(book: Book) -> None:
        """A book was removed.

        Tells every shop.
        """

    @describe(request_body=User, operation_id="greet")
    def user_added(c: Context) -> None:
        """A user was added."""

    document = build_document(
        Kit().get("/", describe(operation_id="book_added")(lambda c: c.text(""))),
        webhooks={
            "book.added": Book,
            "book.removed": book_removed,
            "user.added": user_added,
            "user.renamed": describe(
                summary="Renamed", request_body=User, responses={200: User, 410: "Stop"}
            ),
            "all": {
                "description": "Everything",
                "put": list[Book],
                "get": {"responses": {"200": {"description": "Alive"}}},
            },
        },
    )
    validate(document)
    webhooks = document["webhooks"]
    book = {"content": {"application/json": {"schema": ref("Book")}}, "required": True}
    accepted = {"2XX": {"description": "The request was accepted"}}
    assert webhooks["book.added"]["post"] == {
        "summary": "Book added",
        "operationId": "book_added_webhook",
        "requestBody": book,
        "responses": accepted,
    }
    removed = webhooks["book.removed"]["post"]
    assert (removed["summary"], removed["description"]) == (
        "A book was removed",
        "Tells every shop.",
    )
    assert removed["operationId"] == "book_removed"
    assert removed["requestBody"] == book
    assert {*removed["responses"]} == {"204"}  # not the errors of this app
    added = webhooks["user.added"]["post"]
    assert (added["summary"], added["operationId"]) == ("A user was added", "greet")
    renamed = webhooks["user.renamed"]["post"]
    assert renamed["operationId"] == "user_renamed"
    assert {status: each["description"] for status, each in renamed["responses"].items()} == {
        "200": "OK",
        "410": "Stop",
    }
    everything = webhooks["all"]
    assert {*everything} == {"description", "put", "get"}
    assert everything["put"]["operationId"] == "all"
    assert everything["get"] == {"responses": {"200": {"description": "Alive"}}}
    assert {*document["components"]["schemas"]} == {"Book", "User"}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_webhooks_have_the_schemas_of_what_is_sent() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Item(pydantic.BaseModel):
        size: int = 1

        @pydantic.computed_field  # type: ignore[untyped-decorator]
        @property
        def area(self) -> int:
            return self.size**2

    document = build_document(
        Kit(), webhooks={"added": describe(request_body=Item, responses={200: Item})}
    )
    operation = document["webhooks"]["added"]["post"]
    schemas = document["components"]["schemas"]
    sent = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    received = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert "area" in schemas[sent.rpartition("/")[2]]["properties"]
    assert "area" not in schemas[received.rpartition("/")[2]]["properties"]


def test_id_of_a_webhook_that_another_operation_has() -> None:
    app = Kit().get("/", describe(operation_id="a")(lambda c: c.text("")))
    webhooks = {"x": describe(operation_id="a")}
    with pytest.raises(ValueError, match="The webhook 'x' has the operation_id 'a', which another"):
        build_document(app, webhooks=webhooks)


# --- other options -----------------------------------------------------------------------------


def test_members_of_the_document() -> None:
    app = Kit()
    app.get("/", lambda c: c.text("x"))
    app.get("/open", describe(security=[])(lambda c: c.text("x")))
    app.get("/own", lambda c: c.text("x"), use=bearer_auth(token="s3cret"))
    document = build_document(
        app,
        info={
            "title": "Shelf",
            "version": "2",
            "contact": {"email": "ada@example.com"},
            "license": {"name": "MIT", "identifier": "MIT"},
            "x-logo": "/logo.svg",
        },
        external_docs="https://example.com",
        security_schemes={"login": {"type": "openIdConnect", "openIdConnectUrl": "/oidc"}},
        security=[{"login": ["read"]}, {"type": "apiKey", "in": "header", "name": "X-Key"}],
        extensions={"x-tagGroups": [{"name": "All", "tags": []}]},
        webhooks={"added": Book},
    )
    validate(document)
    assert document["externalDocs"] == {"url": "https://example.com"}
    assert document["security"] == [{"login": ["read"]}, {"X-Key": []}]
    assert document["webhooks"]["added"]["post"]["security"] == []
    assert {*document["components"]["securitySchemes"]} == {"X-Key", "bearer", "login"}
    assert document["x-tagGroups"] == [{"name": "All", "tags": []}]
    assert "security" not in document["paths"]["/"]["get"]
    assert document["paths"]["/open"]["get"]["security"] == []
    assert document["paths"]["/own"]["get"]["security"] == [{"bearer": []}]
    assert document["info"]["license"] == {"name": "MIT", "identifier": "MIT"}


async def test_a_transformation_is_called_once() -> None:
    seen: list[Any] = []

    def add_logo(document: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.01)  # so that the requests below overlap
        seen.append(document["openapi"])
        document["info"]["x-logo"] = {"size": (1, 2)}
        return {**document, "paths": {"/a": document["paths"]["/a"]}}

    app = Kit().get("/a", lambda c: c.text("")).get("/b", lambda c: c.text(""))
    openapi(app, docs=None, transform=add_logo)
    for document in await asyncio.gather(served(app), served(app)):
        assert document["info"]["x-logo"] == {"size": [1, 2]}
        assert [*document["paths"]] == ["/a"]
    assert seen == ["3.1.1"]


@pytest.mark.parametrize(
    ("returned", "kind", "text"),
    [
        (None, TypeError, "returned None: expected the document, a mapping"),
        ([], TypeError, "returned []: expected the document, a mapping"),
        ({"openapi": "3.1.1", "info": {}}, ValueError, "returned a document without 'paths'"),
        ({"info": {}, "paths": {}}, ValueError, "returned a document without 'openapi'"),
        (
            {"openapi": "3.1.1", "info": {"title": "x", "version": "1"}, "paths": []},
            TypeError,
            "returned a document with [] as 'paths'",
        ),
        (
            {"openapi": "3.1.1", "info": {"title": "x"}, "paths": {}},
            ValueError,
            "without a text as 'version' in its 'info'",
        ),
        ({"openapi": object()}, TypeError, "returned a document that isn't JSON: "),
    ],
)
def test_results_of_a_transformation_that_are_not_documents(
    returned: Any, kind: type[Exception], text: str
) -> None:
    def change_all(document: dict[str, Any]) -> Any:
        return returned

    with pytest.raises(kind) as caught:
        build_document(Kit(), transform=change_all)
    assert text in str(caught.value)
    assert "build_document(transform=...): " in str(caught.value)
    assert "change_all" in str(caught.value)


def test_a_transformation_that_nothing_awaits() -> None:
    async def later(document: dict[str, Any]) -> dict[str, Any]:
        return document

    with pytest.raises(TypeError, match=r"transform=\.\.\.\) takes a plain function"):
        build_document(Kit(), transform=later)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a plain function"):
        build_document(Kit(), transform=lambda document: later(document))  # type: ignore[arg-type, return-value]


# --- several documents -------------------------------------------------------------------------


def shop() -> Kit:
    app = Kit()
    app.get("/v1/books", describe(deprecated=True)(returning(list[Book])))
    app.get("/v2/books", returning(list[Book]))
    app.get("/v2/users", describe(tags=["admin"])(returning(list[User])))
    return app


async def test_documents_of_one_app_have_their_own_operations_and_types() -> None:
    app = shop()
    openapi(app, info={"title": "One", "version": "1"}, path="/v1.json", docs=None, include="/v1/*")
    openapi(app, path="/public.json", docs=None, exclude="admin")
    openapi(app, path="/admin.json", docs=None, include=["admin", "/v1/books"])
    openapi(
        app,
        path="/new.json",
        docs=None,
        include=lambda operation: "/v2/" in operation.path and not operation.tags,
    )
    one, public, admin, new = [
        await served(app, path) for path in ("/v1.json", "/public.json", "/admin.json", "/new.json")
    ]
    assert [*one["paths"]] == ["/v1/books"]
    assert one["info"] == {"title": "One", "version": "1"}
    assert [*public["paths"]] == ["/v1/books", "/v2/books"]
    assert [*public["components"]["schemas"]] == ["Book"]
    assert [*admin["paths"]] == ["/v1/books", "/v2/users"]
    assert [*admin["components"]["schemas"]] == ["Book", "User"]
    assert [*new["paths"]] == ["/v2/books"]
    # Ids are unique within each document, so they need no suffix.
    assert new["paths"]["/v2/books"]["get"]["operationId"] == "handler"


def test_a_filter_gets_operations_of_routes() -> None:
    seen: list[RouteOperation] = []
    part = Kit().get("/:id?", lambda c: c.text(""))
    app = Kit().route("/books", part)

    def note(operation: RouteOperation) -> bool:
        seen.append(operation)
        return False

    assert build_document(app, include=note)["paths"] == {}
    assert [each[:3] for each in seen] == [("GET", "/books/:id?", ("books",))] * 2
    assert seen[0].handler is app.routes[0].handler


def test_a_page_for_each_document() -> None:
    app = shop()
    openapi(app, path="/v1.json", docs="/v1/docs", include="/v1/*")
    with pytest.raises(ValueError, match=r"openapi\(docs='/v1/docs'\) can't be used: expected a"):
        openapi(app, path="/v2.json", docs="/v1/docs")
    app = shop()
    openapi(app, docs=None)
    with pytest.raises(ValueError, match=r"openapi\(path='/openapi.json'\) can't be used"):
        openapi(app, docs=None)
    openapi(app.base_path("/v1"), docs="/docs")


async def test_selections_that_mean_nothing_stop_the_start() -> None:
    for given, text in (
        ("admn", r"openapi\(exclude=\.\.\.\) has the tag 'admn', which no operation has"),
        ("/v3/*", r"openapi\(exclude=\.\.\.\) has the pattern '/v3/\*', which covers no operation"),
    ):
        app = openapi(shop(), docs=None, exclude=given)
        with pytest.raises(ValueError, match=text):
            await app.request("/v1/books")
    with pytest.raises(ValueError, match=r"build_document\(include=\.\.\.\) has the tag 'x'"):
        build_document(shop(), include=["admin", "x"])


# --- what doesn't fit the routes ---------------------------------------------------------------


def wrong_path_parameter(app: Kit) -> None:
    given = describe(parameters=[{"name": "number", "in": "path", "description": "x"}])
    app.get("/books/:id", given(lambda c: c.text("")))


def wrong_parameter_of_a_part(app: Kit) -> None:
    app.use("/books/*", describe(parameters=[{"name": "shop", "in": "path"}]))
    app.get("/books/:id", lambda c: c.text(""))


def wrong_facts(app: Kit) -> None:
    facts = {"parameters": [{"name": "q", "in": "body"}]}
    app.get("/books/:id", attach(lambda c: c.text(""), describes=facts))


def wrong_scheme(app: Kit) -> None:
    app.get("/books/:id", describe(security=[{"logn": []}])(lambda c: c.text("")))


def two_tags(app: Kit) -> None:
    for text in ("a", "b"):
        given = describe(tags=[{"name": "books", "description": text}])
        app.get(f"/{text}", given(lambda c: c.text("")))


@pytest.mark.parametrize(
    ("register", "text"),
    [
        (
            wrong_path_parameter,
            "GET /books/{id}: describe(parameters=...) has the path parameter 'number', which the",
        ),
        (wrong_parameter_of_a_part, "describe(parameters=...) has the path parameter 'shop'"),
        (wrong_facts, "GET /books/{id}: describe(parameters=...) has 'q' in 'body'"),
        (wrong_scheme, "the scheme 'logn', which openapi(security_schemes=...) doesn't have"),
        (two_tags, "the tag 'books' is described in two ways, for GET /a and for GET /b"),
    ],
)
@pytest.mark.parametrize("is_part", [False, True])
async def test_descriptions_that_do_not_fit_stop_the_start(
    register: Any, text: str, is_part: bool
) -> None:
    app = Kit()
    register(app)
    openapi(app, docs=None)
    app = Kit().route("/shop", app) if is_part else app
    with pytest.raises(ValueError, match="describe") as caught:
        await app.request("/")
    assert text in str(caught.value)


def test_a_path_parameter_that_some_routes_of_a_part_have() -> None:
    app = Kit().use(describe(parameters=[{"name": "id", "in": "path", "description": "x"}]))
    app.get("/", lambda c: c.text("")).get("/:id", lambda c: c.text(""))
    paths = build_document(app)["paths"]
    assert "parameters" not in paths["/"]["get"]
    assert paths["/{id}"]["get"]["parameters"][0]["description"] == "x"


async def test_the_start_of_an_app_without_descriptions_is_not_checked() -> None:
    def read(c: Context) -> Response:
        return c.text("read")

    app = openapi(Kit().get("/", read), docs=None)
    assert await (await app.request("/")).text() == "read"
    assert [*(await served(app))["paths"]] == ["/"]


def test_the_status_of_validation_errors_is_that_of_the_app() -> None:
    @typed
    def add(book: Book) -> Book:
        return book

    app = Kit(validation_status=422).post("/", add)
    app.on_error(lambda error, c: c.json({"why": str(error)}, 422))
    responses = build_document(app, errors=User)["paths"]["/"]["post"]["responses"]
    assert {*responses} == {"200", "415", "422"}
    assert responses["422"]["content"] == {"application/json": {"schema": ref("User")}}
