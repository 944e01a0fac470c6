# SPDX-License-Identifier: MIT
"""The context of a request: the caller's context, and the current span of streamed bodies."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from opentelemetry.context import Context, attach, get_current
from opentelemetry.propagate import get_global_textmap
from opentelemetry.propagators.textmap import Getter, TextMapPropagator
from opentelemetry.trace import Link, get_current_span

from kit.authoring.bodies import read_within
from kit.authoring.maybe_await import call, check_answer
from kit.interface import AnyContext, Headers, Request

__all__ = ("Trust", "extracted", "is_propagated", "keep_in_body", "links_to", "restore", "trusts")

Trust: TypeAlias = bool | Callable[[AnyContext], bool | Awaitable[bool]]
"""Whether to continue the caller's trace, or a function `(c)`, plain or async, that decides."""

_logger = logging.getLogger("kit")
_W3C = frozenset(("traceparent", "tracestate", "baggage"))
_W3C_NAMES = frozenset(name.encode() for name in _W3C)


class _Getter(Getter[Headers]):
    """Reads request headers for propagators."""

    def get(self, carrier: Headers, key: str) -> list[str] | None:
        # SPEC: RFC 9110 section 5.3: several lines of a header are one value. Propagators would
        # read only the first one, but W3C Baggage may have several, and several of traceparent are
        # invalid (W3C Trace Context, section 3.2).
        value = carrier.get(key)
        return None if value is None else [value]

    def keys(self, carrier: Headers) -> list[str]:
        return [*carrier.keys()]


_getter = _Getter()
_known: tuple[TextMapPropagator | None, bool] = (None, False)


def is_propagated(request: Request) -> bool:
    """Whether a request has a header of W3C Trace Context or Baggage."""
    scope = request.scope
    if scope is None:
        headers = request.headers
        return any(name in headers for name in _W3C)
    for name, _ in scope["headers"]:  # noqa: SIM110 - PERF: a generator costs more than the loop
        if name in _W3C_NAMES:
            return True
    return False


def extracted(request: Request, outer: Context, *, is_propagated: bool) -> Context:
    """Returns the context sent by the caller of a request.

    Args:
        request: The request.
        outer: The context to extend.
        is_propagated: Whether the request has a header of W3C Trace Context or Baggage.
    """
    global _known
    propagator = get_global_textmap()
    known, is_w3c = _known
    if propagator is not known:
        is_w3c = propagator.fields <= _W3C
        _known = propagator, is_w3c
    # PERF: other propagators may read headers that they don't write.
    if is_w3c and not is_propagated:
        return outer
    return propagator.extract(request.headers, outer, _getter)


async def trusts(trust: Trust, c: Any) -> bool:
    """Returns whether to continue the caller's trace; False if the function fails."""
    if not callable(trust):
        return trust
    try:
        answer = await call(trust, c)
        check_answer("opentelemetry(trust_incoming=...)", answer)
        return bool(answer)
    except Exception as error:
        _logger.warning(
            "opentelemetry(trust_incoming=...) failed, so the request begins a new trace",
            exc_info=error,
        )
        return False


def links_to(context: Context) -> list[Link]:
    """Returns a list with a link to the caller's span, empty if there is none."""
    caller = get_current_span(context).get_span_context()
    return [Link(caller)] if caller.is_valid and caller.is_remote else []


def restore(context: Context, outer: Context) -> None:
    """Makes the outer context current again, if the inner one still is.

    A token from `attach` can't be used from another task.
    """
    if get_current() is context:
        attach(outer)


def keep_in_body(c: Any, context: Context) -> None:
    """Makes a context current while the streamed body of an in-process request is read."""
    read_within(c, context, get_current, attach)
