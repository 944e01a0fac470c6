# SPDX-License-Identifier: MIT
"""What is sent for exceptions that nothing handles."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.factory import create_factory


def as_json(error: Exception, c: Context) -> HTTPException | None:
    if isinstance(error, KeyError):
        return HTTPException(409, "known")
    if isinstance(error, HTTPException) and error.status == 418:
        return None
    status = error.status if isinstance(error, HTTPException) else 500
    return HTTPException(status, body=f"own {status}", headers={"x-path": c.req.path})


def failing(error: Exception) -> Any:
    def handler(c: Context) -> Response:
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (HTTPException(403, "no"), 403, "own 403"),
        (HTTPException(418, "tea"), 418, "tea"),
        (RuntimeError(), 500, "own 500"),
        (KeyError(), 409, "known"),
        (ExceptionGroup("", [HTTPException(403)]), 403, "own 403"),
    ],
)
async def test_exceptions(
    error: Exception, status: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    app: Kit = Kit().get("/", failing(error)).format_errors(as_json)
    with caplog.at_level(logging.ERROR, "kit"):
        response = await app.request("/")
    assert (response.status, await response.text()) == (status, text)
    assert bool(caplog.records) == (status == 500)


async def test_paths_without_a_route() -> None:
    app: Kit = Kit(method_not_allowed=True).post("/", lambda c: c.text(""))
    app.format_errors(as_json)
    response = await app.request("/none")
    assert (response.status, response.headers["x-path"]) == (404, "/none")
    response = await app.request("/")
    assert (await response.text(), response.headers["x-path"]) == ("own 405", "/")


async def test_middleware_sees_the_exception_itself() -> None:
    seen: list[Any] = []
    error = RuntimeError()
    app: Kit = Kit().format_errors(as_json)

    @app.use()
    async def watch(c: Context, next: Any) -> None:
        await next()
        seen.extend((c.error, c.res.status))

    app.get("/", failing(error))
    await app.request("/")
    assert seen == [error, 500]


@pytest.mark.parametrize("wrong", [lambda error, c: "text", lambda error, c: 1 / 0])
async def test_a_function_that_fails(wrong: Any, caplog: pytest.LogCaptureFixture) -> None:
    for error in (RuntimeError("first"), HTTPException(403)):
        app: Kit = Kit().get("/", failing(error)).format_errors(wrong)
        response = await app.request("/")
        assert (response.status, await response.text()) == (500, "Internal Server Error")
        assert caplog.records
    app = Kit().format_errors(wrong)
    assert (await app.request("/none")).status == 500


async def test_the_function_of_an_app() -> None:
    app: Kit = Kit()
    assert app.error_format is None
    below = app.format_errors(as_json).base_path("/x")
    assert app.error_format is below.error_format is as_json
    part: Kit = Kit().get("/", failing(HTTPException(403)))
    part.format_errors(lambda error, c: HTTPException(403, "part"))
    app.route("/part", part)
    assert await (await app.request("/part")).text() == "part"
    assert await (await app.request("/part/none")).text() == "part"
    assert await (await app.request("/none")).text() == "own 404"
    with pytest.raises(RuntimeError, match="format_errors"):
        part.format_errors(as_json)


def test_functions_that_cannot_be_called() -> None:
    for wrong in (None, lambda: None, 3):
        with pytest.raises(TypeError, match="format_errors"):
            Kit().format_errors(wrong)  # type: ignore[arg-type]


def test_a_factory_sets_it() -> None:
    factory = create_factory(lambda app: app.format_errors(as_json))
    assert factory.create_app().error_format is as_json


@pytest.mark.parametrize("path", ["/broken", "/nowhere"])
@pytest.mark.parametrize("wrong", ["text", Response("text")])
async def test_another_result_is_an_error_also_without_a_route(
    path: str, wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(c: Context) -> Response:
        raise HTTPException(418)

    app = Kit().get("/broken", fail).format_errors(lambda error, c: wrong)
    assert (await app.request(path)).status == 500
    assert "format_errors() takes a function that returns an HTTPException" in caplog.text
