# SPDX-License-Identifier: MIT
"""The header X-Powered-By of every response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import plugins
from kit.powered_by import powered_by

UNUSABLE = "can't be used: expected latin-1 text without control characters or surrounding spaces"
SHARED = Response("shared")


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def refuse(c: Context) -> Response:
    raise HTTPException(403, message="no")


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use(powered_by(**options))
    app.get("/", lambda c: c.text("Hello"))
    app.get("/own", lambda c: c.text("own", headers={"X-Powered-By": ["a", "b"]}))
    app.get("/shared", lambda c: SHARED)
    app.get("/fault", fail)
    app.get("/refused", refuse)
    return app


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/own", 200), ("/absent", 404), ("/fault", 500), ("/refused", 403)],
)
def test_every_response_has_the_header(run: Callable[..., Any], path: str, status: int) -> None:
    response = run(app_with().request, path)
    assert response.status == status
    assert response.headers.get_all("X-Powered-By") == ["Kit"]


@pytest.mark.parametrize("name", ["", "two words", "Kit/1.0", "café"])
def test_the_name_is_an_option(run: Callable[..., Any], name: str) -> None:
    response = run(app_with(server_name=name).request, "/")
    assert response.headers.get("X-Powered-By") == name
    assert run(response.text) == "Hello"


def test_a_response_that_handlers_share_is_left_as_it_is(run: Callable[..., Any]) -> None:
    response = run(app_with().request, "/shared")
    assert response.headers.get("X-Powered-By") == "Kit"
    assert not SHARED.headers.has("X-Powered-By")


def test_the_outer_one_of_two_counts(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(powered_by(server_name="outer"))
    app.use("/inner/*", powered_by(server_name="inner"))
    app.get("/inner/x", lambda c: c.text("x"))
    response = run(app.request, "/inner/x")
    assert response.headers.get_all("X-Powered-By") == ["outer"]


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        (7, TypeError, "powered_by(server_name=...) takes a str, not 7"),
        (None, TypeError, "powered_by(server_name=...) takes a str, not None"),
        (b"Kit", TypeError, "powered_by(server_name=...) takes a str, not b'Kit'"),
        (" a", ValueError, f"powered_by(server_name=' a') {UNUSABLE}"),
        ("a\r\nb: c", ValueError, rf"powered_by(server_name='a\r\nb: c') {UNUSABLE}"),
        ("a\0", ValueError, rf"powered_by(server_name='a\x00') {UNUSABLE}"),
        ("☃", ValueError, f"powered_by(server_name='☃') {UNUSABLE}"),
    ],
)
def test_a_wrong_name_is_refused(name: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        powered_by(server_name=name)
    assert str(raised.value) == text


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "powered-by") is powered_by
