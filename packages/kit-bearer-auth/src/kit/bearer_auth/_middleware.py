# SPDX-License-Identifier: MIT
"""The middleware: extracts the token, verifies it, and calls the next handler or refuses."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.metadata import attach

from ._failures import FailureOptions, prepare, quoted
from ._tokens import HashFunction, by_digest, by_hash_function, check_tokens

__all__ = ("FailureOptions", "HashFunction", "VerifyToken", "bearer_auth")

# Any lets a function annotate its context as the core's own class, or one with its types.
VerifyToken: TypeAlias = Callable[[str, Any], bool | Awaitable[bool]]
"""Decides whether a well-formed token is accepted: `def verify(token, c)`, plain or async."""

# SPEC: RFC 9110 section 5.6.2.
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105 - a grammar, not a secret
# SPEC: RFC 6750 section 2.1, b64token.
_B64TOKEN = r"[A-Za-z0-9\-._~+/]+=*"


def bearer_auth(
    *,
    token: str | Iterable[str] | None = None,
    verify_token: VerifyToken | None = None,
    realm: str = "",
    prefix: str = "Bearer",
    header_name: str = "Authorization",
    hash_function: HashFunction | None = None,
    no_authentication_header: FailureOptions | None = None,
    invalid_authentication_header: FailureOptions | None = None,
    invalid_token: FailureOptions | None = None,
) -> AsyncMiddleware:
    """Returns middleware that only lets requests with a valid bearer token through.

    Any other request raises an `HTTPException` that carries the response (`res`), so `on_error`
    sees it: 401 without credentials, 400 if they are malformed or sent twice, 401 if the token is
    refused (RFC 6750 section 3, RFC 9110 section 11.6.1).

    Tokens are compared in constant time.

    The middleware carries its security scheme and the statuses of its responses as facts, see
    `kit.interface.metadata`.

    Args:
        token: The accepted token, or several tokens, any of which is accepted.
        verify_token: Function `(token, c)`, plain or async, that returns whether the token is
            accepted. It takes the place of `token`.
        realm: Name of the protected area, for the challenge to requests without credentials.
        prefix: Scheme before the token, compared case-insensitively. If empty, the header contains
            only the token, and challenges have no scheme.
        header_name: The request header that contains the credentials.
        hash_function: Function `(token)`, plain or async, that returns the token's hash as str or
            bytes, or None, which never matches. It must be deterministic. Default: SHA-256.
        no_authentication_header: `message` and `www_authenticate_header` of the response to a
            request without credentials, see `FailureOptions`.
        invalid_authentication_header: The same for malformed credentials.
        invalid_token: The same for a refused token.

    Returns:
        The middleware, for `app.use(path, ...)`.

    Raises:
        ValueError: If neither `token` nor `verify_token` is given, or a value is invalid.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/api/*", bearer_auth(token="s3cret"))
    """
    for name, function in (("verify_token", verify_token), ("hash_function", hash_function)):
        if function is not None and not callable(function):
            raise TypeError(f"bearer_auth({name}=...) takes a function, not {function!r:.100}")
    _check_text("header_name", header_name, _TOKEN, "a header name such as 'Authorization'")
    _check_text(
        "prefix", prefix, rf"(?:{_TOKEN}(?: {_TOKEN})*)?", "a scheme such as 'Bearer' or ''"
    )
    if not isinstance(realm, str):
        raise TypeError(f"bearer_auth(realm=...) takes a str, not {type(realm).__name__}")
    challenge = f"{prefix} " if prefix else ""
    absent = prepare(
        "no_authentication_header",
        no_authentication_header,
        401,
        "Unauthorized",
        f"{challenge}realm={quoted('realm', realm)}",
        challenge,
    )
    malformed = prepare(
        "invalid_authentication_header",
        invalid_authentication_header,
        400,
        "Bad Request",
        f'{challenge}error="invalid_request"',
        challenge,
    )
    refused = prepare(
        "invalid_token",
        invalid_token,
        401,
        "Unauthorized",
        f'{challenge}error="invalid_token"',
        challenge,
    )
    accepts: Callable[[str, Any], Any]
    if verify_token is not None:
        accepts = verify_token
    elif token is None:
        raise ValueError("bearer_auth() needs token=... or verify_token=..., and got neither")
    else:
        tokens = check_tokens(token, re.compile(_B64TOKEN))
        accepts = by_hash_function(tokens, hash_function) if hash_function else by_digest(tokens)

    # A repeated header is joined with a comma (RFC 9110 section 5.3). Neither scheme nor token can
    # contain one, so the pattern rejects it.
    scheme = rf"(?i:{re.escape(prefix)}) [ \t]*" if prefix else ""
    credentials = re.compile(rf"[ \t]*{scheme}({_B64TOKEN})[ \t]*", re.ASCII).fullmatch

    async def bearer_auth(c: Context[Any, Any], next: Next) -> None:
        header = c.req.header(header_name)
        match = credentials(header) if header else None
        if match is None:
            blank = not header or header.isspace()
            raise await (absent if blank else malformed)(c)
        accepted = accepts(match[1], c)
        if hasattr(accepted, "__await__"):
            accepted = await accepted
        if not accepted:
            raise await refused(c)
        await next()

    return attach(
        bearer_auth,
        security=_security_scheme(prefix, header_name),
        responses={400: "The credentials are malformed", 401: "No credentials, or refused ones"},
    )


def _security_scheme(prefix: str, header_name: str) -> dict[str, str]:
    """Returns the Security Scheme Object (OpenAPI 3.1.1, section 4.8.27) for these options."""
    if header_name.lower() == "authorization" and prefix and " " not in prefix:
        return {"type": "http", "scheme": prefix.lower()}
    # OpenAPI has no HTTP scheme for anything else, so it is described as a key in a header.
    return {"type": "apiKey", "in": "header", "name": header_name}


def _check_text(name: str, value: str, pattern: str, expected: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"bearer_auth({name}=...) takes a str, not {type(value).__name__}")
    if not re.fullmatch(pattern, value):
        raise ValueError(f"bearer_auth({name}={value!r:.100}) can't be used: expected {expected}")
