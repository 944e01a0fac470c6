# SPDX-License-Identifier: MIT
"""The handler that passes a request on to another framework."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

from kit.authoring.maybe_await import call, settle
from kit.authoring.signatures import copy_names, describe, parameter_names
from kit.context import Context
from kit.interface import HTTPException, Next
from kit.interface.metadata import attach
from kit.request import KitRequest, clone_raw_request
from kit.router.patterns import parse_parameter, split_pattern
from kit.web import URL, Request, Response
from kit.web._body import put, take
from kit.web._paths import encode_dropped

_RESOLVED = re.compile(r"\\|(?:\A|/)(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)


def mounted_handler(
    call: str, application_handler: Any, option_handler: Any, replace_request: Any
) -> Callable[[Context[Any, Any], Next], Awaitable[Response | None]]:
    """Returns the handler of a mounted application; see `Kit.mount` for the arguments.

    Args:
        call: The call, for errors.
        application_handler: See `Kit.mount`.
        option_handler: See `Kit.mount`.
        replace_request: See `Kit.mount`.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    _check(call, application_handler, option_handler, replace_request)
    own_options = getattr(application_handler, "__kit_options__", None)  # see kit.interface.hooks
    if own_options is not None and option_handler is not None:
        raise TypeError(
            f"{call}: {describe(application_handler)} has options of its own, so it takes no "
            "option_handler"
        )
    option_handler = option_handler or own_options

    async def mounted(c: Context[Any, Any], next: Next) -> Response | None:
        _refuse_resolved(c.req)
        request = await _request_with_body(c.req)
        if replace_request is None:
            handed_on = _moved(request, *_find_place(c))
        elif replace_request is False:
            handed_on = request
        else:
            handed_on = await settle(replace_request(request), replace_request)
        c.req._hand_on(handed_on)
        arguments = await _arguments(c, option_handler)
        response = await settle(application_handler(handed_on, *arguments), application_handler)
        if response is None:
            # The application may have left the body unread for later handlers.
            if request.body_used and not handed_on.body_used:
                put(request, take(handed_on))
            await next()
        return response  # type: ignore[no-any-return]  # the caller checks the type

    copy_names(mounted, application_handler)
    mounted.__wrapped__ = application_handler  # type: ignore[attr-defined]
    return attach(mounted, mounted=True)


def _check(call: str, application_handler: Any, option_handler: Any, replace_request: Any) -> None:
    if not callable(application_handler):
        raise TypeError(f"{call} takes a function (request, ...), not {application_handler!r:.100}")
    if _is_asgi(application_handler):
        raise TypeError(f"{call} was given an ASGI application: put kit.asgi.from_asgi() around it")
    for name, value in (("option_handler", option_handler), ("replace_request", replace_request)):
        allowed = name == "replace_request" and value is False
        if value is not None and not allowed and not callable(value):
            raise TypeError(f"{call}: {name} must be a function, not {value!r:.100}")


def _find_place(c: Context[Any, Any]) -> tuple[str, str]:
    """Returns the pattern of the prefix, and the path that the wildcard after it matches."""
    handlers, *captured = c._match
    route, params = handlers[c.req.route_index]
    prefix: str = route.path.removesuffix("*").rstrip("/")
    # Count segments, since the prefix may contain parameters.
    segments = prefix.count("/")
    if "{" in prefix:
        parts = split_pattern(prefix)
        segments = len(parts)
        for part in parts:
            parameter = parse_parameter(part)
            if parameter is not None and parameter.expression is not None:
                # The parameter may have matched several segments. Encoded slashes don't separate.
                value = params[parameter.name]
                segments += (captured[0][value] if captured else value).count("/")
    return prefix, "/" + "/".join(c.req.path.split("/")[segments + 1 :])


def _refuse_resolved(req: KitRequest) -> None:
    """Refuses a path that URL parsers would resolve, since it could bypass middleware.

    Raises:
        HTTPException: 400.
    """
    raw = req.raw
    # With a `get_path`, the server's path may differ from the routing path.
    served = raw.scope.get("path", "") if raw.scope is not None and not raw.is_moved else ""
    if _RESOLVED.search(req.path) or _RESOLVED.search(served):
        raise HTTPException(400, "The path has dot segments or backslashes")


async def _arguments(c: Context[Any, Any], option_handler: Any) -> list[Any]:
    if option_handler is None:
        try:
            return [c.env, c.execution_ctx]
        except RuntimeError:  # there is no execution context
            return [c.env, None]
    options = await call(option_handler, c)
    return list(options) if isinstance(options, (list, tuple)) else [options]


async def _request_with_body(req: KitRequest) -> Request:
    """Returns the raw request with its body, even if a handler has read it."""
    if not req.raw.body_used:
        return req.raw
    try:
        return await clone_raw_request(req)
    except TypeError:  # it was read directly, so the content wasn't stored
        return req.raw


def _moved(request: Request, pattern: str, path: str) -> Request:
    """Returns the request with a new path; the removed part becomes its root path."""
    parsed = URL(request.url)
    escaped = encode_dropped(path).replace("?", "%3F").replace("#", "%23")
    moved = URL(f"{parsed.origin}{escaped}{parsed.search}{parsed.hash}")
    prefix = _prefix(parsed.pathname, moved.pathname)
    root = request.root_path
    # SPEC: ASGI: the path includes the root path; hypercorn leaves it out.
    if request.is_below_root_path or not f"{prefix}/".startswith(f"{root}/"):
        prefix = root + prefix
    pattern = request.root_pattern + pattern
    return request.replace(url=moved.href, root_path=prefix, root_pattern=pattern)


def _prefix(whole: str, rest: str) -> str:
    """Returns the decoded part of an encoded path before `rest`; "" if `rest` isn't its end.

    Compares segments, since their encoding may differ.
    """
    if rest == "/" and not whole.endswith("/"):
        return unquote(whole)
    segments = whole.split("/")
    cut = len(segments) - rest.count("/")
    return unquote("/".join(segments[:cut])) if cut > 1 else ""


def _is_asgi(application: Any) -> bool:
    """Returns whether an object takes `(scope, receive, send)`."""
    return any(
        {"scope", "receive", "send"} <= {*parameter_names(function)}
        for function in (application, type(application).__call__)
    )
