# SPDX-License-Identifier: MIT
"""The decorator that makes a tool of a route."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kit.interface.metadata import attach, facts_of
from kit.interface.options import OptionChecks

__all__ = ("NAME", "said_of", "tool")

F = TypeVar("F", bound=Callable[..., Any])

# SPEC: MCP 2025-11-25, "Tool Names". Without the slash and with 64 characters at most, since many
# clients put the name of the server before it, and language models take no others.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")

_check = OptionChecks("tool")


def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
) -> Callable[[F], F]:
    """Returns a decorator that offers the route of a handler as a tool.

    The handler is called as before. The last four arguments are hints (MCP, "ToolAnnotations"), by
    which clients decide e.g. whether to ask the user first.

    Args:
        name: The tool's name: up to 64 letters, digits, `_`, `-` and `.`. Default: the operation
            id, which is the name of the function unless `describe` says otherwise.
        title: What people are shown. Default: the summary of the operation.
        description: What the model is told. Default: summary and description of the operation,
            which are its docstring.
        read_only: Whether the tool changes nothing. Default: True for GET.
        destructive: Whether it may destroy something, rather than only add. Default: True for PUT
            and DELETE; otherwise not said, which clients take for True.
        idempotent: Whether a second call with the same arguments changes nothing. Default: True
            for PUT and DELETE.
        open_world: Whether it reaches beyond the app's own data. Default: not said.

    Returns:
        The decorator, which returns the function itself.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the name can't be used.

    Example:
        ```python
        @app.get("/books/:id")
        @tool(title="Look up a book")
        async def read_book(c: Context) -> Response: ...
        ```
    """
    if name is not None:
        _check.text("name", name, NAME.pattern, "up to 64 letters, digits, '_', '-' and '.'")
    for option, text in (("title", title), ("description", description)):
        if text is not None:
            _check.text(option, text)
    hints = {
        "read_only_hint": read_only,
        "destructive_hint": destructive,
        "idempotent_hint": idempotent,
        "open_world_hint": open_world,
    }
    for hint, flag in hints.items():
        if flag is not None:
            _check.flag(hint.removesuffix("_hint"), flag)
    said = {"name": name, "title": title, "description": description, **hints}
    kept = {key: value for key, value in said.items() if value is not None}

    def decorate(function: F) -> F:
        return attach(function, mcp_tool=kept)

    return decorate


def said_of(handler: Any) -> Mapping[str, Any] | None:
    """Returns what `tool` says of a handler; None if it is no tool."""
    said: Mapping[str, Any] | None = facts_of(handler).others.get("mcp_tool")
    return said
