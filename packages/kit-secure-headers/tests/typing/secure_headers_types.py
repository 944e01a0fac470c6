# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context
from kit.secure_headers import NONCE, ContentSecurityPolicy, PermissionsPolicy, secure_headers


def plain(c: Context[Any, Any], directive: str) -> str:
    return c.req.path


async def awaited(c: Context[Any, Any], directive: str) -> str:
    return directive


policy: ContentSecurityPolicy = {
    "default_src": ["'self'"],
    "script_src": ["'self'", NONCE, plain, awaited],
    "report_uri": "/csp",
    "upgrade_insecure_requests": [],
}
features: PermissionsPolicy = {"camera": False, "geolocation": ["self", "https://example.com"]}

assert_type(secure_headers(), AsyncMiddleware)
assert_type(
    secure_headers(
        content_security_policy=policy,
        content_security_policy_report_only={"script_src": [NONCE]},
        permissions_policy=features,
        x_frame_options="DENY",
        strict_transport_security=False,
        reporting_endpoints=[{"name": "csp", "url": "/reports"}],
        report_to=[{"group": "csp", "max_age": 60, "endpoints": [{"url": "/reports"}]}],
        overwrite=False,
    ),
    AsyncMiddleware,
)
