# SPDX-License-Identifier: MIT
"""Middleware packages around each other, where one could undo what the other does."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.cors import cors
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.timeout import timeout
from kit.timing import timing

ORIGIN = "https://app.example.com"


async def slow(c: Context) -> Response:
    await anyio.sleep_forever()
    return c.text("never")


def app_with(*middleware: Any) -> Kit:
    return Kit().use(*middleware).get("/slow", slow).get("/fast", lambda c: c.text("fast"))


@pytest.mark.parametrize("origin", ["*", ORIGIN, lambda origin, c: origin])
async def test_a_script_can_read_that_a_timeout_further_out_has_answered(origin: Any) -> None:
    app = app_with(timeout(0.01), cors(origin=origin))
    response = await app.request("/slow", {"headers": {"origin": ORIGIN}})
    assert response.status == 504
    allowed = response.headers.get("access-control-allow-origin")
    assert allowed == ("*" if origin == "*" else ORIGIN)
    assert response.headers.get("vary") == (None if origin == "*" else "Origin")


@pytest.mark.parametrize(
    ("request_init", "status"),
    [
        ({"headers": {"origin": ORIGIN}}, 401),
        ({"headers": {"origin": ORIGIN, "authorization": "Bearer s3cret"}}, 504),
        (
            {
                "method": "POST",
                "headers": {"origin": ORIGIN, "content-length": "9"},
                "body": "too large",
            },
            413,
        ),
    ],
)
async def test_every_refusal_has_the_headers_of_the_middleware_outside(
    request_init: Any, status: int
) -> None:
    app = app_with(
        request_id(),
        timing(),
        secure_headers(),
        cors(origin=ORIGIN),
        body_limit(max_size=8),
        bearer_auth(token="s3cret"),
        timeout(0.01),
    )
    response = await app.request("/slow", request_init)
    assert response.status == status
    assert response.headers.get("access-control-allow-origin") == ORIGIN
    assert response.headers.get("x-content-type-options") == "nosniff"
    assert response.headers.has("x-request-id")
    assert response.headers.has("server-timing")
