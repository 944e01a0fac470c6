# SPDX-License-Identifier: MIT
"""OpenAPI and AsyncAPI documents for apps, and docs pages that work offline."""

from ._asyncapi.messages import describe_messages
from ._asyncapi.setup import asyncapi, build_asyncapi
from ._describe import Problem, describe
from ._document import AppOperation, AppOperations
from ._serving import UI, RoutingApp
from ._setup import build_document, find_operations, openapi

__all__ = (
    "UI",
    "AppOperation",
    "AppOperations",
    "Problem",
    "RoutingApp",
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
    RoutingApp,
    asyncapi,
    build_asyncapi,
    build_document,
    describe,
    describe_messages,
    find_operations,
    openapi,
):
    _object.__module__ = __name__
