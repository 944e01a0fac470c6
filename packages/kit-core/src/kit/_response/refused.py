# SPDX-License-Identifier: MIT
"""What a handler should have returned in place of something that is no response."""

from __future__ import annotations

from inspect import isasyncgen, isgenerator, isroutine
from typing import Any

_FIELDS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def advice_for(result: Any) -> str:
    """Returns what to write instead of returning a value.

    Args:
        result: What the handler returned.
    """
    if isinstance(result, tuple) and result:
        return _of_tuple(result)
    if isinstance(result, BaseException):
        return "raise it"
    if isinstance(result, type):
        return "return an instance, e.g. c.text(...)"
    if isroutine(result):
        return "call it; a function that makes middleware, such as cors, is called at registration"
    if isinstance(result, int) and not isinstance(result, bool):
        return f"use c.body(None, {result!r:.20}), or raise HTTPException({result!r:.20})"
    if isinstance(result, str):
        return "use c.text(...) or c.html(...)"
    if isgenerator(result) or isasyncgen(result):
        return "use c.body(...) to send it as a stream, or stream_sse() of kit.streaming for events"
    if isinstance(result, (dict, list)) or any(hasattr(result, name) for name in _FIELDS):
        return "use c.json(...)"
    if type(result).__qualname__.endswith("Response"):
        return (
            f"it is one of {type(result).__module__}, not of Kit; "
            "use c.json(...), c.html(...), c.text(...) or c.body(...)"
        )
    return "use c.text(...) or c.body(...)"


def _of_tuple(result: tuple[Any, ...]) -> str:
    body, *rest = result
    method = "text" if isinstance(body, str) else "json"
    status = next((each for each in rest if isinstance(each, int)), 200)
    headers = ", {...}" if any(isinstance(each, (dict, list)) for each in rest) else ""
    return f"use c.{method}(..., {status}{headers})"
