# SPDX-License-Identifier: MIT
"""OpenAPI documents for apps, and docs pages that work offline."""

from ._describe import Problem, describe
from ._document import AppOperation, AppOperations
from ._serving import UI, RoutingApp
from ._setup import build_document, find_operations, openapi
from ._versions import Version

__all__ = (
    "UI",
    "AppOperation",
    "AppOperations",
    "Problem",
    "RoutingApp",
    "Version",
    "build_document",
    "describe",
    "find_operations",
    "openapi",
)

# Names are shown as they are imported.
for _object in (
    AppOperation,
    AppOperations,
    RoutingApp,
    build_document,
    describe,
    find_operations,
    openapi,
):
    _object.__module__ = __name__
