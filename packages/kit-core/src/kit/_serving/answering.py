# SPDX-License-Identifier: MIT
"""Handles requests that can't use the fast path of `serve`."""

from __future__ import annotations

from types import CoroutineType
from typing import Any

from kit._app.errors import answer_fault, handle_error
from kit._response.results import settle
from kit._state.app_state import AppState
from kit._state.plans import Plan
from kit.compose import respond
from kit.context import Context, claim, join, prepare
from kit.web import Response
from kit.web._body import USED, peek
from kit.web._response import BuiltResponse


def new_context(
    state: AppState, scope: Any, receive: Any, path: str, plan: Plan
) -> tuple[Context[Any, Any], Any]:
    """Returns the context of a request, and its handler if it has only one.

    Args:
        state: The state of the app.
        scope: The ASGI scope.
        receive: Returns the messages of the server.
        path: The routing path.
        plan: What to run.
    """
    match, only, _, _ = plan
    # The index marks the handler as run, for `respond`.
    index = -1 if only is None else 0
    return Context(state, scope, receive, path, match, None, index), only


async def answer_alone(c: Context[Any, Any], handler: Any) -> Response:
    """Calls the only matching handler. PERF: it has no middleware, so it is called directly."""
    try:
        response = handler(c)
        if response.__class__ is CoroutineType:
            response = await response
        if response.__class__ is not BuiltResponse:
            response = await settle(response, handler)
        if response is not None:
            response = claim(c, response, handler)
    except BaseException as error:
        return join(c, await handle_error(error, c))
    return await respond(c) if response is None else response


def sendable(response: Response, c: Context[Any, Any]) -> Response:
    """Returns a response, or an error response if its body was already read."""
    if peek(response) is not USED:
        prepare(c, response)
        return response
    return answer_fault(TypeError("The response can't be sent: its body was already read"), c)
