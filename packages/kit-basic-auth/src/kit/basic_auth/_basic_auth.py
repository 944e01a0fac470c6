# SPDX-License-Identifier: MIT
"""The middleware: checks name and password, and calls the next handler or responds with a 401."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, overload

from kit.authoring.credentials import (
    HashFunction,
    build_refusal,
    check_message,
    compare_by_digest,
    compare_by_hash_function,
)
from kit.authoring.maybe_await import call, check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.http.fields import quoted_string
from kit.interface import AnyContext, AsyncMiddleware, Context, HTTPException, Next
from kit.interface.metadata import attach

from ._credentials import check_users, read_credentials, split_first

__all__ = ("OnAuthSuccess", "User", "VerifyUser", "basic_auth")

VerifyUser: TypeAlias = Callable[[str, str, AnyContext], bool | Awaitable[bool]]
"""Returns whether to let a user in: `def verify_user(username, password, c)`, plain or async."""

OnAuthSuccess: TypeAlias = Callable[[AnyContext, str], object]
"""Called with the accepted username: `def on_auth_success(c, username)`, plain or async."""


class User(TypedDict):
    """A user to let in.

    Attributes:
        username: The name, without a colon.
        password: The password.
    """

    username: str
    password: str


@overload
def basic_auth(
    username: str,
    password: str,
    /,
    *users: User | Mapping[str, str],
    verify_user: VerifyUser | None = None,
    realm: str = "Secure Area",
    hash_function: HashFunction | None = None,
    invalid_user_message: Any = "Unauthorized",
    on_auth_success: OnAuthSuccess | None = None,
) -> AsyncMiddleware: ...
@overload
def basic_auth(
    *users: User | Mapping[str, str],
    username: str | None = None,
    password: str | None = None,
    verify_user: VerifyUser | None = None,
    realm: str = "Secure Area",
    hash_function: HashFunction | None = None,
    invalid_user_message: Any = "Unauthorized",
    on_auth_success: OnAuthSuccess | None = None,
) -> AsyncMiddleware: ...
def basic_auth(
    *users: Any,
    username: str | None = None,
    password: str | None = None,
    verify_user: VerifyUser | None = None,
    realm: str = "Secure Area",
    hash_function: HashFunction | None = None,
    invalid_user_message: Any = "Unauthorized",
    on_auth_success: OnAuthSuccess | None = None,
) -> AsyncMiddleware:
    """Returns middleware that only lets requests with a known name and password through (RFC 7617).

    Any other request raises an `HTTPException(401)` with the response in `res`, so `on_error`
    handlers see it. Its challenge asks for credentials in UTF-8.

    Names and passwords are compared in constant time, always with all users.

    The middleware has its security scheme and its 401 as metadata, see `kit.interface.metadata`.

    Args:
        *users: The users, each a mapping `{"username": ..., "password": ...}`. `username` and
            `password` can also be passed by position, before the users.
        username: Name of one more user.
        password: The password of that user.
        verify_user: Function `(username, password, c)`, plain or async, that returns whether to
            let the user in, in place of a list of users and `hash_function`.
        realm: Name of the protected area, shown by browsers. `""` selects the default.
        hash_function: Function `(text)`, plain or async, that returns the hash of a name or a
            password as str or bytes, or None, which never matches. It must be deterministic, and
            is applied both to configured users and to credentials in requests. It isn't meant for
            passwords stored as hashes: check those with `verify_user`. Default: SHA-256.
        invalid_user_message: The body of the 401: a str is sent as text/plain, any other value as
            JSON; `""` and None select the default. A function `(c)`, plain or async, returns
            either of them, or a response: its status is kept if it is a redirect or an error, and
            the challenge is added unless it has one.
        on_auth_success: Function `(c, username)`, plain or async, that is called before the
            handlers, e.g. to `c.set("user", ...)`.

    Returns:
        The middleware, for `app.use(path, ...)`.

    Raises:
        ValueError: If there are neither users nor `verify_user`, or both, or if a value is invalid
            or empty.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/admin/*", basic_auth(username="ada", password=os.environ["ADMIN_PASSWORD"]))
    """
    username, password, users = split_first(users, username, password)
    known = check_users(users, username, password)
    _check_functions(verify_user, hash_function, on_auth_success)
    if verify_user is None and not known:
        raise ValueError(
            "basic_auth() needs username=... and password=..., users, or verify_user=..., "
            "and got none of them"
        )
    if verify_user is not None:
        _check_alone(known, hash_function)
    refusal = _refusal(realm, invalid_user_message)
    accepts = _acceptance(known, verify_user, hash_function)

    async def basic_auth(c: Context[Any, Any], next: Next) -> None:
        credentials = read_credentials(c.req.header("authorization"))
        if credentials is None:
            raise await refusal(c)
        accepted = accepts(credentials, c)
        if is_awaitable(accepted):
            accepted = await settle(accepted, "basic_auth(verify_user=...)")
        if not accepted:
            raise await refusal(c)
        if accepted is not True:
            check_answer("basic_auth(verify_user=...)", accepted)
        if on_auth_success is not None:
            await call(on_auth_success, c, credentials.partition(":")[0])
        await next()

    return attach(
        basic_auth,
        security={"type": "http", "scheme": "basic"},
        responses={401: "Missing or invalid credentials"},
    )


def _check_alone(users: Sequence[object], hash_function: object) -> None:
    """Rejects what has no effect beside `verify_user`."""
    for name, given in (("users", users), ("hash_function=...", hash_function)):
        if given:
            raise ValueError(
                f"basic_auth({name}) has no effect beside verify_user=..., which decides about all "
                "users: leave one of them out"
            )


def _check_functions(verify_user: Any, hash_function: Any, on_auth_success: Any) -> None:
    check = OptionChecks("basic_auth")
    if verify_user is not None:
        check.function("verify_user", verify_user, "(username, password, c)")
    if hash_function is not None:
        check.function("hash_function", hash_function, "(text)")
    if on_auth_success is not None:
        check.function("on_auth_success", on_auth_success, "(c, username)")


def _refusal(realm: Any, message: Any) -> Callable[[Context[Any, Any]], Awaitable[HTTPException]]:
    """Checks the options of the response, and returns a function that creates the error."""
    check = OptionChecks("basic_auth")
    try:
        quoted = quoted_string(check.text("realm", realm) or "Secure Area")
    except ValueError:
        check.unusable("realm", realm, "latin-1 text without control characters")
    check_message(check, "invalid_user_message", message)
    default = message is None or message == ""
    text: Any = "Unauthorized" if default else message
    # SPEC: RFC 7617 section 2.1.
    headers = {"WWW-Authenticate": f'Basic realm={quoted}, charset="UTF-8"'}

    async def refusal(c: Context[Any, Any]) -> HTTPException:
        return await build_refusal(c, text, 401, headers)

    return refusal


def _acceptance(
    users: list[tuple[str, str]],
    verify_user: VerifyUser | None,
    hash_function: HashFunction | None,
) -> Callable[[str, Context[Any, Any]], Any]:
    """Returns a function that returns whether `name:password` is accepted, plain or async."""
    if verify_user is not None:
        verify = verify_user

        def verified(credentials: str, c: Context[Any, Any]) -> Any:
            # SPEC: RFC 7617 section 2: the first colon ends the name.
            username, _, password = credentials.partition(":")
            return verify(username, password, c)

        return verified
    if hash_function is not None:
        is_known = compare_by_hash_function("basic_auth", users, hash_function)

        def hashed(credentials: str, c: Context[Any, Any]) -> Any:
            username, _, password = credentials.partition(":")
            return is_known(username, password)

        return hashed
    # No name contains a colon, so two different users never produce the same text.
    is_user = compare_by_digest([f"{username}:{password}" for username, password in users])
    return lambda credentials, c: is_user(credentials)
