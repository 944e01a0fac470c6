# SPDX-License-Identifier: MIT
"""Parses tokens: the JWS Compact Serialization (RFC 7515, section 7.1)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from binascii import Error, a2b_base64, b2a_base64
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from ._errors import JwtHeaderInvalidError, JwtPayloadInvalidError, JwtTokenInvalidError

# From base64url to base64; the two special characters of base64 become invalid.
_STANDARD = bytes.maketrans(b"-_+/", b"+/!!")
# Longer headers, such as those with certificates, aren't cached.
_MOST_KEPT = 512
_decode_json = msgspec.json.Decoder().decode
_NOT_JSON = (msgspec.MsgspecError, ValueError, RecursionError)


class Parts(NamedTuple):
    """A parsed token that isn't verified.

    Attributes:
        header: The JOSE header. Tokens share it, so don't change it. `alg` is a str, as are `kid`
            and `typ` if they are present.
        payload: The payload, decoded from base64url.
        signed: The part of the token that the signature covers.
        signature: The signature, decoded from base64url.
    """

    header: dict[str, Any]
    payload: bytes
    signed: bytes
    signature: bytes


def parse(token: str) -> Parts:
    """Parses a token, without verifying it.

    Args:
        token: Header, payload and signature, in base64url with dots between them.

    Raises:
        JwtTokenInvalidError: If it is malformed, or a part isn't canonical base64url.
        JwtHeaderInvalidError: If the header lacks a member, or has an unsupported one.
        TypeError: If it isn't a str.
    """
    if not isinstance(token, str):
        raise TypeError(f"a token must be a str, not {type(token).__name__}")
    try:
        signed, _, signature = token.encode("ascii").rpartition(b".")
        header, payload = signed.split(b".")
    except ValueError:
        raise JwtTokenInvalidError("The token isn't three parts separated by dots") from None
    return Parts(
        _kept_header(header) if len(header) <= _MOST_KEPT else _header(header),
        _decoded(payload, "payload"),
        signed,
        _decoded(signature, "signature"),
    )


def json_object(payload: bytes) -> dict[str, Any]:
    """Decodes the payload, which is a JSON object (RFC 7519, section 7.2).

    Raises:
        JwtPayloadInvalidError: If it is anything else.
    """
    try:
        value = _decode_json(payload)
    except _NOT_JSON:
        value = None
    if not isinstance(value, dict):
        raise JwtPayloadInvalidError("The payload is not a JSON object")
    return value


def base64url(data: bytes) -> bytes:
    """Returns data in base64url without padding (RFC 7515, section 2)."""
    return urlsafe_b64encode(data).rstrip(b"=")


def _decoded(part: bytes, name: str) -> bytes:
    standard = part.translate(_STANDARD)
    try:
        data = a2b_base64(standard + b"==")
    except Error:
        data = None
    # SPEC: RFC 7515 section 2 and RFC 4648 section 3.5. The decoder skips invalid characters and
    # accepts several spellings of the same octets, but only the canonical one was issued.
    if data is None or b2a_base64(data, newline=False).rstrip(b"=") != standard:
        raise JwtTokenInvalidError(f"The {name} of the token is not canonical base64url")
    return data


def _header(part: bytes) -> dict[str, Any]:
    data = _decoded(part, "header")
    try:
        header = _decode_json(data)
    except _NOT_JSON:
        header = None
    if not isinstance(header, dict):
        raise JwtTokenInvalidError("The header of the token is not a JSON object")
    # SPEC: RFC 7515 section 4.1.11: critical extensions must be supported, and none is supported.
    # RFC 7797 section 6 requires `crit` with `b64`, so without it the token is malformed.
    if "crit" in header or "b64" in header:
        raise JwtHeaderInvalidError("The token requires an extension with 'crit' or 'b64'")
    if not isinstance(header.get("alg"), str):
        raise JwtHeaderInvalidError("The header of the token has no 'alg'")
    for name in ("kid", "typ"):
        if not isinstance(header.get(name, ""), str):
            raise JwtHeaderInvalidError(f"{name!r} in the header of the token is not a string")
    return header


# PERF: nearly all tokens of an app share one header.
_kept_header = lru_cache(maxsize=32)(_header)
