# SPDX-License-Identifier: MIT
"""The middleware that logs one structured line for each request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from kit.authoring.instrumentation import Exclude, Observation, check_exclude, unless
from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.conninfo import forwarded_conn_info
from kit.interface import AnyContext, AsyncMiddleware, Context, Next

from ._entries import Entry, Fields, Reader
from ._targets import Target, target_of_option

__all__ = ("access_log",)

OwnFields: TypeAlias = Callable[[AnyContext], Fields | Awaitable[Fields]]
"""Returns fields to add: `def fields(c)`, plain or async."""

_FORMATS = ("json", "text")


def access_log(
    format: Literal["json", "text"] = "json",
    *,
    to: Any = None,
    query: bool = False,
    exclude: Exclude | Iterable[Exclude] = (),
    fields: OwnFields | None = None,
    trusted_hops: int = 0,
) -> AsyncMiddleware:
    """Returns middleware that logs each request in one line, after its response has been sent.

    The line contains the number of bytes sent, including streams, and records whether the client
    disconnected early. It is written for every request, including errors, 404s and cancelled
    requests; for a WebSocket, it is written when the connection closes. It never contains a body,
    Authorization or Cookie, and no character in a request can end a line. The level is `error` for
    status 500 and above and for broken streams, `warning` for cancelled requests, otherwise `info`.

    Args:
        format: The format of a line: a JSON object, or text such as
            `GET /users/7 200 3.1ms 12B 192.0.2.7`.
        to: Where to write lines. Default: standard output. A plain function is called with each
            line; a `logging.Logger` gets the line as the message and the fields as `extra`; any
            other object with methods such as `info(event, **fields)`, e.g. a structlog logger, gets
            the fields. If it raises, the exception is logged, and the request doesn't fail.
        query: Whether to log the query; secret values are replaced with `REDACTED`.
        exclude: Which requests to leave out: a route pattern such as `/health/*`, a function `(c)`,
            plain or async, or a list of them.
        fields: Function `(c)`, plain or async, that returns fields to add, called once there is a
            response. A field replaces one with the same name; None removes it, except `time` and
            `level`. A value that JSON can't represent is logged as text.
        trusted_hops: Number of proxies in front of the app. If set, the client's address is read
            from X-Forwarded-For, see `kit.conninfo.forwarded_conn_info`. With 0 it is the address
            that the server reports.

    Returns:
        The middleware, for `app.use(...)`; register it first, but after `opentelemetry()`.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If an option is invalid.

    SPEC: RFC 3339 for the time; RFC 8259 for JSON.

    Example:
        app.use(access_log(exclude="/livez"))
    """
    check = OptionChecks("access_log")
    check.choice("format", format, _FORMATS)
    check.flag("query", query)
    check.number("trusted_hops", trusted_hops, least=0, most=100)
    if fields is not None:
        check.function("fields", fields, "(c)")
    target = target_of_option(check, to, format)
    reader = Reader(query, forwarded_conn_info(trusted_hops) if trusted_hops else None)

    async def access_log(c: Context[Any, Any], next: Next) -> None:
        entry = Entry(c, reader, target)
        observation = Observation(c, entry.write)
        await next()
        observation.responded()
        entry.responded()
        if fields is not None:
            await _add(fields, c, entry, target)

    return unless(check_exclude(check, exclude), access_log)


async def _add(fields: OwnFields, c: Context[Any, Any], entry: Entry, target: Target) -> None:
    try:
        own = await call(fields, c)
        if not isinstance(own, Mapping):
            raise TypeError(f"access_log(fields=...) returned {own!r:.100}: expected a mapping")
        for name in own:
            if not isinstance(name, str):
                raise TypeError(
                    f"access_log(fields=...) returned the name {name!r:.100}: expected a str"
                )
    except Exception as error:
        target.has_fields(error)
    else:
        target.has_fields(None)
        entry.own = own
