# SPDX-License-Identifier: MIT
"""What a KitRequest consists of.

PERF: a class of its own, as a Struct. That has no constructor but the one with its fields, and
takes no base that has another while it is made; so `KitRequest(...)` gets its own afterwards. A
request that is read costs 3 % less so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kit._request.body import RequestBody
from kit._support.limits import Limits
from kit._support.struct import with_plain_stores
from kit.request import KitRequest
from kit.web import Request

if TYPE_CHECKING:
    from kit.interface import Result

_NO_MATCH: Any = ([],)
_DEFAULT_LIMITS = Limits()


@with_plain_stores
class ServedRequest(KitRequest, Struct, eq=False):
    """What every KitRequest is: its fields."""

    path: str
    _match: Any
    _scope: Any
    _receive: Any
    _limits: Limits = _DEFAULT_LIMITS
    route_index: int = 0
    _raw: Request | None = None
    _query: str | None = None
    _pairs: list[tuple[str, str]] | None = None
    _reader: RequestBody | None = None
    _validated: dict[str, Any] | None = None


def _new_request(
    cls: type[KitRequest],
    request: Request,
    path: str = "/",
    match_result: Result[Any] | None = None,
) -> KitRequest:
    if cls is not KitRequest:
        raise TypeError(f"{cls.__qualname__} can't be made: KitRequest has no subclasses")
    return ServedRequest(path, match_result or _NO_MATCH, request.scope, None, _raw=request)


KitRequest.__new__ = _new_request  # type: ignore[method-assign,assignment]
