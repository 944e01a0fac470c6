# SPDX-License-Identifier: MIT
"""Checks the registered claims of a verified token (RFC 7519, section 4.1)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict

from kit.authoring.options import OptionChecks

from ._errors import (
    JwtClaimMissingError,
    JwtHeaderInvalidError,
    JwtPayloadInvalidError,
    JwtTokenAudienceError,
    JwtTokenExpiredError,
    JwtTokenIssuedAtError,
    JwtTokenIssuerError,
    JwtTokenNotBeforeError,
)

_TIMES = ("exp", "nbf", "iat")
VERIFY_OPTIONS = ("iss", "aud", *_TIMES, "typ", "leeway", "required")


class VerifyOptions(TypedDict, total=False):
    """Which claims are checked, and how.

    Attributes:
        iss: The expected issuer, or a pattern to search for in the issuer. Default: any issuer.
        aud: The audience of this app, or several, one of which must be in the token; or a pattern
            to search for in the token's audiences. Default: tokens with an audience are rejected
            (RFC 7519, section 4.1.3). False accepts any audience.
        exp: Whether to reject tokens that have expired. Default True.
        nbf: Whether to reject tokens before their `nbf`. Default True.
        iat: Whether to reject tokens with an `iat` in the future. Default True.
        typ: The accepted `typ` in the header, or several, compared case-insensitively and without
            the prefix `application/` (RFC 7515, section 4.1.9). If set, tokens without `typ` and
            tokens for other uses are rejected (RFC 8725, section 3.11). Default: `JWT`, or no
            `typ`.
        leeway: Seconds by which the clocks of issuer and app may differ. Default 0.
        required: Names of claims that must be present, such as `exp`. Default: none.
    """

    iss: str | re.Pattern[str] | None
    aud: str | Iterable[str] | re.Pattern[str] | Literal[False] | None
    exp: bool
    nbf: bool
    iat: bool
    typ: str | Iterable[str] | None
    leeway: float
    required: str | Iterable[str]


class ClaimChecks:
    """Checks header and payload according to the options.

    Args:
        part: The checks of the factory.
        given: The options, without unknown ones.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If a value is invalid.
    """

    __slots__ = ("_accepts_aud", "_accepts_iss", "_leeway", "_required", "_times", "_typ")

    def __init__(self, part: OptionChecks, given: VerifyOptions | Mapping[str, Any]) -> None:
        self._times = [each for each in _TIMES if part.flag(each, given.get(each, True))]
        self._leeway = part.number(
            "leeway", given.get("leeway", 0), least=0, unit="seconds", whole=False
        )
        self._required = part.texts("required", given.get("required", ()))
        self._accepts_iss = _issuers(part, given.get("iss"))
        self._accepts_aud = _audiences(part, given.get("aud"))
        typ = given.get("typ")
        self._typ = None if typ is None else {_media_type(each) for each in part.texts("typ", typ)}

    def check_header(self, header: Mapping[str, Any]) -> None:
        """Checks the type of the token.

        Raises:
            JwtHeaderInvalidError: If the type isn't accepted.
        """
        typ = header.get("typ")
        if typ is None:
            accepted = self._typ is None
        elif self._typ is None:
            accepted = typ == "JWT" or _media_type(typ) == "jwt"
        else:
            accepted = _media_type(typ) in self._typ
        if not accepted:
            raise JwtHeaderInvalidError(f"The token has the typ {typ!r:.40}")

    def check(self, payload: Mapping[str, Any]) -> None:
        """Checks the claims of a payload.

        Raises:
            JwtError: For the first invalid claim.
        """
        for name in self._required:
            if payload.get(name) is None:
                raise JwtClaimMissingError(f"The token lacks the claim {name!r}")
        self._check_times(payload)
        if self._accepts_iss is not None and not self._accepts_iss(payload.get("iss")):
            raise JwtTokenIssuerError(f"The token is from the issuer {payload.get('iss')!r:.100}")
        if self._accepts_aud is not None and not self._accepts_aud(payload.get("aud")):
            raise JwtTokenAudienceError(
                f"The token is for the audience {payload.get('aud')!r:.100}: if that is this app, "
                "set aud=..."
            )

    def _check_times(self, payload: Mapping[str, Any]) -> None:
        now = time.time()
        for name in self._times:
            if name not in payload:
                continue
            at = payload[name]
            # SPEC: RFC 7519 section 2, NumericDate.
            if isinstance(at, bool) or not isinstance(at, (int, float)):
                raise JwtPayloadInvalidError(f"The claim {name!r} is not a number")
            if name == "exp":
                if at <= now - self._leeway:
                    raise JwtTokenExpiredError("The token has expired")
            elif at > now + self._leeway:
                if name == "nbf":
                    raise JwtTokenNotBeforeError("The token is not valid yet")
                raise JwtTokenIssuedAtError("The token was issued in the future")


def claim_checks(check: OptionChecks, verification: Any) -> ClaimChecks:
    """Returns the checks for the option `verification` of a factory.

    Args:
        check: The checks of the factory.
        verification: The value of the option; None for the defaults.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If a value is invalid, or a key is unknown.
    """
    given: Mapping[str, Any] = {}
    if verification is not None:
        given = check.keys("verification", verification, VERIFY_OPTIONS)
    return ClaimChecks(OptionChecks(f"{check.factory}: verification"), given)


def _issuers(check: OptionChecks, expected: Any) -> Callable[[Any], bool] | None:
    if expected is None:
        return None
    if isinstance(expected, re.Pattern):
        return lambda iss: isinstance(iss, str) and expected.search(iss) is not None
    if not isinstance(expected, str):
        check.wrong_type("iss", expected, "a str or a compiled pattern")
    if not expected:
        check.unusable("iss", expected, "the issuer, such as 'https://issuer.example'")
    return lambda iss: iss == expected


def _audiences(check: OptionChecks, expected: Any) -> Callable[[Any], bool] | None:
    if expected is False:
        return None
    if expected is None:
        # SPEC: RFC 7519 section 4.1.3: an app that isn't among the audiences must reject the token.
        return lambda aud: aud is None
    if isinstance(expected, re.Pattern):
        search = expected.search
        return lambda aud: any(search(each) is not None for each in _named(aud))
    own = {*check.texts("aud", expected)}
    if not own or "" in own:
        check.unusable("aud", expected, "a name such as 'api', or False for any audience")
    return lambda aud: not own.isdisjoint(_named(aud))


def _named(aud: Any) -> list[str]:
    members = aud if isinstance(aud, list) else [aud]
    return [each for each in members if isinstance(each, str)]


def _media_type(typ: str) -> str:
    return typ.lower().removeprefix("application/")
