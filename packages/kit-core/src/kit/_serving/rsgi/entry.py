# SPDX-License-Identifier: MIT
"""Serves what an RSGI server received."""

from __future__ import annotations

from functools import cache
from typing import Any

from kit._state.app_state import AppState

from .http import serve_http


def serve_rsgi(state: AppState, scope: Any, protocol: Any) -> Any:
    """Returns the coroutine that serves a request or a WebSocket.

    Args:
        state: The state of the app.
        scope: The scope of the server.
        protocol: The protocol of the server.
    """
    if scope.proto == "http":
        return serve_http(state, scope, protocol)
    return _websocket_server()(state, scope, protocol)


@cache
def _websocket_server() -> Any:
    """Imports `serve_rsgi_websocket` with the first connection."""
    from .websocket import serve_rsgi_websocket

    return serve_rsgi_websocket
