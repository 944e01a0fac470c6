# SPDX-License-Identifier: MIT
"""The caller of the current tool call."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from kit.interface import Context, ExecutionContext

__all__ = ("Caller", "current_caller", "find_execution_ctx")


class Caller(NamedTuple):
    """The sender of an MCP request.

    Attributes:
        c: The context of the request.
        identity: The owner of the session, if there is a session; None for anonymous callers.
    """

    c: Context[Any, Any]
    identity: str | None


# The library runs a call with the context variables of the request that triggered it.
current_caller: ContextVar[Caller] = ContextVar("kit.mcp")


def find_execution_ctx(c: Context[Any, Any]) -> ExecutionContext | None:
    """Returns the execution context of a request; None if it was made in process without one."""
    try:
        return c.execution_ctx
    except RuntimeError:
        return None
