# SPDX-License-Identifier: MIT
"""Serves HTTP requests over RSGI, with the same responses as `kit._serving.http` over ASGI."""

from __future__ import annotations

from typing import Any

from kit._matching.matches import context_of
from kit._matching.plans import plan_for
from kit._serving.answering import answer_alone, new_context, sendable
from kit._serving.paths import BAD_TARGET_BODY, BAD_TARGET_LINES
from kit._serving.response import NOT_FOUND_BODY, NOT_FOUND_LINES
from kit._state.app_state import AppState
from kit._support.paths import encode_delimiters
from kit.compose import respond
from kit.context import Context, end_request
from kit.rsgi import RsgiHttp, RsgiScope

from .exchange import Exchange
from .response import header_pairs, send_response
from .scope import LazyScope


async def serve_http(state: AppState, source: RsgiScope, protocol: RsgiHttp) -> None:
    """Serves an HTTP request.

    SPEC: RSGI 1.6, "HTTP protocol".

    Args:
        state: The state of the app.
        source: The scope of the server.
        protocol: The protocol of the server.

    Raises:
        Exception: The exception that a streamed response raised after it had started.
    """
    method = source.method
    exchange = Exchange(source, protocol)
    scope = LazyScope(source)
    path = encode_delimiters(source.path) or "/"
    if path[0] != "/":  # PERF: is_target(), inlined; a `#` is encoded
        protocol.response_bytes(400, header_pairs(BAD_TARGET_LINES), BAD_TARGET_BODY)
        return
    if state.looks_at_requests:
        c: Context[Any, Any]
        c, _ = context_of(state, scope, exchange.receive, path)
        only = None
    else:
        plan = plan_for(state, method, path)
        if not plan[0][0] and state.has_plain_not_found and method != "HEAD":
            # PERF: as in `kit._serving.http.serve`.
            protocol.response_bytes(404, header_pairs(NOT_FOUND_LINES), NOT_FOUND_BODY)
            return
        c, only = new_context(state, scope, exchange.receive, path, plan)
    try:
        response = await (respond(c) if only is None else answer_alone(c, only))
        await send_response(sendable(response, c), protocol, c, method)
        exchange.finish()
    except BaseException as error:
        exchange.finish()
        await end_request(c, error)  # tasks were promised, whatever became of the response
        raise
    await end_request(c, None)
