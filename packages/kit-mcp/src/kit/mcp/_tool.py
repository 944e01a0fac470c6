# SPDX-License-Identifier: MIT
"""The decorator that exposes a route as a tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kit.authoring.options import OptionChecks
from kit.interface.metadata import attach, get_facts

__all__ = ("NAME", "find_tool", "tool")

F = TypeVar("F", bound=Callable[..., Any])

# SPEC: MCP 2025-11-25, "Tool Names". Excludes slashes and allows at most 64 characters, since many
# clients prepend the name of the server, and language models accept no others.
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
    """Returns a decorator that exposes the route of a handler as a tool.

    The handler is called as before. The last four arguments are hints (MCP, "ToolAnnotations") that
    clients use e.g. to decide whether to ask the user first.

    Args:
        name: The tool's name: up to 64 letters, digits, `_`, `-` and `.`. Default: the operation
            ID, which is the name of the function unless `describe` sets another one.
        title: The name shown to people. Default: the summary of the operation.
        description: The description for models. Default: summary and description of the operation,
            from its docstring.
        read_only: Whether the tool changes nothing. Default: True for GET.
        destructive: Whether it may destroy data rather than only add. Default: True for PUT and
            DELETE; otherwise not specified, which clients interpret as True.
        idempotent: Whether a second call with the same arguments changes nothing. Default: True
            for PUT and DELETE.
        open_world: Whether it accesses more than the app's own data. Default: not specified.

    Returns:
        The decorator, which returns the function itself.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the name is invalid.

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


def find_tool(handler: Any) -> Mapping[str, Any] | None:
    """Returns the arguments of `tool` for a handler; None if it isn't a tool."""
    said: Mapping[str, Any] | None = get_facts(handler).others.get("mcp_tool")
    return said
