# SPDX-License-Identifier: MIT
"""Writes security schemes of OpenAPI as those of AsyncAPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_FLOW_TEXTS = {"scopes": "availableScopes"}


def to_scheme(scheme: Mapping[str, Any], scopes: Sequence[str] = ()) -> dict[str, Any]:
    """Returns a Security Scheme Object (AsyncAPI 3.0.0, section "Security Scheme Object").

    Args:
        scheme: The Security Scheme Object of OpenAPI.
        scopes: The scopes that an operation needs.
    """
    written = dict(scheme)
    kind = written["type"]
    if kind == "apiKey":
        written["type"] = "httpApiKey"
    elif kind == "mutualTLS":
        written["type"] = "X509"
    elif kind == "oauth2":
        written["flows"] = {
            name: {_FLOW_TEXTS.get(key, key): value for key, value in flow.items()}
            for name, flow in written.get("flows", {}).items()
        }
    if scopes and kind in ("oauth2", "openIdConnect"):
        written["scopes"] = [*scopes]
    return written


def to_security(
    requirements: Sequence[Mapping[str, Sequence[str]]],
    schemes: Mapping[str, Mapping[str, Any]],
    shown: str,
    notes: list[str],
) -> list[dict[str, Any]]:
    """Returns the `security` of an operation; any one of the schemes suffices.

    Args:
        requirements: The Security Requirement Objects of OpenAPI.
        schemes: The schemes of the document, as of OpenAPI.
        shown: The route, for notes.
        notes: Receives what AsyncAPI can't say.
    """
    if {} in requirements:
        return []  # credentials are optional
    if any(len(each) > 1 for each in requirements):
        notes.append(f"{shown} needs several credentials at once, which AsyncAPI can't say")
    written: list[dict[str, Any]] = []
    for requirement in requirements:
        for name, scopes in requirement.items():
            if name not in schemes:
                continue  # noted when it was found
            reference = {"$ref": f"#/components/securitySchemes/{name}"}
            each = to_scheme(schemes[name], scopes) if scopes else reference
            if each not in written:
                written.append(each)
    return written
