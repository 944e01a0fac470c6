# SPDX-License-Identifier: MIT
"""Finds the results of a handler: the type that it returns, and the statuses that it sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import msgspec

from kit.authoring.models import check_union
from kit.http.media_types import JSON

from ._handler_source import HandlerSource
from ._operations import Operation


def is_typed(operation: Operation) -> bool:
    """Returns whether an operation is a typed endpoint, whose results become responses."""
    return "typed_result" in operation.facts[-1].others


def list_result_statuses(operation: Operation, reading: HandlerSource) -> Sequence[int | None]:
    """Returns the statuses of the result that a handler declares.

    If a typed endpoint only sends responses, the declared type is that of those with JSON.

    Args:
        operation: The operation.
        reading: Information from its source.
    """
    if not is_typed(operation):
        return [reading.status]
    sent = reading.results
    if not sent and reading.is_complete:
        sent = {
            status
            for status, media_types in reading.answers.items()
            if status is not None and 200 <= status < 300 and JSON in media_types
        }
    return [*sent] or [reading.status]


def key_of(status: int | None) -> str:
    """Returns the key of a status in a Responses Object."""
    return "default" if status is None else str(status)


def find_returned_type(function: Any) -> Any:
    """Returns the return annotation of a function, unless it is a response."""
    try:
        hint = get_type_hints(function, include_extras=True).get("return")
    except Exception:
        return None
    kinds = [each for each in (get_args(hint) or (hint,)) if each is not type(None)]
    if hint in (None, Any) or not kinds or any(map(_is_response_type, kinds)):
        return None
    try:
        check_union(hint)
        msgspec.inspect.type_info(hint)
    except Exception:
        return None
    return hint


def _is_response_type(kind: Any) -> bool:
    origin = getattr(kind, "__origin__", kind)
    return (
        not isinstance(origin, type)
        or all(hasattr(origin, name) for name in ("status", "headers", "body_used"))
        or hasattr(origin, "__await__")
    )
