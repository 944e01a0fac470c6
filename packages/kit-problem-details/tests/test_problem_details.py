# SPDX-License-Identifier: MIT
"""Each error is a problem document, with its headers; what the app handles itself is not."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pytest

from kit import Context, HTTPException, Kit, Limits, Response
from kit.bearer_auth import bearer_auth
from kit.interface import ProblemError, RequestValidationError
from kit.openapi import build_document
from kit.problem_details import problem_details
from kit.typed import typed


class GoneError(Exception):
    def __init__(self, title: str) -> None:
        super().__init__(f"{title} is gone")
        self.title = title


class BusyError(HTTPException):
    pass


class VeryBusyError(BusyError):
    pass


def gone(error: GoneError, c: Context) -> ProblemError:
    return ProblemError(410, "Gone for good", type="/gone", book=error.title)


class Book(msgspec.Struct):
    title: Annotated[str, msgspec.Meta(min_length=1)]


def raising(error: Exception) -> Callable[[Context], Response]:
    def handler(c: Context) -> Response:
        raise error

    return handler


async def problem(app: Kit, path: str, method: str = "GET", **options: Any) -> dict[str, Any]:
    response = await app.request(path, method=method, **options)
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = await response.json()
    assert document["status"] == response.status
    return document


def made(error: Exception | None = None, **options: Any) -> Kit:
    app = Kit(method_not_allowed=True, limits=Limits(max_body_size_bytes=10))
    problem_details(app, **options)
    if error is not None:
        app.get("/", raising(error))
    return app


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (HTTPException(404), {"title": "Not Found", "status": 404}),
        (HTTPException(404, "No book"), {"title": "Not Found", "status": 404, "detail": "No book"}),
        (HTTPException(404, "404 Not Found"), {"title": "Not Found", "status": 404}),
        (HTTPException(404, "for logs", body="sent"), {"title": "Not Found", "detail": "sent"}),
        (HTTPException(418, "é"), {"title": "I'm a Teapot", "detail": "é"}),
        (ProblemError(409, "Sold out", left=0), {"title": "Sold out", "left": 0}),
        (ExceptionGroup("", [HTTPException(409, "a")]), {"title": "Conflict", "detail": "a"}),
        (
            RequestValidationError("query", [{"path": "a", "message": "b", "type": "c"}]),
            {"target": "query", "errors": [{"path": "a", "message": "b", "type": "c"}]},
        ),
    ],
)
async def test_exceptions(error: Exception, expected: dict[str, Any]) -> None:
    document = await problem(made(error), "/")
    assert {name: document[name] for name in expected} == expected


async def test_a_fault_tells_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    app = made(RuntimeError("secret"), types={500: "/fault"})
    with caplog.at_level(logging.ERROR, "kit"):
        document = await problem(app, "/")
    assert document == {"type": "/fault", "title": "Internal Server Error", "status": 500}
    assert "secret" in caplog.text


async def test_what_the_app_refuses_itself() -> None:
    app = made()
    app.post("/read", lambda c: c.req.text())
    assert await problem(app, "/none") == {"title": "Not Found", "status": 404}
    assert await problem(app, "/read") == {"title": "Method Not Allowed", "status": 405}
    document = await problem(app, "/read", "POST", body="x" * 11)
    assert (document["title"], document["status"]) == ("Content Too Large", 413)
    assert (await app.request("/read")).headers["allow"] == "OPTIONS, POST"


async def test_not_found_of_a_handler_keeps_headers_set_before() -> None:
    app = made()

    @app.get("/book")
    async def book(c: Context) -> Response:
        c.header("x-a", "1")
        return await c.not_found()

    response = await app.request("/book")
    assert (response.status, response.headers["x-a"]) == (404, "1")
    assert response.headers["content-type"] == "application/problem+json"


async def test_headers_and_cookies_are_kept() -> None:
    app = made()
    app.use("/guarded", bearer_auth(token="t"))

    @app.get("/busy")
    async def busy(c: Context) -> Response:
        c.header("set-cookie", "a=b")
        headers = {"Retry-After": "3", "Content-Type": "text/plain", "Content-Length": "1"}
        raise HTTPException(503, "Busy", headers=headers)

    response = await app.request("/busy")
    assert [response.headers[name] for name in ("retry-after", "set-cookie")] == ["3", "a=b"]
    assert response.headers["content-type"] == "application/problem+json"
    assert (await response.json())["detail"] == "Busy"
    response = await app.request("/guarded")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert (await response.json())["status"] == response.status == 401


async def test_a_text_in_a_response_of_its_own() -> None:
    """As guards have it."""
    res = Response("No", headers=[("WWW-Authenticate", "X"), ("ETag", '"a"')])
    res.headers.append("Set-Cookie", "a=1")
    res.headers.append("Set-Cookie", "b=2")
    response = await made(HTTPException(401, "No", res=res)).request("/")
    assert await response.json() == {"title": "Unauthorized", "status": 401, "detail": "No"}
    assert response.headers["www-authenticate"] == "X"
    assert response.headers.get_all("set-cookie") == ["a=1", "b=2"]
    assert "etag" not in response.headers


async def test_a_cookie_of_an_exception() -> None:
    error = HTTPException(401, "No", headers={"Set-Cookie": "a=1"})
    response = await made(error).request("/")
    assert response.headers.get_all("set-cookie") == ["a=1"]


async def test_a_head_has_no_body() -> None:
    response = await made().request("/none", method="HEAD")
    assert (response.status, await response.text()) == (404, "")
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "error",
    [
        HTTPException(404, res=Response.json({"own": 1})),
        HTTPException(404, body="<p>", headers={"Content-Type": "text/html"}),
        HTTPException(404, body=b"\x00"),
        HTTPException(302, headers={"Location": "/"}),
    ],
)
async def test_what_has_its_own_body_is_kept(error: HTTPException) -> None:
    plain = await Kit().get("/", raising(error)).request("/")
    response = await made(error).request("/")
    assert (response.status, await response.bytes()) == (plain.status, await plain.bytes())
    assert response.headers.get("content-type") == plain.headers.get("content-type")


async def test_types() -> None:
    types: Any = {404: "not-found", BusyError: "busy", GoneError: gone, 400: "https://x.example/a"}
    app = made(types=types, base="https://errors.example/v1/")
    app.get("/busy", raising(VeryBusyError(404))).get("/gone", raising(GoneError("Dune")))
    app.get("/own", raising(ProblemError(404, type="/own")))
    app.get("/int", lambda c: c.json(c.req.query("a", int)))
    assert (await problem(app, "/none"))["type"] == "https://errors.example/v1/not-found"
    assert (await problem(app, "/busy"))["type"] == "https://errors.example/v1/busy"
    assert (await problem(app, "/own"))["type"] == "/own"
    invalid = await problem(app, "/int?a=x")
    assert (invalid["type"], len(invalid["errors"])) == ("https://x.example/a", 1)
    assert await problem(app, "/gone") == {
        "type": "/gone",
        "title": "Gone for good",
        "status": 410,
        "book": "Dune",
    }


async def test_exceptions_with_a_function_are_no_faults(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "kit"):
        await problem(made(GoneError("Dune"), types={GoneError: gone}), "/")
    assert not caplog.records


async def test_a_function_keeps_the_headers_of_an_exception() -> None:
    error = BusyError(503, headers={"Retry-After": "3"})
    app = made(error, types={BusyError: lambda error, c: ProblemError(503, "Busy", wait=3)})
    response = await app.request("/")
    assert response.headers["retry-after"] == "3"
    assert (await response.json())["wait"] == 3


async def test_a_function_that_fails_is_a_plain_500(caplog: pytest.LogCaptureFixture) -> None:
    for wrong in (lambda error, c: 1 / 0, lambda error, c: "text"):
        app = made(GoneError("Dune"), types={GoneError: wrong})
        with caplog.at_level(logging.ERROR, "kit"):
            response = await app.request("/")
        assert response.status == 500
        assert caplog.records


async def test_handlers_of_the_app_take_precedence() -> None:
    app = Kit()

    @app.on_error(GoneError)
    def on_gone(error: GoneError, c: Context) -> Response:
        if error.title == "again":
            raise error
        return c.text("own", 410)

    @app.not_found()
    def not_found(c: Context) -> Response:
        return c.text("own", 404)

    problem_details(app, types={GoneError: gone})
    app.get("/gone", raising(GoneError("Dune"))).get("/no", raising(HTTPException(404)))
    for path in ("/gone", "/none"):
        assert await (await app.request(path)).text() == "own"
    assert (await problem(app, "/no"))["title"] == "Not Found"


async def test_what_on_error_raises_again_is_a_problem() -> None:
    app = Kit()

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        raise error

    problem_details(app)
    app.get("/", raising(HTTPException(409))).get("/fault", raising(RuntimeError()))
    assert (await problem(app, "/"))["status"] == 409
    assert (await problem(app, "/fault"))["status"] == 500


async def test_apps_within_apps() -> None:
    part = made(HTTPException(409), types={409: "/part", 404: "/part"})
    silent = Kit().get("/", raising(HTTPException(409)))
    app = Kit().route("/part", part).route("/silent", silent)
    assert (await problem(app, "/part"))["type"] == "/part"
    assert (await problem(app, "/part/none"))["type"] == "/part"
    for path in ("/silent", "/none"):
        response = await app.request(path)
        assert "problem" not in response.headers.get("content-type", "")
    outer = made(types={409: "/outer"})
    outer.route("/silent", Kit().get("/", raising(HTTPException(409))))
    part = made(HTTPException(409), types={409: "/part"})
    outer.route("/part", part).mount("/mounted", Kit().fetch)
    below = outer.base_path("/below").get("/", raising(HTTPException(409)))
    assert (await problem(outer, "/silent"))["type"] == "/outer"
    assert (await problem(outer, "/part"))["type"] == "/part"
    assert (await problem(below, "/below"))["type"] == "/outer"
    response = await outer.request("/mounted")
    assert response.headers["content-type"].startswith("text/plain")  # an app of its own


async def test_refused_handshakes() -> None:
    app = made(HTTPException(403, "No"))
    response = await app.request("/", headers={"upgrade": "websocket", "connection": "upgrade"})
    assert (await response.json())["detail"] == "No"


def test_the_document() -> None:
    app = Kit(validation_status=422)
    problem_details(app)

    @app.post("/books/:id{[0-9]+}", use=bearer_auth(token="t"))
    @typed
    def create(id: int, book: Book) -> None:
        raise HTTPException(409, "There is one")

    plain = Kit().get("/", lambda c: c.not_found())
    plain.get("/no", raising(HTTPException(404)))
    responses = build_document(app)["paths"]["/books/{id}"]["post"]["responses"]
    found = {
        status: answer["content"]["application/problem+json"]["schema"]["$ref"].rpartition("/")[2]
        for status, answer in responses.items()
        if status >= "4"
    }
    assert found.pop("422") == "ValidationProblem"
    assert {"401", "404", "409", "415"} <= found.keys()
    assert set(found.values()) == {"Problem"}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"types": [404]}, TypeError, "mapping"),
        ({"types": {"404": "a"}}, TypeError, "a status or a class"),
        ({"types": {True: "a"}}, TypeError, "a status or a class"),
        ({"types": {200: "a"}}, ValueError, "400 to 599"),
        ({"types": {404: 3}}, TypeError, "URI reference"),
        ({"types": {404: "a b"}}, ValueError, "isn't a URI"),
        ({"types": {404: ""}}, ValueError, "isn't a URI"),
        ({"types": {GoneError: "/gone"}}, TypeError, "has no status"),
        ({"types": {GoneError: lambda: None}}, TypeError, "(error, c)"),
        ({"base": 3}, TypeError, "absolute URI"),
        ({"base": "/errors/"}, ValueError, "absolute URI"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        problem_details(Kit(), **options)
    assert text in str(caught.value)


def test_async_functions_are_refused() -> None:
    async def later(error: Exception, c: Context) -> Any: ...

    with pytest.raises(TypeError, match="plain"):
        problem_details(Kit(), types={GoneError: later})


def test_no_app() -> None:
    with pytest.raises(TypeError, match="an app first"):
        problem_details(problem_details)  # type: ignore[arg-type]
