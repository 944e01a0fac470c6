# SPDX-License-Identifier: MIT
"""Serves HTTP requests: the code path of every request from a server."""

from __future__ import annotations

from functools import cache
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from kit._support.late import import_late
from kit.context import Context, accept, claim, end_request, join, prepare
from kit.web._body import USED
from kit.web._header_lines import length_line, length_lines
from kit.web._response import WITHOUT_CONTENT, BuiltResponse

if TYPE_CHECKING:
    from kit._app.errors import answer_fault, handle_error
    from kit._matching.matches import context_of
    from kit._response.results import settle
    from kit._state.app_state import AppState
    from kit._state.plans import Plan
    from kit.compose import chain_for, respond

    from .lifespan import serve_lifespan
    from .paths import bad_target, is_target, path_of_scope
    from .response import plain_not_found, send_response
    from .types import Receive, Scope, Send
else:
    import_late(globals(), "kit._app.errors", "answer_fault", "handle_error")
    import_late(globals(), "kit._matching.matches", "context_of")
    import_late(globals(), "kit._response.results", "settle")
    import_late(globals(), "kit.compose", "chain_for", "respond")
    import_late(globals(), "kit._serving.lifespan", "serve_lifespan")
    import_late(globals(), "kit._serving.paths", "bad_target", "is_target", "path_of_scope")
    import_late(globals(), "kit._serving.response", "plain_not_found", "send_response")

# PERF: searching bytes for a number is four times as fast as for b"%".
_PERCENT = ord("%")
# PERF: for a method of an imported name, CPython 3.11 makes a bound method at every call.
_known_length_line = length_lines.get
_LENGTH_0 = length_line(0)


# C901: every request passes through here, and each further function would cost it a call.
async def serve(  # noqa: C901
    state: AppState, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serves one ASGI 3 scope: http, websocket or lifespan.

    Args:
        state: The state of the app.
        scope: The scope.
        receive: Returns the messages of the server.
        send: Sends messages to the server.

    Raises:
        Exception: The exception that a streamed response raised after it had started.
        RuntimeError: If the type of the scope is unknown.
    """
    if scope["type"] != "http":
        await _serve_other(state, scope, receive, send)
        return
    method = scope["method"]
    path = scope["path"]
    # PERF: the scope's path can be used as it is, unless something in it was encoded.
    try:
        if scope["root_path"] or _PERCENT in scope["raw_path"] or not path:
            path = path_of_scope(scope)
    except (KeyError, TypeError):  # both keys are optional, and raw_path may be None
        path = path_of_scope(scope)
    plan: Plan | None
    if state.looks_at_requests:
        if not is_target(path):
            for message in bad_target():
                await send(message)
            return
        c, (match, only, start, last) = context_of(state, scope, receive, path)
    else:
        try:
            plan = state.plans.by_method[method].get(path)
        except KeyError:  # the first request, or a method without plans
            plan = None
        if plan is not None:
            match, only, start, last = plan
        else:
            # PERF: checked only here, since no plan is kept for other paths; is_target(), inlined.
            if path[0] != "/" or "#" in path:
                for message in bad_target():
                    await send(message)
                return
            # PERF: what plan_for() does, without the calls.
            match = state.find("GET" if method == "HEAD" else method, path)
            handlers = match[0]
            only, start, last = None, None, 0
            if handlers:
                if len(handlers) == 1 and not handlers[0][0].takes_next:
                    only = handlers[0][0].handler
                else:
                    known = state.chains.get(id(handlers))
                    start, last = known or chain_for(state.chains, handlers)
            plans = state.plans
            plans.until_next -= 1
            if plans.until_next <= 0:
                plans.keep(method, path, (match, only, start, last))
        if only is None and start is None and state.has_plain_not_found and method != "HEAD":
            # PERF: common for probes and crawlers. No handler runs, so no Context is built.
            for message in plain_not_found():
                await send(message)
            return
        c = Context(state, scope, receive, path, match)
    response: Any
    try:
        try:
            if only is not None:
                # PERF: a single handler has nothing around it, so it is called directly.
                c._index = 0
                response = only(c)
                if response.__class__ is CoroutineType:
                    response = await response
                if response.__class__ is not BuiltResponse:
                    response = await settle(response, only)
                if c._lines is not None and response is not None:
                    response = claim(c, response, only)
            elif start is not None:
                # PERF: does what respond() does, without its two coroutines when all goes well.
                handlers = match[0]
                try:
                    response = start(c)
                    if response.__class__ is CoroutineType:
                        response = await response
                    if response is not None:
                        if response.__class__ is not BuiltResponse:
                            response = await settle(response, handlers[0][0].handler)
                        if response is not None:
                            accept(c, response, handlers[0][0].handler)
                except BaseException as error:
                    c.res = await handle_error(error, c, handlers[min(c._index, last)][0])
                if c._index <= last:
                    c._next = None
                response = c._res if c._finalized and not c._failed else None
            else:
                response = None
        except BaseException as error:
            response = join(c, await handle_error(error, c))
        if response is None:
            response = await respond(c)
        body = response._body
        if body.__class__ is bytes and response._lines.__class__ is tuple and method != "HEAD":
            # PERF: nearly every response: bytes, and header lines that were never touched.
            await send(
                {
                    "type": "http.response.start",
                    "status": response._status,
                    "headers": [
                        *response._lines,
                        _known_length_line(len(body)) or length_line(len(body)),
                    ],
                }
            )
            await send({"type": "http.response.body", "body": body})
        elif body is None and response._lines.__class__ is tuple and method != "HEAD":
            # PERF: redirects, and what has nothing to say, such as a 204.
            status = response._status
            lines = [*response._lines]
            if status not in WITHOUT_CONTENT:
                lines.append(_LENGTH_0)
            await send({"type": "http.response.start", "status": status, "headers": lines})
            await send({"type": "http.response.body", "body": b""})
        else:
            if body is USED:
                fault = TypeError("The response can't be sent: its body was already read")
                response = answer_fault(fault, c)
            prepare(c, response)
            extensions = scope.get("extensions")
            await send_response(response, send, c._wait_for_disconnect, method, extensions)
    except BaseException as error:
        # Tasks were promised, whatever became of the response.
        await end_request(c, error)
        raise
    if c._execution_ctx is not None:
        await c._end()
    elif c._req is not None:
        reader = c._req._reader
        if reader is not None and reader.may_hold_files:
            c._close()


async def _serve_other(state: AppState, scope: Scope, receive: Receive, send: Send) -> None:
    """Serves a scope that isn't http."""
    if scope["type"] == "lifespan":
        await serve_lifespan(state.lifespan, receive, send)
    elif scope["type"] == "websocket":
        await _websocket_server()(state, scope, receive, send)
    else:
        raise RuntimeError(f"Kit can't serve the ASGI scope type {scope['type']!r}")


@cache
def _websocket_server() -> Any:
    """Imports `serve_websocket` with the first connection."""
    from .websocket import serve_websocket

    return serve_websocket
