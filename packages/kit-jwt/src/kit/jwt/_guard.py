# SPDX-License-Identifier: MIT
"""The middleware shared by `jwt` and `jwk`: everything except the verification of a token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any, Generic, NamedTuple, Optional, TypeAlias, TypeVar, overload

import msgspec

from kit.authoring.maybe_await import call, check_answer
from kit.authoring.models import find_model, with_defaults
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, AsyncMiddleware, Context, Next
from kit.interface.metadata import attach, get_return_type

from ._credentials import Credentials
from ._errors import JwtError, JwtPayloadInvalidError, JwtTokenRevokedError
from ._tokens import VerifiedToken

__all__ = ("CurrentUser", "IsRevoked")

R_co = TypeVar("R_co", covariant=True)
U = TypeVar("U")

IsRevoked: TypeAlias = Callable[[Any, AnyContext], Awaitable[bool] | bool]
"""Returns whether a token is revoked: `def is_revoked(payload, c)`, plain or async."""

PAYLOAD = "jwt_payload"
_USER = "user"
_numbers = count(1)


class CurrentUser(Generic[R_co]):
    """Returns the user of a request, as looked up by `load`.

    Its type parameter is the return type of `load`: a user, or an awaitable of one.

        user = jwt(secret=SECRET, alg="HS256", load=find_user)
        app.get("/me", user.required, lambda c: c.text(user(c).name))

    Attributes:
        required: Middleware that lets requests with a user through, and rejects all others.
        optional: Middleware that also lets requests without a token through. Invalid tokens are
            still rejected.
    """

    def __init__(
        self, name: str, required: AsyncMiddleware, optional: AsyncMiddleware, state: State
    ) -> None:
        self.required = required
        self.optional = optional
        self._name = name
        self._state = state

    @overload
    def __call__(self: CurrentUser[Awaitable[U | None]], c: Context[Any, Any], /) -> U: ...
    @overload
    def __call__(self: CurrentUser[U | None], c: Context[Any, Any], /) -> U: ...
    def __call__(self, c: Context[Any, Any], /) -> Any:
        """Returns the user of a request.

        Args:
            c: The context.

        Raises:
            HTTPException: The 401 of `required`, if `optional` let a request without a token
                through.
            RuntimeError: If neither `required` nor `optional` has run.
        """
        user = self._found(c)
        if user is None:
            raise self._state.credentials.absent(c)
        return user

    @overload
    def get(self: CurrentUser[Awaitable[U | None]], c: Context[Any, Any], /) -> U | None: ...
    @overload
    def get(self: CurrentUser[U | None], c: Context[Any, Any], /) -> U | None: ...
    def get(self, c: Context[Any, Any], /) -> Any:
        """Returns the user of a request; None if it has no token.

        Args:
            c: The context.

        Raises:
            RuntimeError: If neither `required` nor `optional` has run.
        """
        return self._found(c)

    def _found(self, c: Context[Any, Any]) -> Any:
        found = c.get(self._state.key)
        if found is None:
            raise RuntimeError(
                f"There is no user yet: neither .required nor .optional of {self._name}(load=...) "
                "has run. Register one of them for the route, before the handler"
            )
        return found[0]


class State(NamedTuple):
    """The state of a guard.

    Attributes:
        credentials: Reads the token, and builds the responses.
        key: Name of the guard's own variable, which contains the user in a tuple.
        variable: Name of the public variable, which contains the user itself.
    """

    credentials: Credentials
    key: str
    variable: str


class Hooks(NamedTuple):
    """The options for the payload of a verified token.

    Attributes:
        kind: The type to decode it to.
        decode: Decodes its JSON to that type; None to leave it a dict.
        is_revoked: The option.
        load: The option.
    """

    kind: Any
    decode: Callable[[bytes], Any] | None
    is_revoked: Any
    load: Any


def check_hooks(check: OptionChecks, kind: Any, is_revoked: Any, load: Any) -> Hooks:
    """Checks the options for the payload.

    Raises:
        TypeError: If one of them has the wrong type.
    """
    if is_revoked is not None:
        check.function("is_revoked", is_revoked, "(payload, c)")
    if load is not None:
        check.function("load", load, "(payload, c)")
    if kind is None:
        return Hooks(dict[str, Any], None, is_revoked, load)
    return Hooks(kind, _decoder(check, kind), is_revoked, load)


def guard(
    check: OptionChecks,
    credentials: Credentials,
    verify: Callable[[str, Context[Any, Any]], VerifiedToken | Awaitable[VerifiedToken]],
    hooks: Hooks,
    *,
    allow_anon: bool,
    user_variable: str,
    responses: dict[int, str],
) -> Any:
    """Returns the middleware of a factory, or the `CurrentUser` if it has `load`.

    Args:
        check: The checks of the factory; the middleware gets the name of the factory.
        credentials: Reads the token.
        verify: Verifies a token, plain or async; raises a JwtError if it is rejected.
        hooks: The options for its payload.
        allow_anon: The option.
        user_variable: The option.
        responses: Statuses of the middleware other than 401.
    """
    name = check.factory
    check.flag("allow_anon", allow_anon)
    check.text("user_variable", user_variable, r"\S+", "a name such as 'user'")
    state = State(credentials, f"kit.{name}.user.{next(_numbers)}", user_variable)
    if hooks.load is None:
        if user_variable != _USER:
            raise ValueError(f"{name}(user_variable=...) needs load=..., which returns the user")
        return _middleware(name, state, verify, hooks, allow_anon, responses)
    if allow_anon:
        raise ValueError(
            f"{name}(allow_anon=True) can't be used with load=...: register .optional of the "
            f"result of {name}()"
        )
    required = _middleware(name, state, verify, hooks, False, responses)
    optional = _middleware(name, state, verify, hooks, True, responses)
    return CurrentUser(name, required, optional, state)


def _middleware(
    name: str,
    state: State,
    verify: Callable[..., VerifiedToken | Awaitable[VerifiedToken]],
    hooks: Hooks,
    optional: bool,
    responses: dict[int, str],
) -> AsyncMiddleware:
    credentials = state.credentials

    async def middleware(c: Context[Any, Any], next: Next) -> None:
        token = credentials.token(c)
        if token is None:
            if not optional:
                raise credentials.absent(c)
            if hooks.load is not None:
                c.set(state.key, (None,))
            await next()
            return
        try:
            verified = verify(token, c)
            if not isinstance(verified, VerifiedToken):
                verified = await verified
            await _accept(verified, c, hooks, state)
        except JwtError as error:
            raise credentials.refused(c) from error
        await next()

    middleware.__name__ = middleware.__qualname__ = name
    schemes = credentials.security()
    return attach(
        middleware,
        provides=_provided(hooks, state.variable, optional),
        security=[*schemes, ()] if optional else schemes,
        responses={401: "An invalid token" if optional else "No token, or an invalid token"}
        | responses,
    )


async def _accept(token: VerifiedToken, c: Context[Any, Any], hooks: Hooks, state: State) -> None:
    payload = token.payload if hooks.decode is None else hooks.decode(token.data)
    if hooks.is_revoked is not None:
        revoked = await call(hooks.is_revoked, payload, c)
        # A function without a return statement would accept every token.
        if revoked is None:
            raise TypeError("is_revoked returned None, expected True or False")
        if revoked:
            raise JwtTokenRevokedError("The token is revoked")
    if hooks.load is not None:
        user = await call(hooks.load, payload, c)
        # Other falsy values may be users, such as the ID 0.
        if user is None or user is False:
            raise JwtTokenRevokedError("There is no user for the token")
        check_answer("load", user, "a user or None")
        c.set(state.key, (user,))
        c.set(state.variable, user)
    c.set(PAYLOAD, payload)


def _provided(hooks: Hooks, variable: str, optional: bool) -> dict[str, Any]:
    provided = {PAYLOAD: hooks.kind}
    if hooks.load is not None:
        provided[variable] = get_return_type(hooks.load) or Any
    if not optional:
        return provided
    return {
        name: kind if kind is Any else Optional[kind]  # noqa: UP045 - it may be a text
        for name, kind in provided.items()
    }


def _decoder(check: OptionChecks, kind: Any) -> Callable[[bytes], Any]:
    model = find_model(kind)
    try:
        decode = (
            with_defaults(msgspec.json.Decoder(kind).decode, kind)
            if model is None
            else model.validate_json
        )
    except (TypeError, NameError) as error:
        raise TypeError(f"{check.factory}(type={kind!r:.100}) can't be used: {error}") from None

    def decoded(data: bytes) -> Any:
        try:
            return decode(data)
        except ValueError as error:  # of msgspec and of pydantic
            raise JwtPayloadInvalidError(f"The payload doesn't match {kind!r:.100}") from error

    return decoded
