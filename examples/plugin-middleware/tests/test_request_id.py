# SPDX-License-Identifier: MIT
"""What a client and a handler see of the middleware."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from request_id_middleware import RequestIdVariables, request_id

from kit import Context, HTTPException, Kit, Response

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
LONGEST = "x" * 255


def app_with(**options: Any) -> Kit[Any, RequestIdVariables]:
    app = Kit[Any, RequestIdVariables]()
    app.use(request_id(**options))
    app.get("/", lambda c: c.text(c.var["request_id"]))
    return app


def ask(app: Kit[Any, Any], path: str = "/", **headers: str) -> tuple[int, str, str | None]:
    """Status, body and the id of the answer."""

    async def asked() -> tuple[int, str, str | None]:
        lines = [(name.replace("_", "-"), value) for name, value in headers.items()]
        response = await app.request(path, {"headers": lines})
        return response.status, await response.text(), response.headers.get("X-Request-Id")

    return asyncio.run(asked())


@pytest.mark.parametrize("sent", ["a", "7f3e-2", "Root=1-67:a/b+c_d.e==", LONGEST])
def test_the_id_of_the_client_is_kept(sent: str) -> None:
    assert ask(app_with(), X_Request_Id=sent) == (200, sent, sent)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param("", id="empty"),
        pytest.param(LONGEST + "x", id="too long"),
        pytest.param("a b", id="blank"),
        pytest.param("a, b", id="two values"),
        pytest.param('a"b', id="quotation"),
        pytest.param("a\tb", id="tab"),
        pytest.param("${jndi:x}", id="braces"),
        pytest.param("\xe4", id="no ASCII"),
        pytest.param("<script>", id="markup"),
    ],
)
def test_what_is_no_id_is_replaced(sent: str) -> None:
    status, body, answered = ask(app_with(), X_Request_Id=sent)
    assert (status, body) == (200, answered)
    assert UUID.fullmatch(body)


def test_two_lines_are_no_id() -> None:
    async def asked() -> str:
        lines = [("x-request-id", "a"), ("x-request-id", "b")]
        return await (await app_with().request("/", {"headers": lines})).text()

    assert UUID.fullmatch(asyncio.run(asked()))


def test_each_request_gets_its_own() -> None:
    app = app_with()
    ids = {ask(app)[1] for _ in range(20)}
    assert len(ids) == 20
    assert all(UUID.fullmatch(each) for each in ids)


def test_every_answer_has_it() -> None:
    app = app_with()

    @app.get("/raises")
    def raises(c: Context) -> Response:
        raise HTTPException(403, "no")

    @app.get("/breaks")
    def breaks(c: Context) -> Response:
        raise RuntimeError("broken")

    @app.get("/own")
    def own(c: Context) -> Response:
        return Response("own", headers={"x-request-id": "of another app"})

    for path, status in (("/raises", 403), ("/breaks", 500), ("/own", 200), ("/absent", 404)):
        assert ask(app, path, X_Request_Id="a7")[::2] == (status, "a7"), path


def test_options() -> None:
    assert ask(app_with(trust_client=False), X_Request_Id="a7")[1] != "a7"
    assert ask(app_with(max_length=2), X_Request_Id="abc")[1] != "abc"
    assert ask(app_with(max_length=3), X_Request_Id="abc")[1] == "abc"
    assert ask(app_with(generator=lambda: "n1")) == (200, "n1", "n1")
    app = app_with(header_name="X-Correlation-Id")
    assert ask(app, X_Correlation_Id="a7") == (200, "a7", None)


def test_it_bears_the_name_of_its_factory() -> None:
    assert request_id().__name__ == "request_id"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"header_name": 1}, TypeError, "request_id(header_name=...) takes a str, not 1"),
        (
            {"header_name": "X Id"},
            ValueError,
            "request_id(header_name=...) takes the name of a header, not 'X Id'",
        ),
        ({"max_length": True}, TypeError, "request_id(max_length=...) takes an int, not True"),
        ({"max_length": 0}, ValueError, "request_id(max_length=...) takes 1 or more, not 0"),
        ({"trust_client": 1}, TypeError, "request_id(trust_client=...) takes a bool, not 1"),
        ({"generator": "x"}, TypeError, "request_id(generator=...) takes a function, not 'x'"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        request_id(**options)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (7, "The generator of request_id returned 7, expected a str"),
        (
            "a\r\nb",
            "The generator of request_id returned 'a\\r\\nb', expected ASCII letters, digits and "
            "'._:=+/-'",
        ),
    ],
)
def test_a_wrong_generator_is_an_error_of_the_request(given: object, text: str) -> None:
    app = app_with(generator=lambda: given)
    errors: list[str] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        errors.append(str(error))
        return c.text("failed", 500)

    assert ask(app)[:2] == (500, "failed")
    assert errors == [text]
