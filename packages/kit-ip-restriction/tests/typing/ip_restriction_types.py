# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any, assert_type

from kit.conninfo import get_conn_info
from kit.interface import AsyncMiddleware, Context, Next, Response
from kit.ip_restriction import Remote, Rules, ip_restriction


async def get_ip(c: Context[Any, Any]) -> str | None:
    return c.req.header("x-real-ip")


def is_even(remote: Remote) -> bool:
    return remote.type == "IPv4" and remote.addr.endswith(("0", "2", "4", "6", "8"))


async def on_error(remote: Remote, c: Context[Any, Any]) -> Response:
    return c.text(remote.addr, 403)


rules: Rules = {"deny_list": ["10.0.0.0/8", is_even], "allow_list": ["*"]}
office_only = ip_restriction(get_conn_info, rules, on_error)

assert_type(office_only, AsyncMiddleware)
assert_type(ip_restriction(rules=rules), AsyncMiddleware)
assert_type(ip_restriction(get_ip, {"deny_list": ["*"]}), AsyncMiddleware)
assert_type(
    ip_restriction(lambda c: "192.0.2.1", allow_list=[ip_network("192.0.2.0/24"), "::1", is_even]),
    AsyncMiddleware,
)


async def office_only_to_write(c: Context[Any, Any], next: Next) -> Response | None:
    if c.req.method == "GET":
        await next()
        return None
    return await office_only(c, next)
