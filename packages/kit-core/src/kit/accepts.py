# SPDX-License-Identifier: MIT
"""Content negotiation: chooses a format that the client accepts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, overload

from kit.http.fields import Accepted, parse_accept
from kit.interface import Context

__all__ = ("Accepted", "AcceptsOptions", "accepts")


class AcceptsOptions(NamedTuple):
    """The arguments of `accepts`, for a `match` function.

    Attributes:
        header: Name of the request header.
        supports: The values that the app supports.
        default: The value if none of them is accepted.
    """

    header: str
    supports: Sequence[str]
    default: str


@overload
def accepts(
    c: Context[Any, Any],
    header: str,
    supports: Sequence[str],
    default: str,
    match: Callable[[list[Accepted], AcceptsOptions], str] | None = None,
) -> str: ...
@overload
def accepts(
    c: Context[Any, Any],
    header: str,
    supports: Sequence[str],
    default: str,
    match: Callable[[list[Accepted], AcceptsOptions], Awaitable[str]],
) -> Awaitable[str] | str: ...
def accepts(
    c: Context[Any, Any],
    header: str,
    supports: Sequence[str],
    default: str,
    match: Callable[[list[Accepted], AcceptsOptions], Any] | None = None,
) -> Any:
    """Chooses a supported value that the client accepts (RFC 9110, section 12.5).

    The value with the highest quality wins. If qualities are equal, exact values come before ranges
    such as `text/*`, and then the client's order decides. Values are compared case-insensitively. A
    quality of 0 excludes a value, and a range doesn't match a type with its own quality. `*` and
    `*/*` name no value, so they are skipped. If nothing matches, the default is returned, even if
    the client excludes it.

    A response that depends on a header must list it in Vary:
    `kit.http.vary.add_vary(c.res.headers, "Accept")`.

    Args:
        c: The context.
        header: Name of the request header, such as `Accept` or `Accept-Language`.
        supports: The values that the app can send, e.g. `["text/html", "application/json"]`.
        default: Returned if the client doesn't send the header, or accepts none of the values.
        match: A function `(accepted, options)` that chooses instead. If the client sends the
            header, it is called with the result of `parse_accept` and the arguments above.

    Returns:
        One of `supports`, with the same spelling, or `default`. With an async `match`, an
        awaitable, unless the client doesn't send the header.

    Raises:
        TypeError: If `supports` is a str, or `match` isn't a function.

    Example:
        kind = accepts(c, "Accept", ["application/json", "text/html"], "text/html")
    """
    if isinstance(supports, str):
        raise TypeError(f"accepts(supports=...) takes a list of str, not {supports!r:.100}")
    if match is not None and not callable(match):
        raise TypeError(
            f"accepts(match=...) takes a function (accepted, options), not {match!r:.100}"
        )
    value = c.req.header(header)
    if not value:
        return default
    accepted = parse_accept(value)
    if match is not None:
        return match(accepted, AcceptsOptions(header, supports, default))
    return _best(accepted, supports, default)


def _best(accepted: list[Accepted], supports: Sequence[str], default: str) -> str:
    spelled: dict[str, str] = {}
    for each in supports:
        spelled.setdefault(each.lower(), each)
    ranked = [(each.q, each.type.lower()) for each in accepted]
    exact = {name for _, name in ranked if not _breadth(name)}
    if len(exact) < len(ranked):
        # The candidates are already sorted by quality.
        ranked.sort(key=lambda each: (-each[0], _breadth(each[1])))
    for q, name in ranked:
        if q == 0:
            break
        if name in spelled:
            return spelled[name]
        if _breadth(name) == 1:
            kind = name.partition("/")[0]
            for lower, each in spelled.items():
                if lower not in exact and lower.partition("/")[0] == kind:
                    return each
    return default


def _breadth(name: str) -> int:
    """Returns 0 for an exact value, 1 for a range such as `text/*`, 2 for `*` and `*/*`."""
    return 2 if name in ("*", "*/*") else 1 if name.endswith("/*") else 0
