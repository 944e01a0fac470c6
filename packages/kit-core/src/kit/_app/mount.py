# SPDX-License-Identifier: MIT
"""The handler that hands a request on to another framework."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from kit._app.registration import Registration
from kit.context import Context
from kit.interface import HTTPException, Next
from kit.request import KitRequest
from kit.web import Headers, Request, Response
from kit.web._url import URL

_RESOLVED = re.compile(r"\\|(?:\A|/)(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)


def mounted_handler(
    call: str, application_handler: Any, option_handler: Any, replace_request: Any
) -> Callable[[Context[Any, Any], Next], Awaitable[Response | None]]:
    """Makes the handler of a mounted application; the arguments are those of `Kit.mount`.

    Args:
        call: The call, for errors.
        application_handler: See `Kit.mount`.
        option_handler: See `Kit.mount`.
        replace_request: See `Kit.mount`.

    Raises:
        TypeError: If an argument is of the wrong type.
    """
    _check(call, application_handler, option_handler, replace_request)

    async def mounted(c: Context[Any, Any], next: Next) -> Response | None:
        request = await _request_with_body(c.req)
        if replace_request is None:
            path = _rest_of_path(c)
            handed_on = _moved(request, _with_path(request.url, path))
        elif replace_request is False:
            handed_on = request
        else:
            handed_on = replace_request(request)
        response = application_handler(handed_on, *_arguments(c, option_handler))
        if hasattr(response, "__await__"):
            response = await response
        if response is None:
            # It may have left the body to the handlers behind.
            if request.body_used and not handed_on.body_used:
                request._body = handed_on._take()
            await next()
        return response  # type: ignore[no-any-return]  # what it is is checked by the caller

    mounted.__name__ = getattr(application_handler, "__name__", "mounted")
    mounted.__qualname__ = getattr(application_handler, "__qualname__", mounted.__qualname__)
    mounted.__wrapped__ = application_handler  # type: ignore[attr-defined]
    return mounted


def _check(call: str, application_handler: Any, option_handler: Any, replace_request: Any) -> None:
    if not callable(application_handler):
        raise TypeError(f"{call} takes a function (request, ...), not {application_handler!r:.100}")
    if isinstance(application_handler, Registration):
        raise TypeError(f"{call} was given a Kit app: use route(), or mount its fetch method")
    if _is_asgi(application_handler):
        raise TypeError(f"{call} was given an ASGI application: put kit.asgi.from_asgi() around it")
    for name, value in (("option_handler", option_handler), ("replace_request", replace_request)):
        allowed = name == "replace_request" and value in (False, None)
        if value is not None and not allowed and not callable(value):
            raise TypeError(f"{call}: {name} must be a function, not {value!r:.100}")


def _rest_of_path(c: Context[Any, Any]) -> str:
    """What the wildcard of the running route stands for, with a slash in front."""
    route = c._handlers[c.req.route_index][0]
    # By segments, since those in front may be parameters.
    segments = route.path.removesuffix("*").rstrip("/").count("/")
    return "/" + "/".join(c.req.path.split("/")[segments + 1 :])


def _arguments(c: Context[Any, Any], option_handler: Any) -> list[Any]:
    if option_handler is None:
        has_context = c._receive is not None or c._execution_ctx is not None
        return [c.env, c.execution_ctx if has_context else None]
    options = option_handler(c)
    return list(options) if isinstance(options, (list, tuple)) else [options]


async def _request_with_body(req: KitRequest) -> Request:
    """The raw request, with its body even if a handler has read that."""
    raw = req.raw
    if not raw.body_used or req._reader is None:
        return raw
    request = _moved(raw, raw.url)
    request._body = await req.bytes()
    return request


def _moved(raw: Request, url: str) -> Request:
    """The request with another URL. It takes the body, unless that was read."""
    request = Request.__new__(Request)
    request._method = raw.method
    request._url = url
    request._headers = Headers(raw.headers)
    request._received = raw._received
    request._body = raw._body
    request.scope = raw.scope
    request._whole_url = getattr(raw, "_whole_url", raw.url)
    if not raw.body_used:
        raw._take()
    return request


def _with_path(url: str, path: str) -> str:
    # A URL would resolve them, and lead past middleware that was matched by the path as it is.
    if _RESOLVED.search(path):
        raise HTTPException(400, "The path has dot segments or backslashes")
    parsed = URL(url)
    escaped = path.replace("?", "%3F").replace("#", "%23")
    return URL(f"{parsed.origin}{escaped}{parsed.search}{parsed.hash}").href


def _is_asgi(application: Any) -> bool:
    """Whether something is called with `(scope, receive, send)`."""
    for function in (application, type(application).__call__):
        code = getattr(function, "__code__", None)
        if code is not None:
            parameters = code.co_varnames[: code.co_argcount]
            if {"scope", "receive", "send"} <= {*parameters}:
                return True
    return False
