# SPDX-License-Identifier: MIT
"""Requests that are handled in process: how `Kit.request` builds them, and how they end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

from kit.authoring.codecs import TypeCodecs
from kit.http.paths import merge_path
from kit.web import Headers, Request, RequestInit, Response
from kit.web._body import peek, put
from kit.web._streams import close_stream, iterate
from kit.web._url import text_of_url

RunExits: TypeAlias = Callable[[BaseException | None], Awaitable[None]]


def build_request(
    input: Any,
    init: RequestInit | None,
    keywords: Mapping[str, Any],
    json: Any,
    codecs: TypeCodecs,
) -> Request:
    """Builds a request.

    Args:
        input: A path, a URL, or a request.
        init: The method, headers and body.
        keywords: The same as keyword arguments; None if not given.
        json: A value to encode as the body; None: no body.
        codecs: The encoders of the app.

    Raises:
        TypeError: If the input is neither a path, a URL nor a request, if a part is given twice,
            unknown or of the wrong type, or if a GET or HEAD request is given a body.
        ValueError: If the URL, the method or a header is invalid.
    """
    call = f"request({input!r:.100}, ...)"
    if init is not None and not isinstance(init, Mapping):
        raise TypeError(
            f"{call}: init is a mapping such as {{'method': 'POST'}}, not {init!r:.100}"
        )
    source = input if isinstance(input, Request) else None
    parts = _merged(call, init, keywords)
    body = parts.get("body")
    if json is not None and body is not None:
        raise TypeError(f"{call} was given body and json: a request has one body")
    method = parts.get("method")
    if method is None:
        method = source.method if source else "GET"
    if not isinstance(method, str):
        raise TypeError(f"{call}: method is a str such as 'POST', not {method!r:.100}")
    method = method.upper()
    if method in ("GET", "HEAD") and (json is not None or body is not None):
        raise TypeError(f"{call} is a {method} request, which can't have a body: add method='POST'")
    if json is not None:
        parts["body"] = codecs.encode_json(json)
        parts["headers"] = _headers_of_json(source, parts)
    merged = cast("RequestInit", parts)
    if source is not None:
        return Request(source, **merged) if merged else source
    url = text_of_url("request()", input, "a path such as '/books', a URL or a Request")
    if not url.startswith(("http://", "https://")):
        url = "http://localhost" + merge_path("/", url)
    return Request(url, **merged)


def check_fetch(request: object, env: object, execution_ctx: object) -> None:
    """Checks the arguments of `Kit.fetch`.

    Raises:
        TypeError: If one of them has the wrong type.
    """
    if not isinstance(request, Request):
        raise TypeError(
            f"fetch() takes a Request, not {request!r:.100}: for a path or a URL write request(...)"
        )
    if env is not None and not isinstance(env, Mapping):
        raise TypeError(f"fetch() takes env as a mapping for c.env, not {env!r:.100}")
    if execution_ctx is not None and not hasattr(execution_ctx, "wait_until"):
        raise TypeError(
            "fetch() takes execution_ctx as an ExecutionContext, which has wait_until(), not "
            f"{execution_ctx!r:.100}"
        )


def _merged(call: str, init: RequestInit | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {**(init or {})}
    for name in parts:
        if name not in keywords:
            raise TypeError(f"{call}: init has {', '.join(keywords)}, not {name!r}")
    for name, value in keywords.items():
        if value is not None:
            if name in parts:
                raise TypeError(f"{call} was given {name} twice: in init and as a keyword")
            parts[name] = value
    return parts


def _headers_of_json(source: Request | None, parts: Mapping[str, Any]) -> Headers:
    if source is None or "headers" in parts:
        headers = Headers(parts.get("headers"))
    else:
        headers = Headers(source.headers)
        headers.delete("content-type")  # the type of the replaced body
    if not headers.has("content-type"):
        headers.set("content-type", "application/json")
    return headers


async def end_in_process(request: Request, response: Response, run_exits: RunExits) -> None:
    """Runs the exits of a request now, or once its streamed body or WebSocket has ended.

    Args:
        request: The request.
        response: The response; its body is replaced if it is streamed.
        run_exits: Runs them, given the exception that ended the request.
    """
    body = peek(response)
    handshake = (request.scope or {}).get("kit.websocket")
    if handshake is not None:
        if response.status == 101:
            handshake.end_with(run_exits)
            return
        await handshake.end()  # an app within this one had accepted, and its 101 was replaced
    if body is None or isinstance(body, bytes) or response.body_used:
        await run_exits(None)
    else:
        put(response, _EndingBody(body, run_exits))


class _EndingBody:
    """A streamed body that runs the exits of its request when it has ended or is closed.

    Not an async generator: loop shutdown would close it before the generator that reads it.

    Args:
        body: The body.
        run_exits: As for `end_in_process`.
    """

    def __init__(self, body: Any, run_exits: RunExits) -> None:
        self._body = body
        self._chunks = iterate(body)
        self._run_exits = run_exits
        self._over = False

    def __aiter__(self) -> _EndingBody:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except StopAsyncIteration:
            await self._end()
            raise
        except BaseException as error:
            await self._end(error)
            raise

    async def aclose(self) -> None:
        """Closes the body, read to its end or not, and runs the exits."""
        await self._end()

    async def _end(self, error: BaseException | None = None) -> None:
        if self._over:
            return
        self._over = True
        try:
            await close_stream(self._chunks)
            await close_stream(self._body)
        except BaseException as failure:
            await self._run_exits(error or failure)
            raise
        await self._run_exits(error)
