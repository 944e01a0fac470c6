# SPDX-License-Identifier: MIT
"""The middleware: looks up the client's address, and allows or denies the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any, TypeAlias, TypedDict

from kit.authoring.maybe_await import call, check_answer, is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe
from kit.conninfo import ConnInfo, get_conn_info
from kit.interface import AnyContext, AsyncMiddleware, Context, HTTPException, Next, Response
from kit.interface.metadata import attach

from ._rules import Remote, Rule, RuleList, read_address

GetIP: TypeAlias = Callable[[AnyContext], ConnInfo | str | Awaitable[ConnInfo | str | None] | None]
"""Returns the client's address, or a `ConnInfo` that has it: `def get_ip(c)`, plain or async."""

OnError: TypeAlias = Callable[[Remote, AnyContext], Response | Awaitable[Response]]
"""Returns the response for a denied client: `def on_error(remote, c)`, plain or async."""

# The longest IPv6 address has 45 characters, and the name of a network interface 15.
_LONGEST = 64
_CACHED = 1024


class Rules(TypedDict, total=False):
    """Which clients to deny, and which to allow.

    Attributes:
        deny_list: A client that matches one of these rules is denied.
        allow_list: If given, only clients that match one of these rules are allowed.
    """

    deny_list: Iterable[Rule]
    allow_list: Iterable[Rule]


def ip_restriction(
    get_ip: GetIP | None = None,
    rules: Rules | None = None,
    on_error: OnError | None = None,
    *,
    deny_list: Iterable[Rule] | None = None,
    allow_list: Iterable[Rule] | None = None,
) -> AsyncMiddleware:
    """Returns middleware that allows or denies clients by their IP addresses.

    A client that matches a rule of `deny_list` is denied. If there is an `allow_list`, a client
    that matches none of its rules is denied too. A client with an unknown address is always denied.

    A rule is one of:

    - an address, such as `"192.0.2.7"` or `"2001:db8::7"`;
    - a network, such as `"192.0.2.0/24"` or `"2001:db8::/32"` (RFC 4632, RFC 4291 section 2.3);
    - `"*"`, which every client matches;
    - an address or network of the module `ipaddress`;
    - a function `(remote)`, plain or async, that returns whether the rule matches. `remote` has the
      attributes `addr` and `type`, see `Remote`.

    Addresses are compared as numbers, so their notation doesn't matter. In rules and for clients,
    an IPv4-mapped IPv6 address, such as `::ffff:192.0.2.7`, is equal to the IPv4 address.

    A denied client gets the response of `on_error`, or a 403, raised as an `HTTPException` so that
    the app's `on_error` handlers see it. The middleware has its 403 as metadata, see
    `kit.interface.metadata`.

    Args:
        get_ip: Function `(c)`, plain or async, that returns the client's address, or a `ConnInfo`
            with it. The result is trusted, so don't take it from a header that clients can set.
            Default: `kit.conninfo.get_conn_info`, the address that the server reports.
        rules: A mapping with `deny_list`, `allow_list` or both.
        on_error: Function `(remote, c)`, plain or async, that returns the response for a client
            that the rules deny. A client with an unknown address always gets the 403.
        deny_list: The same as in `rules`.
        allow_list: The same as in `rules`.

    Returns:
        The middleware, for `app.use(path, ...)`.

    Raises:
        ValueError: If there are no rules, or one of them is invalid.
        TypeError: If an argument has the wrong type.

    Example:
        app.use("/admin/*", ip_restriction(allow_list=["192.0.2.0/24", "2001:db8::/32"]))
    """
    check = OptionChecks("ip_restriction")
    if get_ip is not None:
        check.function("get_ip", get_ip, "(c)")
    if on_error is not None:
        check.function("on_error", on_error, "(remote, c)")
    denied, allowed = _rule_lists(check, rules, deny_list, allow_list)
    address_of: Callable[[Any], Any] = get_conn_info if get_ip is None else get_ip

    deny_functions = denied.functions
    allow_functions = allowed.functions if allowed is not None else []
    judge = _judge(denied, allowed)

    async def refused(remote: Remote, c: Context[Any, Any]) -> Any:
        if on_error is None:
            raise HTTPException(403, "Forbidden")
        return await call(on_error, remote, c)

    async def ip_restriction(c: Context[Any, Any], next: Next) -> Any:
        found = address_of(c)
        if is_awaitable(found):
            found = await settle(found, "ip_restriction(get_ip=...)")
        addr = found if isinstance(found, str) else _address(found)
        verdict = judge(addr) if addr and len(addr) <= _LONGEST else None
        # APPSEC: an invalid address matches no rule, so a deny list would let it through.
        if verdict is None:
            raise HTTPException(403, "Forbidden")
        remote, is_denied, is_allowed = verdict
        if is_denied or (deny_functions and await _matches(deny_functions, remote)):
            return await refused(remote, c)
        if is_allowed or (allow_functions and await _matches(allow_functions, remote)):
            await next()
            return None
        return await refused(remote, c)

    return attach(ip_restriction, responses={403: "The client's address isn't allowed"})


def _rule_lists(
    check: OptionChecks, rules: Any, deny_list: Any, allow_list: Any
) -> tuple[RuleList, RuleList | None]:
    """Returns the deny list, and the allow list; None if all clients are allowed."""
    if rules is not None:
        if deny_list is not None or allow_list is not None:
            raise ValueError(
                "ip_restriction() takes either rules=... or deny_list=... and allow_list=..., "
                "and got both"
            )
        check.keys("rules", rules, ("deny_list", "allow_list"))
        deny_list, allow_list = rules.get("deny_list"), rules.get("allow_list")
    if deny_list is None and allow_list is None:
        raise ValueError("ip_restriction() needs deny_list=... or allow_list=..., and got neither")
    denied = RuleList("deny_list", () if deny_list is None else deny_list)
    if allow_list is None:
        return denied, None
    allowed = RuleList("allow_list", allow_list)
    if allowed.is_empty:
        raise ValueError(
            "ip_restriction(allow_list=...) is empty: leave it out to allow all clients, or write "
            "deny_list=['*'] to deny them"
        )
    return denied, allowed


def _judge(
    denied: RuleList, allowed: RuleList | None
) -> Callable[[str], tuple[Remote, bool, bool] | None]:
    """Returns a function that checks an address against all rules except functions."""

    # PERF: cached, since most requests come from addresses seen before.
    @lru_cache(_CACHED)
    def judge(addr: str) -> tuple[Remote, bool, bool] | None:
        """Returns the client, whether it is denied, and whether it is allowed; or None."""
        found = read_address(addr)
        if found is None:
            return (Remote(addr, None), True, False) if denied.takes_all else None
        kind, number = found
        remote = Remote(str(IPv4Address(number)) if kind == "IPv4" else addr, kind)
        is_allowed = allowed is None or allowed.has(kind, number)
        return remote, denied.has(kind, number), is_allowed

    return judge


def _address(found: Any) -> str | None:
    """Returns the address of what `get_ip` returned."""
    if found is None:
        return None
    try:
        address: str | None = found.remote.address
    except AttributeError:
        raise TypeError(
            f"ip_restriction(get_ip=...) returned {type(found).__name__}: "
            "expected a str, a ConnInfo or None"
        ) from None
    return address


async def _matches(functions: list[Callable[[Remote], Any]], remote: Remote) -> bool:
    for function in functions:
        matches = function(remote)
        if is_awaitable(matches):
            matches = await settle(matches, function)
        if matches:
            if matches is not True:
                check_answer(f"ip_restriction: the rule {describe(function)}", matches)
            return True
    return False
