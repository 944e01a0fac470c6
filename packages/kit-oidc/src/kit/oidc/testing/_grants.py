# SPDX-License-Identifier: MIT
"""What the provider for tests has granted: codes, access tokens and refresh tokens."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

__all__ = ("Grant", "Grants")


class Grant:
    """What a code or a token stands for.

    Args:
        user: The claims of the user.
        asked: The parameters of the authorization request.

    Attributes:
        user: The claims of the user.
        asked: The parameters of the authorization request.
        sid: The session at the provider.
        auth_time: When the user was authenticated, in seconds since the epoch.
    """

    def __init__(self, user: dict[str, Any], asked: dict[str, str]) -> None:
        self.user = user
        self.asked = asked
        self.sid = token_urlsafe(8)
        self.auth_time = int(time.time())


class Grants:
    """All grants.

    Attributes:
        codes: Grants by code; each is used once.
        access_tokens: Grants by access token.
        refresh_tokens: Grants by refresh token.
    """

    def __init__(self) -> None:
        self.codes: dict[str, Grant] = {}
        self.access_tokens: dict[str, Grant] = {}
        self.refresh_tokens: dict[str, Grant] = {}
        self._used: dict[str, Grant] = {}

    def redeem(self, sent: Mapping[str, str], rotates: bool) -> Grant | None:
        """Returns the grant of a token request; None if it is refused.

        Args:
            sent: The form of the request.
            rotates: Whether a refresh token works once.
        """
        if sent.get("grant_type") == "authorization_code":
            return self._redeem_code(sent)
        if sent.get("grant_type") == "refresh_token":
            return self._redeem_refresh_token(sent.get("refresh_token", ""), rotates)
        return None

    def _redeem_code(self, sent: Mapping[str, str]) -> Grant | None:
        grant = self.codes.pop(sent.get("code", ""), None)
        verifier = sent.get("code_verifier", "").encode()
        challenge = urlsafe_b64encode(sha256(verifier).digest()).rstrip(b"=").decode()
        if (
            grant is None
            or grant.asked["code_challenge"] != challenge
            or grant.asked["redirect_uri"] != sent.get("redirect_uri")
        ):
            return None
        return grant

    def _redeem_refresh_token(self, token: str, rotates: bool) -> Grant | None:
        reused = self._used.get(token)
        if reused is not None:  # perhaps by a thief: the whole login ends
            for kept in [key for key, one in self.refresh_tokens.items() if one is reused]:
                del self.refresh_tokens[kept]
            return None
        if not rotates:
            return self.refresh_tokens.get(token)
        grant = self.refresh_tokens.pop(token, None)
        if grant is not None:
            self._used[token] = grant
        return grant
