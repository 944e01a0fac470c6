# SPDX-License-Identifier: MIT
"""Checks the options, and prepares them for the middleware."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins
from kit.http.fields import is_token
from kit.http.origins import is_origin
from kit.interface import AnyContext

AllowOrigin: TypeAlias = Callable[[str, AnyContext], str | Awaitable[str | None] | None]
"""Returns the origin to allow, or None: `def allow(origin, c)`, plain or async."""

AllowMethods: TypeAlias = Callable[[str, AnyContext], Iterable[str] | Awaitable[Iterable[str]]]
"""Returns the methods to allow: `def methods(origin, c)`, plain or async."""

Decide: TypeAlias = Callable[[str, Any], Awaitable[str | None]]
"""Returns the checked origin to allow, or None."""

_EXAMPLE = "list the allowed origins, e.g. origin='https://app.example.com'"


def check_flags(
    check: OptionChecks, *, credentials: bool, allow_private_network: bool, any_origin: bool
) -> None:
    """Checks the options that are too dangerous with `*`: they require named origins.

    Args:
        check: The checks of the factory.
        credentials: The option.
        allow_private_network: The option.
        any_origin: Whether every origin is allowed.

    Raises:
        TypeError: If an option is not a bool.
        ValueError: If every origin would be allowed.
    """
    if check.flag("credentials", credentials) and any_origin:
        raise ValueError(
            "cors(credentials=True) can't be used with origin='*': every site could act on behalf "
            f"of a logged-in user; {_EXAMPLE}"
        )
    if check.flag("allow_private_network", allow_private_network) and any_origin:
        raise ValueError(
            "cors(allow_private_network=True) can't be used with origin='*': every site could "
            f"access its visitors' networks; {_EXAMPLE}"
        )


def check_origin(check: OptionChecks, origin: Any) -> frozenset[str] | AllowOrigin:
    """Checks the option `origin`.

    Args:
        check: The checks of the factory.
        origin: Its value, other than `*`.

    Returns:
        The origins to allow, or a function that decides.

    Raises:
        TypeError: If it has the wrong type.
        ValueError: If it contains an invalid origin.
    """
    if callable(origin):
        return check.function("origin", origin, "(origin, c)")  # type: ignore[no-any-return]
    if isinstance(origin, re.Pattern):
        return _matching(check, origin)
    if not _is_iterable(origin):
        check.wrong_type(
            "origin",
            origin,
            "'*', an origin, a list of origins, a compiled pattern or a function (origin, c)",
        )
    origins = check.texts("origin", origin)
    if "*" in origins:
        raise ValueError(
            "cors(origin=...) has '*' in a list: write only origin='*' to allow every origin"
        )
    return check_origins(check, "origin", origins, several="a compiled pattern or a function")


def _matching(check: OptionChecks, pattern: re.Pattern[Any]) -> AllowOrigin:
    if not isinstance(pattern.pattern, str):
        check.wrong_type("origin", pattern, "a pattern of str")
    fullmatch = pattern.fullmatch

    def matching(origin: str, c: Any) -> str | None:
        # A pattern may take very long on a long text, so it is only matched against origins.
        return origin if is_origin(origin) and fullmatch(origin) else None

    return matching


def checked(function: AllowOrigin) -> Decide:
    """Wraps the function of the option `origin` so that it returns a valid origin or None.

    Args:
        function: The function, plain or async.
    """

    async def decide(origin: str, c: Any) -> str | None:
        result: Any = function(origin, c)
        if is_awaitable(result):
            result = await settle(result, function)
        if result is None or isinstance(result, str):
            return result or None
        raise TypeError(
            f"cors(origin=...) returned {result!r:.100}: expected the origin to allow, or None"
        )

    return decide


def check_methods(check: OptionChecks, value: Any, *, credentials: bool) -> Any:
    """Checks the option `allow_methods`.

    Args:
        check: The checks of the factory.
        value: Its value.
        credentials: The option `credentials`.

    Returns:
        The value of the header, None to omit it, or the given function.

    Raises:
        TypeError: If it has the wrong type.
        ValueError: If it contains an invalid method.
    """
    if callable(value):
        return check.function("allow_methods", value, "(origin, c)", may_yield=True)
    if not _is_iterable(value):
        check.wrong_type(
            "allow_methods", value, "a method, a list of methods or a function (origin, c)"
        )
    methods = check.texts("allow_methods", value)
    for method in methods:
        if not is_token(method):
            check.unusable("allow_methods", method, "a method such as 'GET', or a list of methods")
        if method != method.upper():
            check.unusable("allow_methods", method, f"upper case: write {method.upper()!r}")
    return _listed(check, "allow_methods", methods, credentials=credentials)


def check_headers(check: OptionChecks, name: str, value: Any, *, credentials: bool) -> str | None:
    """Checks an option that lists headers.

    Args:
        check: The checks of the factory.
        name: The option.
        value: Its value.
        credentials: The option `credentials`.

    Returns:
        The value of the header; None to omit it.

    Raises:
        TypeError: If it has the wrong type.
        ValueError: If it contains an invalid name.
    """
    headers = check.texts(name, value)
    for header in headers:
        check.header_name(name, header, "X-Request-Id")
    return _listed(check, name, headers, credentials=credentials)


def _listed(
    check: OptionChecks, name: str, members: tuple[str, ...], *, credentials: bool
) -> str | None:
    # SPEC: Fetch, section 3.3.5: with credentials, a `*` is a name like any other.
    if credentials and "*" in members:
        check.unusable(
            name, "*", "names: with credentials=True, browsers treat '*' as a literal name"
        )
    return ",".join(members) or None


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, Mapping))
