# SPDX-License-Identifier: MIT
"""The OpenAPI document, compared with RealWorld's."""

from __future__ import annotations

from typing import Any

import pytest
from conduit import documentation
from conduit.testing import Client

from kit import Kit

# From https://github.com/realworld-apps/realworld (MIT), its OpenAPI document 1.1.0: for each
# operation its statuses, what its bodies have to have, and whether it takes a token.
USER = {"user": {"email", "token", "username", "bio", "image"}}
PROFILE = {"profile": {"username", "bio", "image", "following"}}
SUMMARY = {
    "slug",
    "title",
    "description",
    "tagList",
    "createdAt",
    "updatedAt",
    "favorited",
    "favoritesCount",
    "author",
}
ARTICLE = {"article": SUMMARY | {"body"}}
ARTICLES = {"articles": SUMMARY, "articlesCount": set()}
COMMENT_FIELDS = {"id", "createdAt", "updatedAt", "body", "author"}
COMMENT = {"comment": COMMENT_FIELDS}
COMMENTS = {"comments": COMMENT_FIELDS}
TAGS: dict[str, set[str]] = {"tags": set()}
OPEN, REQUIRED = False, True
REALWORLD: list[tuple[str, str, str, bool, Any, Any]] = [
    ("post", "/users/login", "200 401 422", OPEN, {"user": {"email", "password"}}, USER),
    ("post", "/users", "201 422", OPEN, {"user": {"username", "email", "password"}}, USER),
    ("get", "/user", "200 401 422", REQUIRED, None, USER),
    ("put", "/user", "200 401 422", REQUIRED, {"user": set()}, USER),
    ("get", "/profiles/{username}", "200 401 422", OPEN, None, PROFILE),
    ("post", "/profiles/{username}/follow", "200 401 422", REQUIRED, None, PROFILE),
    ("delete", "/profiles/{username}/follow", "200 401 422", REQUIRED, None, PROFILE),
    ("get", "/articles/feed", "200 401 422", REQUIRED, None, ARTICLES),
    ("get", "/articles", "200 401 422", OPEN, None, ARTICLES),
    (
        "post",
        "/articles",
        "201 401 422",
        REQUIRED,
        {"article": {"title", "description", "body"}},
        ARTICLE,
    ),
    ("get", "/articles/{slug}", "200 422", OPEN, None, ARTICLE),
    ("put", "/articles/{slug}", "200 401 422", REQUIRED, {"article": set()}, ARTICLE),
    ("delete", "/articles/{slug}", "204 401 422", REQUIRED, None, None),
    ("get", "/articles/{slug}/comments", "200 401 422", OPEN, None, COMMENTS),
    (
        "post",
        "/articles/{slug}/comments",
        "200 401 422",
        REQUIRED,
        {"comment": {"body"}},
        COMMENT,
    ),
    ("delete", "/articles/{slug}/comments/{id}", "204 401 422", REQUIRED, None, None),
    ("post", "/articles/{slug}/favorite", "200 401 422", REQUIRED, None, ARTICLE),
    ("delete", "/articles/{slug}/favorite", "200 401 422", REQUIRED, None, ARTICLE),
    ("get", "/tags", "200 422", OPEN, None, TAGS),
]
QUERIES = {
    "/articles": {"tag", "author", "favorited", "limit", "offset"},
    "/articles/feed": {"limit", "offset"},
}
# What an API answers beside: RealWorld's texts have 403 and 404, its document hasn't.
MORE = {"401", "403", "404", "413", "415", "429"}


@pytest.fixture(scope="module")
def document(app: Kit) -> dict[str, Any]:
    return documentation.document(app)


async def test_it_is_served(api: Client, document: dict[str, Any]) -> None:
    response = await api.app.request("/openapi.json")
    assert await response.json() == document


def resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found


def required_of(document: dict[str, Any], body: dict[str, Any]) -> dict[str, set[str]]:
    """Returns the members of a body, each with the required fields of its value or its items."""
    schema = resolved(document, body["content"]["application/json"]["schema"])
    assert {*schema["required"]} == {*schema["properties"]}
    found = {}
    for name, inner in schema["properties"].items():
        each = resolved(document, inner.get("items", inner))
        found[name] = {*each.get("required", ())}
    return found


async def test_the_operations_are_those_of_realworld(document: dict[str, Any]) -> None:
    own = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert own == {(method, f"/api{path}") for method, path, *_ in REALWORLD}


@pytest.mark.parametrize(
    ("method", "path", "statuses", "needs_token", "request_body", "response"), REALWORLD
)
async def test_an_operation_says_what_that_of_realworld_does(
    document: dict[str, Any],
    method: str,
    path: str,
    statuses: str,
    needs_token: bool,
    request_body: Any,
    response: Any,
) -> None:
    operation = document["paths"][f"/api{path}"][method]
    own, theirs = {*operation["responses"]}, {*statuses.split()}
    assert theirs <= own
    assert own <= theirs | MORE
    requirements = operation.get("security") or [{}]
    assert ({} not in requirements) is needs_token
    assert {name for each in requirements for name in each} <= {"Token"}
    success = operation["responses"][statuses.split()[0]]
    assert (required_of(document, success) if response else "content" in success) == (
        response or False
    )
    if request_body is not None:
        assert operation["requestBody"]["required"]
        assert required_of(document, operation["requestBody"]) == request_body
    assert ("requestBody" in operation) is (request_body is not None)
    parameters = operation.get("parameters", ())
    asked = {each["name"] for each in parameters if each["in"] == "query"}
    assert asked == QUERIES.get(path if method == "get" else "", set())


async def test_errors_are_documented_in_their_form(document: dict[str, Any]) -> None:
    form = {"$ref": "#/components/schemas/ErrorResponse"}
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert response["content"]["application/json"]["schema"] == form


async def test_tokens_are_documented(document: dict[str, Any]) -> None:
    scheme = document["components"]["securitySchemes"]["Token"]
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "header", "Authorization")


@pytest.mark.parametrize("path", ["/docs", "/livez", "/readyz", "/metrics"])
async def test_routes_beside_the_api(api: Client, path: str) -> None:
    assert (await api.app.request(path)).status == 200
