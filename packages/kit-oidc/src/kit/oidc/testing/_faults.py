# SPDX-License-Identifier: MIT
"""What the provider for tests does wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._keys import TestKey

__all__ = ("Faults",)


@dataclass
class Faults:
    """What the provider does wrong. All of it is off at first.

    Attributes:
        is_down: Whether requests fail.
        id_token: Returns other claims of an ID token, for its claims.
        header: Members of the header of ID tokens; None leaves one out, `{"alg": "none"}` leaves
            the signature out.
        signer: Another key, which the key set doesn't have, that signs ID tokens.
        metadata: Members of the metadata; None leaves one out.
        token_response: Members of token responses; None leaves one out.
        userinfo: Members of UserInfo; None leaves one out.
        authorization_response: Parameters of authorization responses; None leaves one out.
        answers: Responses, by the path of the request: a status, and what to send as JSON.
    """

    is_down: bool = False
    id_token: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None
    header: Mapping[str, Any] = field(default_factory=dict)
    signer: TestKey | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    token_response: Mapping[str, Any] = field(default_factory=dict)
    userinfo: Mapping[str, Any] = field(default_factory=dict)
    authorization_response: Mapping[str, str | None] = field(default_factory=dict)
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
