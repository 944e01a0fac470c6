# SPDX-License-Identifier: MIT
"""What RFC 10008 says of QUERY, in the packages that have a part in it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Struct

from kit import Context, Kit, Response
from kit.cache import MemoryStore, cache
from kit.cors import cors
from kit.csrf import csrf
from kit.etag import etag
from kit.http.media_types import format_accept_query
from kit.http.methods import READING_METHODS, SAFE_METHODS, STANDARD_METHODS
from kit.method_not_allowed import method_not_allowed
from kit.method_override import method_override
from kit.testing import test_client as client_of
from kit.typed import Body, Endpoints, Form
from kit.validator import validator

JSON = {"content-type": "application/json"}
FORMS = "application/x-www-form-urlencoded, multipart/form-data"


class Search(Struct):
    text: str
    most: int = 10


class Filter(Struct):
    text: str = ""


def searching_app() -> Kit:
    app = Kit(method_not_allowed=True)
    api = Endpoints(app)

    @api.query("/typed")
    async def typed(search: Search, page: int = 1) -> dict[str, Any]:
        return {"text": search.text, "page": page}

    @api.query("/optional")
    async def optional(filter: Filter | None = None) -> dict[str, Any]:
        return {"text": None if filter is None else filter.text}

    @api.query("/form")
    async def form(text: Annotated[str, Form()] = "") -> dict[str, Any]:
        return {"text": text}

    @api.query("/sql")
    async def sql(query: Annotated[bytes, Body(media_type="application/sql")]) -> dict[str, Any]:
        return {"text": query.decode()}

    @api.query("/raw")
    async def raw(query: Annotated[bytes, Body()] = b"") -> dict[str, Any]:
        return {"text": query.decode()}

    app.query("/validated", validator("json", Filter), lambda c: c.json(c.req.valid("json")))
    return app


async def query(app: Kit, path: str, body: str | None = None, kind: str | None = None) -> Response:
    headers = {} if kind is None else {"content-type": kind}
    content = None if body is None else body.encode()
    return await app.request(path, {"method": "QUERY", "headers": headers, "body": content})


# --- Content ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "kind", "text"),
    [
        ("/typed?page=2", '{"text": "dune"}', "application/json", "dune"),
        ("/optional", '{"text": "dune"}', "application/vnd.search+json", "dune"),
        ("/optional", "", "application/json", None),
        ("/form", "text=dune", "application/x-www-form-urlencoded", "dune"),
        ("/sql", "select 1", "application/sql", "select 1"),
        ("/raw", "dune", "text/plain", "dune"),
        ("/validated", '{"text": "dune"}', "application/json", "dune"),
    ],
)
async def test_the_content_is_read(path: str, body: str, kind: str, text: str | None) -> None:
    response = await query(searching_app(), path, body, kind)
    assert response.status == 200
    assert (await response.json())["text"] == text


@pytest.mark.parametrize("body", [None, "", "{}"])
@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("/typed", "application/json"),
        ("/optional", "application/json"),
        ("/form", "multipart/form-data, application/x-www-form-urlencoded"),
        ("/sql", "application/sql"),
        ("/raw", "*/*"),
        ("/validated", "application/json"),
    ],
)
async def test_no_content_type_is_a_400(path: str, accepted: str, body: str | None) -> None:
    """Section 2.1: it is incorrect by definition, whatever the content is."""
    response = await query(searching_app(), path, body)
    assert response.status == 400
    assert response.headers["accept-query"] == accepted
    assert "There is no Content-Type" in (await response.json())["detail"]


@pytest.mark.parametrize("body", ["", "<a/>"])
@pytest.mark.parametrize("path", ["/typed", "/optional", "/form", "/validated"])
async def test_another_content_type_is_a_415(path: str, body: str) -> None:
    response = await query(searching_app(), path, body, "application/xml")
    assert response.status == 415
    assert response.headers["accept-query"]


async def test_content_of_another_type_than_declared_is_a_400() -> None:
    response = await query(searching_app(), "/typed", "<a/>", "application/json")
    assert response.status == 400


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        ("/typed", "application/json"),
        ("/form", FORMS),
        ("/validated", "application/json"),
    ],
)
async def test_options_tell_what_is_accepted(path: str, accepted: str) -> None:
    response = await searching_app().request(path, method="OPTIONS")
    assert response.headers["accept-query"] == accepted
    assert response.headers["allow"] == "OPTIONS, QUERY"


@pytest.mark.parametrize(
    ("ranges", "value"),
    [
        (["application/jsonpath", "text/*"], "application/jsonpath, text/*"),
        (["*/*"], "*/*"),
        (["3gpp/a"], '"3gpp/a"'),
        (["application/sql;charset=UTF-8"], "application/sql;charset=UTF-8"),
        (['text/x; note="a b"'], 'text/x;note="a b"'),
    ],
)
def test_accept_query_is_a_structured_field(ranges: list[str], value: str) -> None:
    assert format_accept_query(ranges) == value


# --- Middleware ---------------------------------------------------------------------------------


def test_one_place_says_what_methods_mean() -> None:
    assert "QUERY" in READING_METHODS < SAFE_METHODS < STANDARD_METHODS


async def test_csrf_checks_it_all_the_same() -> None:
    """A handler for all methods may take it for a POST, and browsers tell where it comes from."""
    app = searching_app()
    guarded = Kit()
    guarded.use(csrf())
    guarded.route("/", app)
    for site, status in (("same-origin", 200), ("cross-site", 403)):
        headers = {**JSON, "sec-fetch-site": site}
        init: Any = {"method": "QUERY", "headers": headers, "body": '{"text": "dune"}'}
        assert (await guarded.request("/typed", init)).status == status


def test_no_post_becomes_one() -> None:
    """As for GET: it would turn a form, which may change something, into a request that may not."""
    with pytest.raises(ValueError, match="methods that change something"):
        method_override(app=Kit(), methods=["QUERY"])


async def test_a_405_of_the_middleware_allows_it() -> None:
    app = Kit()
    app.use(method_not_allowed(app=app))
    app.query("/", lambda c: c.text("found"))
    response = await app.request("/")
    assert (response.status, response.headers["allow"]) == (405, "QUERY")


async def test_browsers_ask_before_they_send_it() -> None:
    app = Kit()
    app.use(cors(origin="https://app.example"))
    app.query("/", lambda c: c.text("found"))
    headers = {"origin": "https://app.example", "access-control-request-method": "QUERY"}
    asked = await app.request("/", method="OPTIONS", headers=headers)
    assert "QUERY" in asked.headers["access-control-allow-methods"].split(",")


async def test_responses_are_stored_and_validated_by_content_and_type() -> None:
    app = Kit()
    app.use(cache(cache_name="searches", store=MemoryStore()))
    app.use(etag())
    calls = 0

    @app.query("/")
    async def search(c: Context) -> Response:
        nonlocal calls
        calls += 1
        kind = c.req.header("content-type")
        headers = {"cache-control": "max-age=60"}
        return c.text(f"{kind} {await c.req.text()}", headers=headers)

    async def ask(body: str, kind: str, **headers: str) -> Response:
        content = {"content-type": kind, "content-length": str(len(body)), **headers}
        return await app.request("/", {"method": "QUERY", "headers": content, "body": body})

    first = await ask("a", "text/plain")
    for body, kind, expected in (("a", "text/plain", 1), ("b", "text/plain", 2), ("a", "x/y", 3)):
        response = await ask(body, kind)
        assert (await response.text(), calls) == (f"{kind} {body}", expected)
    again = await ask("a", "text/plain", **{"if-none-match": first.headers["etag"]})
    assert again.status == 304


# --- Clients ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [
        (301, "QUERY", "dune"),
        (302, "QUERY", "dune"),
        (303, "GET", ""),
        (307, "QUERY", "dune"),
        (308, "QUERY", "dune"),
    ],
)
async def test_the_test_client_follows_redirects(status: int, method: str, body: str) -> None:
    """Section 2.5: only a 303 makes it a GET."""
    app = Kit()
    app.query("/old", lambda c: c.redirect("/new", status))

    @app.on(["GET", "QUERY"], "/new")
    async def new(c: Context) -> Response:
        return c.text(f"{c.req.method} {await c.req.text()}")

    client = client_of(app, follow_redirects=True)
    response = await client.old.query(content="dune", headers={"content-type": "text/plain"})
    assert await response.text() == f"{method} {body}"
    response = await client.query("/new", json={"text": "dune"}, query={"page": 1})
    assert await response.text() == 'QUERY {"text":"dune"}'
