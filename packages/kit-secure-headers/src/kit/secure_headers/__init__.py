# SPDX-License-Identifier: MIT
"""Middleware for security headers and Content-Security-Policy."""

from ._csp import NONCE, ContentSecurityPolicy, Directive, SourceFunction
from ._middleware import secure_headers
from ._permissions import Feature, PermissionsPolicy
from ._reporting import ReportingEndpoint, ReportTo, ReportToEndpoint

__all__ = (
    "NONCE",
    "ContentSecurityPolicy",
    "Directive",
    "Feature",
    "PermissionsPolicy",
    "ReportTo",
    "ReportToEndpoint",
    "ReportingEndpoint",
    "SourceFunction",
    "secure_headers",
)
