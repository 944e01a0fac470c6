# SPDX-License-Identifier: MIT
"""Responds if no handler does: not found, method not allowed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from kit._routing.app_state import AppState
from kit._routing.route import Route
from kit.context import Context
from kit.http.media_types import JSON, MULTIPART, URLENCODED, format_accept_query
from kit.interface import METHOD_NAME_ALL, HTTPException
from kit.interface.metadata import get_facts
from kit.web import Response

from .errors import handle_error

# The media types of validated bodies that declare none.
_BODIES: dict[Any, tuple[str, ...]] = {"json": (JSON,), "form": (URLENCODED, MULTIPART)}


async def answer_no_route(c: Context[Any, Any]) -> Response:
    """Returns the response to a request that no route handled.

    With `method_not_allowed`, if the path has routes for other methods, this is a 405, or a 204 to
    OPTIONS (RFC 9110 sections 15.5.6 and 9.3.7), with the media types of a PATCH or QUERY if they
    are known (RFC 5789 section 3.1; RFC 10008 section 3). The 405 is an HTTPException that
    `on_error` can handle.
    """
    state, path = c._state, c._path
    if state.method_not_allowed_at(path) and not _have_handler(c._match[0]):
        allowed = _allowed_methods(state, path)
        if allowed:
            headers = {"allow": allowed}
            if c._method == "OPTIONS":
                if patched := _patch_media_types(state, path):
                    headers["accept-patch"] = patched
                if queried := _query_media_types(state, path):
                    headers["accept-query"] = format_accept_query(queried)
                return c.body(None, 204, headers)
            refusal = HTTPException(405, "405 Method Not Allowed", headers=headers)
            return await handle_error(refusal, c, is_of_path=True)
    return await c.not_found()


def _allowed_methods(state: AppState, path: str) -> str:
    """Returns the value of `Allow` for a path; an empty str if it has no routes."""
    match = state.table.router.match
    allowed = [
        method
        for method in state.table.methods()
        if method != METHOD_NAME_ALL and _have_handler(match(method, path)[0])
    ]
    return _allow(tuple(allowed)) if allowed else ""


def _patch_media_types(state: AppState, path: str) -> str:
    """Returns the value of `Accept-Patch` for a path; an empty str if no route declares it."""
    routes = [route for route, _ in state.table.router.match("PATCH", path)[0]]
    handlers = [route.handler for route in routes if not route.takes_next]
    return ", ".join(get_facts(handlers[0]).body_media_types) if handlers else ""


def _query_media_types(state: AppState, path: str) -> list[str]:
    """Returns the media types of a QUERY for a path; none if no route declares them."""
    found: dict[str, None] = {}
    for route, _ in state.table.router.match("QUERY", path)[0]:
        if route.method == "QUERY":
            facts = get_facts(route.handler)
            found.update(dict.fromkeys(facts.body_media_types))
            for target, kinds in _BODIES.items():
                if target in facts.validates and not facts.body_media_types:
                    found.update(dict.fromkeys(kinds))
    return [*found]


# An app has few combinations of methods.
@lru_cache
def _allow(methods: tuple[str, ...]) -> str:
    allowed = {*methods, "OPTIONS"}
    if "GET" in allowed:
        allowed.add("HEAD")
    return ", ".join(sorted(allowed))


def _have_handler(matched: Iterable[tuple[Route, Any]]) -> bool:
    """Returns whether the routes of a request include a handler, not only middleware."""
    return any(not route.takes_next for route, _ in matched)
