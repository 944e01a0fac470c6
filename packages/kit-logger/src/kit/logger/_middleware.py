# SPDX-License-Identifier: MIT
"""The middleware that writes a line before and a line after each request."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from kit.interface import Context, Middleware, Next, Request, supports_color

_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE, without the import of inspect
# APPSEC: whatever is no visible ASCII is written percent-encoded: a request can't move the
# cursor of a terminal, and a blank or line break can't forge the rest of a line.
_INVISIBLE = re.compile(r"[^!-~]")
# SPEC: ECMA-48 section 8.3.117, Select Graphic Rendition: green, cyan, yellow, red.
_COLORS = {2: 32, 3: 36, 4: 33, 5: 31}


def logger(fn: Callable[[str], object] = print, *, query: bool = True) -> Middleware:
    """Makes middleware that logs each request in two lines.

    `--> GET /path?q` before the handlers, `<-- GET /path?q 200 3ms` after them. The path is that
    of the URL as it was sent, percent-encoded. Below a second the duration is in milliseconds,
    from there on in seconds, rounded.

    The second line is written as soon as the status is known, also where what comes after was
    cancelled; a request that was cancelled before it had an answer has the first line alone.

    Args:
        fn: Is given each line. Only the lines for `print` are coloured, by the class of the
            status, and only if standard output takes colours (see `supports_color`).
        query: Whether to write the query; it may hold secrets.

    Returns:
        The middleware, for `app.use(...)`; register it before what it is to log.

    Raises:
        TypeError: If `fn` is no plain function, or `query` no bool.

    Example:
        app.use(logger())
    """
    if not callable(fn):
        raise TypeError(f"logger(fn=...) takes a function, not {fn!r:.100}")
    if getattr(getattr(fn, "__code__", None), "co_flags", 0) & _CO_COROUTINE:
        raise TypeError("logger(fn=...) takes a plain function, not an async one")
    if not isinstance(query, bool):
        raise TypeError(f"logger(query=...) takes a bool, not {query!r:.100}")
    # PERF: asked once per stream, not per request; the stream changes where output is redirected.
    stream: Any = sys.stdout
    colored = fn is print and supports_color(stream)

    async def logger(c: Context[Any, Any], next: Next) -> None:
        nonlocal stream, colored
        req = c.req
        request = f"{_visible(req.method)} {_target(req.raw, query)}"
        fn(f"--> {request}")
        start = perf_counter_ns()
        is_over = False
        try:
            await next()
            is_over = True
        finally:
            if c.finalized or is_over:
                duration = _duration(perf_counter_ns() - start)
                # A handler that answers with nothing is a fault, which becomes a 500.
                code = c.res.status if c.finalized else 500
                status: object = code
                if fn is print:
                    if sys.stdout is not stream:
                        stream = sys.stdout
                        colored = supports_color(stream)
                    if colored:
                        status = _painted(code)
                fn(f"<-- {request} {status} {duration}")

    return logger


def _target(request: Request, query: bool) -> str:
    """Gives the path of the URL and, if wanted, its query."""
    scope = request.scope
    path = scope.get("raw_path") if scope is not None else None
    # PERF: what the server received, since building the URL takes longer than all the rest.
    if scope is not None and path is not None:
        text: str = path.decode("latin-1")
        if query and scope.get("query_string"):
            text += "?" + scope["query_string"].decode("latin-1")
        return _visible(text)
    url = request.url
    start = url.find("/", url.find("://") + 3)
    text = url[start:] if start >= 0 else "/"
    return _visible(text if query else re.split(r"[?#]", text, maxsplit=1)[0])


def _visible(text: str) -> str:
    return _INVISIBLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    # Latin-1 stands for the bytes that came in; a text beyond it never was bytes.
    encoded = character.encode("latin-1" if character <= "\xff" else "utf-8", "replace")
    return "".join(f"%{byte:02X}" for byte in encoded)


def _painted(status: int) -> str:
    color = _COLORS.get(status // 100)
    return str(status) if color is None else f"\x1b[{color}m{status}\x1b[0m"


def _duration(elapsed_ns: int) -> str:
    milliseconds = elapsed_ns // 1_000_000
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    return f"{(milliseconds + 500) // 1000:,}s"
