# SPDX-License-Identifier: MIT
"""Redaction of queries, and how WebSocket connections ended.

What else is in `kit.authoring.instrumentation` is tested where it is used.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, quote

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Next
from kit.authoring.instrumentation import SECRET_NAMES, Observation, Outcome, redact_query
from kit.websocket import WebSocket, WebSocketDisconnectedError, upgrade_websocket


@pytest.mark.parametrize(
    ("query", "redacted"),
    [
        ("", ""),
        ("a=1&b=2", "a=1&b=2"),
        ("token=x&a=1&token=y", "token=REDACTED&a=1&token=REDACTED"),
        ("Access_Token=x", "Access_Token=REDACTED"),
        ("%74oken=x&+token=x", "%74oken=REDACTED&+token=REDACTED"),
        ("token[]=x&token%5Bid%5D=y", "token[]=REDACTED&token%5Bid%5D=REDACTED"),
        (
            "user[password]=x&user.password=y&a[b][otp]=z",
            "user[password]=REDACTED&user.password=REDACTED&a[b][otp]=REDACTED",
        ),
        ("newPassword=x&user[name]=y", "newPassword=REDACTED&user[name]=y"),
        ("token", "token"),
        ("token=a=b", "token=REDACTED"),
        ("tokens=x&&=", "tokens=x&&="),
        ("%ff=x", "%ff=x"),
    ],
)
def test_redact_query(query: str, redacted: str) -> None:
    assert redact_query(query) == redacted


def test_own_names() -> None:
    assert redact_query("token=x&key=y", {"key"}) == "token=x&key=REDACTED"
    assert redact_query("token=x", ()) == "token=x"


_NAMES = st.one_of(st.sampled_from(sorted(SECRET_NAMES)), st.text(max_size=8))


@given(st.lists(st.tuples(_NAMES, st.just("s3cr3t"))))
def test_no_secret_is_left(pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{quote(name)}={value}" for name, value in pairs)
    redacted = parse_qsl(redact_query(query), keep_blank_values=True)
    assert len(redacted) == len(parse_qsl(query, keep_blank_values=True))
    for name, value in redacted:
        if name in SECRET_NAMES:
            assert value == "REDACTED"


async def returns(c: Context, ws: WebSocket) -> None:
    pass


async def sends_to_a_client_that_left(c: Context, ws: WebSocket) -> None:
    await ws.send("x")


async def sends_in_a_task(c: Context, ws: WebSocket) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(ws.send, "x")


async def raises(c: Context, ws: WebSocket) -> None:
    raise ValueError("a fault")


async def raises_after_the_client_left(c: Context, ws: WebSocket) -> None:
    try:
        await ws.send("x")
    finally:
        raise ValueError("a fault")


async def uses_another_connection(c: Context, ws: WebSocket) -> None:
    raise WebSocketDisconnectedError(1001)  # as `other.send()` does


@pytest.mark.parametrize(
    ("handler", "ending", "error"),
    [
        (returns, "complete", type(None)),
        (sends_to_a_client_that_left, "disconnected", WebSocketDisconnectedError),
        (sends_in_a_task, "disconnected", ExceptionGroup),
        (raises, "failed", ValueError),
        (raises_after_the_client_left, "failed", ValueError),
        (uses_another_connection, "failed", Exception),
    ],
)
def test_how_a_websocket_connection_ended(handler: Any, ending: str, error: type) -> None:
    outcomes: list[Outcome] = []

    async def observed(c: Context, next: Next) -> None:
        observation = Observation(c, outcomes.append)
        await next()
        observation.responded()

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        if message["type"] == "websocket.send":
            raise ConnectionResetError("the client has left")

    app = Kit().use(observed).get("/", upgrade_websocket(handler))
    anyio.run(app, {"type": "websocket", "path": "/", "headers": []}, receive, send)
    [outcome] = outcomes
    assert (outcome.status, outcome.ending) == (101, ending)
    assert isinstance(outcome.error, error)
