# SPDX-License-Identifier: MIT
"""Rejects requests from web pages to servers that they should not reach (DNS rebinding).

SPEC: MCP 2025-11-25, "Streamable HTTP", "Security Warning".
"""

from __future__ import annotations

import re
from typing import Any

from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins
from kit.http.origins import is_own_origin
from kit.interface import Context, HTTPException

__all__ = ("Guard",)

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_NAME = r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]"
# No name is as long, so one that is cut off is none of the allowed ones.
_LONGEST = 300
_HOST = re.compile(rf"({_NAME})\.?(?::[0-9]{{0,5}})?", re.IGNORECASE)


class Guard:
    """Checks Host and Origin of requests.

    Args:
        check: The checks of the factory's options.
        allowed_hosts: Host names in addition to those of the loopback interface; `*` for any.
        allowed_origins: Origins in addition to the server's own.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.
    """

    def __init__(self, check: OptionChecks, allowed_hosts: Any, allowed_origins: Any) -> None:
        hosts = check.texts("allowed_hosts", allowed_hosts)
        self._any_host = "*" in hosts
        for each in hosts:
            if each != "*" and not re.fullmatch(_NAME, each):
                check.unusable(
                    "allowed_hosts",
                    each,
                    "a host name in lower case, without scheme and port, such as "
                    "'mcp.example.com'; '*' if a proxy in front of the app checks the host",
                )
        self._hosts = _LOOPBACK.union(hosts)
        self._origins = check_origins(
            check, "allowed_origins", allowed_origins, "a middleware in front"
        )

    def check(self, c: Context[Any, Any]) -> None:
        """Checks a request.

        Raises:
            HTTPException: 421 for another host, 403 for another origin, with the option to set.
        """
        header = c.req.header("host")
        if header is None and c.req.raw.scope is None:  # a request made in process
            header = c.req.url.partition("://")[2].partition("/")[0]
        found = _HOST.fullmatch((header or "")[:_LONGEST])
        if not self._any_host and (found is None or found[1].lower() not in self._hosts):
            raise HTTPException(
                421,
                f"This MCP server does not accept requests for the host {header!r:.100}: "
                "its operator can add it to mcp(allowed_hosts=...)",
            )
        origin = c.req.header("origin")
        if origin is None or origin in self._origins or is_own_origin(origin, c.req.url):
            return
        raise HTTPException(
            403,
            f"This MCP server does not accept requests from the origin {origin!r:.100}: "
            "its operator can add it to mcp(allowed_origins=...)",
        )
