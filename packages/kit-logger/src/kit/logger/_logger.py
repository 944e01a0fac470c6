# SPDX-License-Identifier: MIT
"""The middleware that logs a line before and a line after each request."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks
from kit.authoring.terminal import supports_color
from kit.interface import AsyncMiddleware, Context, Next, Request

# APPSEC: anything other than visible ASCII is percent-encoded, so that a request can't move the
# cursor of a terminal or forge the rest of a line with a space or line break.
_INVISIBLE = re.compile(r"[^!-~]")
# SPEC: ECMA-48 section 8.3.117, Select Graphic Rendition: green, cyan, yellow, red.
_COLORS = {2: 32, 3: 36, 4: 33, 5: 31}


def logger(fn: Callable[[str], object] = print, *, query: bool = True) -> AsyncMiddleware:
    """Returns middleware that logs each request in two lines.

    `--> GET /path?q` before the handlers, `<-- GET /path?q 200 3ms` after them. The path is the
    URL's path as received, percent-encoded. The duration is in milliseconds below one second, and
    in rounded seconds from there on.

    The second line is written once the status is known, even if the request is cancelled after
    that. A request cancelled before it has a response only gets the first line.

    Args:
        fn: Called with each line. Lines are colored by the class of the status, but only if `fn` is
            `print` and standard output supports colors (see `supports_color`).
        query: Whether to log the query, which may contain secrets.

    Returns:
        The middleware, for `app.use(...)`; register it before the handlers it should log.

    Raises:
        TypeError: If `fn` is not a plain function of one argument, or `query` is not a bool.

    Example:
        app.use(logger())
    """
    if not callable(fn):
        raise TypeError(f"logger(fn=...) takes a function, not {fn!r:.100}")
    OptionChecks("logger").function("fn", fn, "(line)", plain=True)
    if not isinstance(query, bool):
        raise TypeError(f"logger(query=...) takes a bool, not {query!r:.100}")
    # PERF: checked once per stream, not per request; redirecting output replaces the stream.
    stream: Any = sys.stdout
    colored = fn is print and supports_color(stream)

    def write(line: str) -> None:
        result = fn(line)
        if result is not None:
            plain_result(result, fn, "logger(fn=...)")

    async def logger(c: Context[Any, Any], next: Next) -> None:
        nonlocal stream, colored
        req = c.req
        request = f"{visible(req.method)} {_target(req.raw, query)}"
        write(f"--> {request}")
        start = perf_counter_ns()
        is_over = False
        try:
            await next()
            is_over = True
        finally:
            if c.finalized or is_over:
                duration = _duration(perf_counter_ns() - start)
                # A handler that returns no response is an error, which becomes a 500.
                code = c.res.status if c.finalized else 500
                status: object = code
                if fn is print:
                    if sys.stdout is not stream:
                        stream = sys.stdout
                        colored = supports_color(stream)
                    if colored:
                        status = _painted(code)
                write(f"<-- {request} {status} {duration}")

    return logger


def _target(request: Request, query: bool) -> str:
    """Returns the path of the URL and, if `query` is true, its query."""
    scope = request.scope
    path = scope.get("raw_path") if scope is not None else None
    # PERF: uses the server's values; building the URL would take longer than everything else.
    if scope is not None and path is not None:
        text: str = path.decode("latin-1")
        if query and scope.get("query_string"):
            text += "?" + scope["query_string"].decode("latin-1")
        return visible(text)
    url = request.url
    start = url.find("/", url.find("://") + 3)
    text = url[start:] if start >= 0 else "/"
    return visible(text if query else re.split(r"[?#]", text, maxsplit=1)[0])


def visible(text: str) -> str:
    """Returns a text with everything except visible ASCII percent-encoded."""
    # PERF: covers nearly every text; three times as fast as the search.
    if text.isascii() and text.isprintable() and " " not in text:
        return text
    return _INVISIBLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    # Latin-1 characters represent received bytes; other characters never were bytes.
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
