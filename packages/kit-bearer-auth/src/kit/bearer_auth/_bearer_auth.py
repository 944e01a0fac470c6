# SPDX-License-Identifier: MIT
"""The middleware: verifies the token, and calls the next handler or responds with an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Optional, TypeAlias

from kit.authoring.credentials import HashFunction, compare_by_digest, compare_by_hash_function
from kit.authoring.maybe_await import check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.vary import depend_on
from kit.http.credentials import TOKEN68
from kit.http.fields import TOKEN, quoted_string
from kit.interface import AnyContext, AsyncMiddleware, Context, Next
from kit.interface.metadata import attach, get_return_type

from ._failures import Failure, FailureOptions, prepare
from ._tokens import check_tokens

__all__ = ("FailureOptions", "HashFunction", "VerifyToken", "bearer_auth")

VerifyToken: TypeAlias = Callable[[str, AnyContext], object]
"""Verifies a well-formed token: `def verify(token, c)`, plain or async.

It returns the token's user, or True; a falsy result, such as None, rejects the token.
"""

_USER = "user"
_SCHEME = "Bearer"


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
    optional: bool = False,
    user_variable: str = _USER,
) -> AsyncMiddleware:
    """Returns middleware that only lets requests with a valid bearer token through.

    Any other request raises an `HTTPException` with the response in `res`, so `on_error` handlers
    see it: 401 without credentials, 400 if they are malformed or sent twice, 401 if the token is
    rejected (RFC 6750 section 3, RFC 9110 section 11.6.1).

    Tokens are compared in constant time.

    The middleware has its security scheme, the statuses of its responses and the type of the user
    as metadata, see `kit.interface.metadata`.

    Args:
        token: The accepted token, or several tokens, any of which is accepted.
        verify_token: Function `(token, c)`, plain or async, that returns the token's user, or True,
            or a falsy value to reject the token. Replaces `token`.
        realm: Name of the protected area, for the challenge to requests without credentials.
        prefix: Scheme before the token, compared case-insensitively. If empty, the header contains
            only the token. A challenge begins with the first word of the prefix, or with Bearer if
            it is empty, since a challenge needs a scheme (RFC 9110, section 11.6.1).
        header_name: The request header that contains the credentials.
        hash_function: Function `(token)`, plain or async, that returns the token's hash as str or
            bytes, or None, which never matches. It must be deterministic. Default: SHA-256.
        no_authentication_header: `message`, `www_authenticate_header` and `status` of the response
            to a request without credentials, see `FailureOptions`.
        invalid_authentication_header: The same for malformed credentials.
        invalid_token: The same for a rejected token. With the status 403, the error in the
            challenge is `insufficient_scope` (RFC 6750 section 3.1).
        optional: Whether to let requests without credentials through, without a user. Malformed and
            rejected credentials are still errors.
        user_variable: Name of the variable for the user that `verify_token` returns, for
            `c.get(user_variable)`.

    Returns:
        The middleware, for `app.use(path, ...)`.

    Raises:
        ValueError: If neither `token` nor `verify_token` is given, or both, or if a value is
            invalid.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/api/*", bearer_auth(token="s3cret"))
    """
    check = OptionChecks("bearer_auth")
    _check_header(check, header_name, prefix, realm)
    _check_user(check, verify_token, user_variable)
    if check.flag("optional", optional) and no_authentication_header is not None:
        raise ValueError(
            "bearer_auth(no_authentication_header=...) can't be used with optional=True, "
            "which lets requests without credentials through"
        )
    scheme = f"{prefix.partition(' ')[0] or _SCHEME} "
    absent = prepare(
        "no_authentication_header",
        no_authentication_header,
        401,
        scheme,
        lambda status: f"realm={quoted_string(realm)}",
    )
    malformed = prepare(
        "invalid_authentication_header",
        invalid_authentication_header,
        400,
        scheme,
        lambda status: 'error="invalid_request"',
    )
    # SPEC: RFC 6750 section 3.1: the error for each status.
    refused = prepare(
        "invalid_token",
        invalid_token,
        401,
        scheme,
        lambda status: f'error="{"insufficient_scope" if status == 403 else "invalid_token"}"',
    )
    accepts = _acceptance(check, token, verify_token, hash_function)
    credentials = _credentials(prefix)
    # Caches have rules for Authorization (RFC 9111 section 3.5).
    is_known_to_caches = header_name.lower() == "authorization"

    async def bearer_auth(c: Context[Any, Any], next: Next) -> None:
        header = c.req.header(header_name)
        if not is_known_to_caches:
            depend_on(c, header_name)
        match = credentials(header) if header else None
        if match is not None:
            user = accepts(match[1], c)
            if is_awaitable(user):
                user = await settle(user, "bearer_auth(verify_token=...)")
            if not user:
                raise await refused.error(c)
            if user is not True:
                check_answer("bearer_auth(verify_token=...)", user, "a user, True or None")
                c.set(user_variable, user)
        elif header and not header.isspace():
            raise await malformed.error(c)
        elif not optional:
            raise await absent.error(c)
        await next()

    provided = None if verify_token is None else get_return_type(verify_token)
    own = _security_scheme(prefix, header_name)
    return attach(
        bearer_auth,
        provides=_provided(user_variable, provided, optional),
        security=(own, ()) if optional else own,
        responses=_responses(None if optional else absent, malformed, refused),
    )


def _check_header(check: OptionChecks, header_name: Any, prefix: Any, realm: Any) -> None:
    check.header_name("header_name", header_name, "Authorization")
    check.text("prefix", prefix, rf"(?:{TOKEN}(?: {TOKEN})*)?", "a scheme such as 'Bearer' or ''")
    try:
        quoted_string(check.text("realm", realm))
    except ValueError:
        check.unusable("realm", realm, "latin-1 text without control characters")


def _check_user(check: OptionChecks, verify_token: Any, user_variable: Any) -> None:
    if verify_token is not None:
        check.function("verify_token", verify_token, "(token, c)")
    check.text("user_variable", user_variable, r"\S+", "a name such as 'user'")
    if verify_token is None and user_variable != _USER:
        raise ValueError(
            "bearer_auth(user_variable=...) needs verify_token=..., which returns the user"
        )


def _acceptance(
    check: OptionChecks,
    token: Any,
    verify_token: VerifyToken | None,
    hash_function: HashFunction | None,
) -> Callable[[str, Context[Any, Any]], Any]:
    """Returns a function that returns the user of a token or whether it is accepted."""
    if hash_function is not None:
        check.function("hash_function", hash_function, "(token)")
    if verify_token is not None:
        for name, value in (("token", token), ("hash_function", hash_function)):
            if value is not None:
                raise ValueError(
                    f"bearer_auth({name}=...) has no effect beside verify_token=..., which decides "
                    "about all tokens: leave one of them out"
                )
        return verify_token
    if token is None:
        raise ValueError("bearer_auth() needs token=... or verify_token=..., and got neither")
    tokens = check_tokens(token, re.compile(TOKEN68))
    if hash_function is not None:
        is_hashed = compare_by_hash_function(
            "bearer_auth", [(each,) for each in tokens], hash_function
        )
        return lambda token, c: is_hashed(token)
    is_known = compare_by_digest(tokens)
    return lambda token, c: is_known(token)


def _credentials(prefix: str) -> Callable[[str], re.Match[str] | None]:
    """Returns a function that finds the token in the value of the header."""
    # A repeated header is joined with a comma (RFC 9110 section 5.3). Neither scheme nor token can
    # contain one, so the pattern rejects it.
    scheme = rf"(?i:{re.escape(prefix)}) [ \t]*" if prefix else ""
    return re.compile(rf"[ \t]*{scheme}({TOKEN68})[ \t]*", re.ASCII).fullmatch


def _provided(name: str, kind: Any, optional: bool) -> dict[str, Any]:
    if kind is None:
        return {}
    return {name: Optional[kind] if optional and kind is not Any else kind}  # noqa: UP045


def _responses(absent: Failure | None, malformed: Failure, refused: Failure) -> dict[int, str]:
    """Returns the statuses of the failures, each with a description."""
    meanings: dict[int, list[str]] = {}
    for failure, meaning in (
        (absent, "no credentials"),
        (malformed, "malformed credentials"),
        (refused, "an invalid token"),
    ):
        if failure is not None:
            meanings.setdefault(failure.status, []).append(meaning)
    return {status: ", or ".join(each).capitalize() for status, each in meanings.items()}


def _security_scheme(prefix: str, header_name: str) -> dict[str, str]:
    """Returns the Security Scheme Object (OpenAPI 3.1.1, section 4.8.27) for these options."""
    if header_name.lower() == "authorization" and prefix and " " not in prefix:
        return {"type": "http", "scheme": prefix.lower()}
    # OpenAPI has no HTTP scheme for anything else, so it is described as a key in a header.
    return {"type": "apiKey", "in": "header", "name": header_name}
