# SPDX-License-Identifier: MIT
"""The middleware that gives each request an id."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from os import urandom
from typing import Any, TypeAlias, TypedDict

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.request_var import RequestVar
from kit.http.fields import is_field_value
from kit.interface import AnyContext, AsyncMiddleware, Context, Next
from kit.interface.metadata import attach

Generator: TypeAlias = Callable[[AnyContext], str | Awaitable[str]]
"""Returns a new id: `def new_id(c)`, plain or async."""

# An id from a client ends up in logs and other systems, so it must not end a line, close a
# quotation or contain a terminal's escape sequence.
_is_safe = re.compile(r"[A-Za-z0-9_\-=]+").fullmatch

_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}

_current: RequestVar[str] = RequestVar("kit.request_id")


class RequestIdVariables(TypedDict):
    """The variables that `request_id` sets, for `Kit[Bindings, Variables]`.

    Attributes:
        request_id: The id.
    """

    request_id: str


def current_request_id() -> str | None:
    """Returns the id of the current request.

    It works in handlers and the functions they call, in `in_thread` and other threads started by
    anyio or asyncio, and in tasks, streamed bodies and `wait_until` work. A `threading.Thread` sees
    no context variables unless it is started in a copy of the context.

    Returns:
        The id; None outside a request that passed through `request_id`.
    """
    return _current.get()


def request_id(
    *,
    limit_length: int = 255,
    header_name: str = "X-Request-Id",
    generator: Generator | None = None,
) -> AsyncMiddleware:
    """Returns middleware that gives each request an id.

    The id is taken from the header that the client or a proxy sent, if it consists of ASCII
    letters, digits, `_`, `-` and `=`; otherwise a new one is generated. It is available as
    `c.get("request_id")` and `current_request_id()`, and in a header of every response, unless the
    response has this header itself.

    Args:
        limit_length: The maximum length of ids from the header, in characters; 0 accepts none.
        header_name: The header of the request and the response; `""` for none.
        generator: Function `(c)`, plain or async, that returns a new id: a str that is valid in a
            header. Default: a random UUID (RFC 9562, section 5.4).

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an option is of the wrong type. At a request: if `generator` doesn't return a
            str.
        ValueError: If `limit_length` is negative, or `header_name` is not a header name. At a
            request: if the return value of `generator` can't be sent in a header.

    Example:
        app.use(request_id())
    """
    check = OptionChecks("request_id")
    check.number("limit_length", limit_length, least=0, unit="characters")
    if check.text("header_name", header_name):
        check.header_name("header_name", header_name, "X-Request-Id")
    if generator is not None:
        check.function("generator", generator, "(c)")

    def begin(value: str, c: Context[Any, Any], next: Next) -> Awaitable[None]:
        c.set("request_id", value)
        if header_name:
            c.header(header_name, value)
        return _current.run(value, c, next)

    async def begin_later(value: Awaitable[str], c: Context[Any, Any], next: Next) -> None:
        await begin(_checked(await settle(value, "request_id(generator=...)")), c, next)

    def request_id(c: Context[Any, Any], next: Next) -> Awaitable[None]:
        value: Any = c.req.header(header_name) if header_name else None
        if value is None or len(value) > limit_length or not _is_safe(value):
            if generator is None:
                value = _random_uuid()
            else:
                value = generator(c)
                if is_awaitable(value):
                    return begin_later(value, c, next)
                _checked(value)
        return begin(value, c, next)

    return attach(request_id, provides={"request_id": str})


def _checked(value: Any) -> str:
    """Checks what a generator returned."""
    if not isinstance(value, str):
        raise TypeError(
            f"request_id(generator=...) returned {value!r:.100}: expected a str, the new id"
        )
    if not is_field_value(value):
        raise ValueError(
            f"request_id(generator=...) returned {value!r:.100}, which can't be sent in a header: "
            "expected latin-1 text without control characters or surrounding spaces"
        )
    return value


def _random_uuid() -> str:
    """Returns a random UUID as text. PERF: takes a third of the time of `str(uuid.uuid4())`."""
    # SPEC: RFC 9562 section 5.4: the version is 4, and the first two bits of the variant 0b10.
    digits = urandom(16).hex()
    variant = _VARIANTS[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
