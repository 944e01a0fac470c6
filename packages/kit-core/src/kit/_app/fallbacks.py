# SPDX-License-Identifier: MIT
"""Responses of an app if no handler responds: not found, method not allowed."""

from __future__ import annotations

from typing import Any

from kit._state.app_state import AppState
from kit._state.route import Route
from kit.context import Context
from kit.interface import METHOD_NAME_ALL, HTTPException
from kit.web import Response

from .errors import handle_error


async def answer_no_route(c: Context[Any, Any]) -> Response:
    """Returns the response to a request that no route handled.

    With `method_not_allowed`, and if the path has routes for other methods, that is a 405, or the
    response to OPTIONS (RFC 9110 sections 15.5.6 and 9.3.7). The 405 is an HTTPException that
    `on_error` can handle.
    """
    state = c._state
    if state.method_not_allowed and not any(_answers(route) for route in c.matched_routes):
        allowed = _allowed_methods(state, c.req.path)
        if allowed:
            headers = {"allow": ", ".join(allowed)}
            if c.req.method == "OPTIONS":
                return c.body(None, 204, headers)
            refusal = HTTPException(405, "405 Method Not Allowed", headers=headers)
            return await handle_error(refusal, c, is_of_path=True)
    return await c.not_found()


def _allowed_methods(state: AppState, path: str) -> list[str]:
    table = state.table
    allowed = {
        method
        for method in table.methods()
        if method != METHOD_NAME_ALL
        and any(_answers(route) for route, _ in table.router.match(method, path)[0])
    }
    if "GET" in allowed:
        allowed.add("HEAD")
    return sorted(allowed | {"OPTIONS"}) if allowed else []


def _answers(route: Route) -> bool:
    return not route.takes_next
