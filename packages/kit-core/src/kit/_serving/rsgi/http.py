# SPDX-License-Identifier: MIT
"""Serves HTTP requests of RSGI servers."""

from __future__ import annotations

from kit._engine.matching import context_of_scope
from kit._serving.paths import BAD_TARGET_BODY, BAD_TARGET_LINES, is_target
from kit._state.app_state import AppState
from kit._support.paths import encode_delimiters
from kit.context import end_request
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
    path = encode_delimiters(source.path) or "/"
    if not is_target(path):
        protocol.response_bytes(400, header_pairs(BAD_TARGET_LINES), BAD_TARGET_BODY)
        return
    exchange = Exchange(source, protocol)
    c = context_of_scope(state, LazyScope(source), exchange.receive, path)
    try:
        await c._run(c)
        await send_response(c, protocol)
        exchange.finish()
    except BaseException as error:
        exchange.finish()
        await end_request(c, error)  # tasks were promised, whatever became of the response
        raise
    await end_request(c, None)
