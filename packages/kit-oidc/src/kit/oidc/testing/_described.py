# SPDX-License-Identifier: MIT
"""The metadata of the provider for tests (OpenID Connect Discovery 1.0, section 3)."""

from __future__ import annotations

from typing import Any

from ._keys import TestKey

__all__ = ("describe_provider",)


def describe_provider(issuer: str, base: str, key: TestKey) -> dict[str, Any]:
    """Returns the metadata of a provider.

    Args:
        issuer: The provider.
        base: The beginning of its addresses.
        key: Its key.
    """
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "jwks_uri": f"{base}/jwks",
        "userinfo_endpoint": f"{base}/userinfo",
        "end_session_endpoint": f"{base}/logout",
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [key.alg],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "authorization_response_iss_parameter_supported": "{tenantid}" not in issuer,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
    }
