# SPDX-License-Identifier: MIT
"""Sends one request to an ASGI app in process, and times many: for the sections of one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


async def ask(app: Any, scope: Mapping[str, Any], sent: bytes) -> tuple[int, bytes]:
    """Sends a request.

    Args:
        app: The ASGI app.
        scope: Its scope, which is copied.
        sent: The body.

    Returns:
        The status and the body of the answer.
    """
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    await app(dict(scope), receive, send)
    return messages[0]["status"], b"".join(message.get("body", b"") for message in messages[1:])


async def seconds_each(
    app: Any, scope: Mapping[str, Any], sent: bytes, count: int, clock: Callable[[], float]
) -> float:
    """Returns how many seconds of a clock a request takes, the mean of several.

    Args:
        app: The ASGI app.
        scope: See `ask`.
        sent: See `ask`.
        count: How many requests.
        clock: `time.perf_counter` or `time.process_time`.
    """
    began = clock()
    for _ in range(count):
        await ask(app, scope, sent)
    return max((clock() - began) / count, 1e-9)
