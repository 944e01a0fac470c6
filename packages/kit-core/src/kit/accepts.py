# SPDX-License-Identifier: MIT
"""Content negotiation: chooses a response's format by what the client accepts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, overload

from kit.interface import Context
from kit.interface.fields import Accepted, parse_accept

__all__ = ("Accepted", "AcceptsOptions", "accepts")


class AcceptsOptions(NamedTuple):
    """What `accepts` was called with, for a `match` function.

    Attributes:
        header: Name of the request header.
        supports: What the app supports.
        default: What it chooses otherwise.
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
    """Chooses one of the supported values by what the client accepts (RFC 9110, section 12.5).

    The value with the highest quality wins; among equal ones, the one that the client names first,
    exact ones before ranges such as `text/*`. Values are compared without case. A quality of 0
    is a refusal, and a range doesn't stand for a type that has a quality of its own. `*` and `*/*`
    name no value, so they are skipped. If nothing is found, the default is chosen, even one that
    the client refuses.

    A response that depends on a header has to name it in Vary:
    `kit.interface.fields.add_vary(c.res.headers, "Accept")`.

    Args:
        c: The context.
        header: Name of the request header, such as `Accept` or `Accept-Language`.
        supports: What the app can send, e.g. `["text/html", "application/json"]`.
        default: What to choose if the client sends no such header, or accepts none of them.
        match: Function `(accepted, options)` that chooses instead. If the client sends the header,
            it is called with what `parse_accept` returns and with the arguments above.

    Returns:
        One of `supports`, as it is spelled there, or `default`. With an async `match` an awaitable,
        unless there is no such header.

    Raises:
        TypeError: If `supports` is a str.

    Example:
        kind = accepts(c, "Accept", ["application/json", "text/html"], "text/html")
    """
    if isinstance(supports, str):
        raise TypeError(f"accepts(supports=...) takes a list of str, not {supports!r:.100}")
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
        # They are sorted by quality already.
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
