# SPDX-License-Identifier: MIT
"""The options that `proxy` and `reverse_proxy` have in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypedDict

import httpx

from kit.authoring.maybe_await import call
from kit.authoring.options import OptionChecks
from kit.http.fields import is_field_value, is_token
from kit.interface import Context

from ._fields import Line, name_in_cgi

__all__ = ("HeadersOption", "Options", "ProxyOptions", "check_options")

_MOST_BYTES = 16 * 1024 * 1024

_Replaced: TypeAlias = Mapping[str, str | None]
HeadersOption: TypeAlias = _Replaced | Callable[[Any], _Replaced | Awaitable[_Replaced]]
"""Fields to set in the request, None to remove one; or a function `(c)` that returns them."""


class ProxyOptions(TypedDict, total=False):
    """The options that `proxy` and `reverse_proxy` have in common; see `reverse_proxy`."""

    client: httpx.AsyncClient | None
    headers: HeadersOption | None
    strict_connection_processing: bool
    preserve_host: bool
    add_forwarded: bool
    trust_forwarded: bool
    via: str | None
    connect_timeout: float | None
    read_timeout: float | None
    total_timeout: float | None
    max_message_size_bytes: int | None


class Options(NamedTuple):
    """The checked options."""

    client: httpx.AsyncClient | None
    headers: Any
    strict_connection_processing: bool
    preserve_host: bool
    add_forwarded: bool
    trust_forwarded: bool
    via: str | None
    connect_timeout: float | None
    read_timeout: float | None
    total_timeout: float | None
    max_message_size_bytes: int | None

    async def replace_lines(self, lines: list[Line], c: Context[Any, Any]) -> list[Line]:
        """Returns the lines of a request with those of the option `headers` instead of their own.

        Raises:
            TypeError: If the function returns something else than a mapping of texts.
            ValueError: If a name or a value can't be sent.
        """
        headers = self.headers
        if headers is None:
            return lines
        replaced = await call(headers, c) if callable(headers) else headers
        if replaced is not headers:
            replaced = check_headers(OptionChecks("kit.proxy"), replaced)
        names = {name_in_cgi(name.lower()) for name in replaced}
        own = [(name.lower(), value) for name, value in replaced.items() if value is not None]
        return [(name, value) for name, value in lines if name_in_cgi(name) not in names] + own


def check_options(
    factory: str,
    *,
    client: Any = None,
    headers: Any = None,
    strict_connection_processing: Any = True,
    preserve_host: Any = False,
    add_forwarded: Any = True,
    trust_forwarded: Any = False,
    via: Any = "kit",
    connect_timeout: Any = 5.0,
    read_timeout: Any = 60.0,
    total_timeout: Any = None,
    max_message_size_bytes: Any = _MOST_BYTES,
    **unknown: Any,
) -> Options:
    """Checks the options, see `reverse_proxy`.

    Raises:
        TypeError: If an option is unknown or has the wrong type.
        ValueError: If a value can't be used.
    """
    for name in unknown:
        raise TypeError(f"{factory}() got an unexpected keyword argument {name!r}")
    check = OptionChecks(factory)
    if client is not None and not isinstance(client, httpx.AsyncClient):
        check.wrong_type("client", client, "an httpx.AsyncClient")
    if callable(headers):
        check.function("headers", headers, "(c)")
    elif headers is not None:
        check_headers(check, headers)
    if via is not None and not is_token(check.text("via", via)):
        check.unusable("via", via, "a name such as 'kit' (RFC 9110, section 7.6.3)")
    for name, value in (
        ("connect_timeout", connect_timeout),
        ("read_timeout", read_timeout),
        ("total_timeout", total_timeout),
    ):
        if value is not None:
            check.number(name, value, least=0.001, unit="seconds", whole=False)
    if max_message_size_bytes is not None:
        check.number("max_message_size_bytes", max_message_size_bytes, least=1, unit="byte")
    return Options(
        client,
        headers,
        check.flag("strict_connection_processing", strict_connection_processing),
        check.flag("preserve_host", preserve_host),
        check.flag("add_forwarded", add_forwarded),
        check.flag("trust_forwarded", trust_forwarded),
        via,
        connect_timeout,
        read_timeout,
        total_timeout,
        max_message_size_bytes,
    )


def check_headers(check: OptionChecks, headers: Any) -> _Replaced:
    """Checks the fields to set in a request."""
    if not isinstance(headers, Mapping):
        check.wrong_type("headers", headers, "a mapping of texts or None, or a function (c)")
    for name, value in headers.items():
        check.header_name("headers", name, "x-api-key")
        if value is not None and not is_field_value(check.text("headers", value)):
            raise ValueError(
                f"{check.factory}(headers=...) has a value for {name!r} that can't be sent: "
                "expected latin-1 text without control characters or surrounding spaces"
            )
    return headers
