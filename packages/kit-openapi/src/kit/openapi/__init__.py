# SPDX-License-Identifier: MIT
"""OpenAPI documents of apps, and pages that show them without the internet."""

from ._describe import Problem, describe
from ._serving import RoutingApp
from ._setup import UI, build_document, openapi

__all__ = ("UI", "Problem", "RoutingApp", "build_document", "describe", "openapi")

# Names are shown as they are imported.
for _object in (Problem, RoutingApp, build_document, describe, openapi):
    _object.__module__ = __name__
