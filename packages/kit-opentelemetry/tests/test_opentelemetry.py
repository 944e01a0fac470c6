# SPDX-License-Identifier: MIT
"""The header X-Opentelemetry of every response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.interface import plugins
from kit.opentelemetry import opentelemetry

UNUSABLE = "can't be used: expected latin-1 text without control characters and blanks at its ends"


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use(opentelemetry(**options))
    app.get("/", lambda c: c.text("Hello"))
    app.get("/fault", fail)
    return app


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/absent", 404), ("/fault", 500)])
def test_every_response_has_the_header(run: Callable[..., Any], path: str, status: int) -> None:
    response = run(app_with().request, path)
    assert response.status == status
    assert response.headers.get("X-Opentelemetry") == "yes"


def test_the_value_is_an_option(run: Callable[..., Any]) -> None:
    response = run(app_with(value="two words").request, "/")
    assert response.headers.get("X-Opentelemetry") == "two words"
    assert run(response.text) == "Hello"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (7, TypeError, "opentelemetry(value=...) takes a str, not 7"),
        ("", ValueError, f"opentelemetry(value='') {UNUSABLE}"),
        (" a", ValueError, f"opentelemetry(value=' a') {UNUSABLE}"),
        ("a\r\nb: c", ValueError, rf"opentelemetry(value='a\r\nb: c') {UNUSABLE}"),
        ("☃", ValueError, f"opentelemetry(value='☃') {UNUSABLE}"),
    ],
)
def test_a_wrong_value_is_refused(value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        opentelemetry(value=value)
    assert str(raised.value) == text


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "opentelemetry") is opentelemetry
