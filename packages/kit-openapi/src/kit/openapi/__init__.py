# SPDX-License-Identifier: MIT
"""OpenAPI and AsyncAPI documents for apps, and docs pages that work offline."""

from typing import TYPE_CHECKING, Any

from ._describe import Description, Problem, describe
from ._document import AppOperation, AppOperations
from ._selection import OperationFilter, RouteOperation
from ._serving import UI, RoutingApp
from ._setup import build_document, find_operations, openapi
from ._versions import Version

if TYPE_CHECKING:
    from ._asyncapi.messages import describe_messages
    from ._asyncapi.setup import asyncapi, build_asyncapi

__all__ = (
    "UI",
    "AppOperation",
    "AppOperations",
    "Description",
    "OperationFilter",
    "Problem",
    "RouteOperation",
    "RoutingApp",
    "Version",
    "asyncapi",
    "build_asyncapi",
    "build_document",
    "describe",
    "describe_messages",
    "find_operations",
    "openapi",
)

# Names are shown as they are imported.
for _object in (
    AppOperation,
    AppOperations,
    RouteOperation,
    RoutingApp,
    build_document,
    describe,
    find_operations,
    openapi,
):
    _object.__module__ = __name__


def __getattr__(name: str) -> Any:
    """Imports what documents WebSockets when it is first used."""
    if name == "describe_messages":
        from ._asyncapi import messages as module
    elif name in ("asyncapi", "build_asyncapi"):
        from ._asyncapi import setup as module  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
