# SPDX-License-Identifier: MIT
"""Middleware for security headers and Content-Security-Policy."""

from ._csp import NONCE, ContentSecurityPolicy, Directive, SourceFunction
from ._permissions import Feature, PermissionsPolicy
from ._reporting import ReportingEndpoint, ReportTo, ReportToEndpoint
from ._secure_headers import secure_headers

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
