# SPDX-License-Identifier: MIT
"""The types of the messages of a WebSocket: from its facts, or from its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kit.interface.metadata import attach

from .._description_checks import check_described
from .members import list_members

if TYPE_CHECKING:
    from .._operations import Operation

__all__ = ("Messages", "describe_messages", "find_messages")

F = TypeVar("F", bound=Callable[..., Any])

# The facts `websocket_messages_receives` and `..._sends`: a type in a tuple; None for no messages.
_FACT = "websocket_messages_"


class Messages(NamedTuple):
    """The types of the messages of a connection, from the application's point of view.

    Attributes:
        receives: The types of received messages; `Any` among them if some aren't known.
        sends: The types of sent messages.
    """

    receives: list[Any]
    sends: list[Any]


def describe_messages(*, receives: Any = ..., sends: Any = ...) -> Callable[[F], F]:
    """Returns a decorator that describes the messages of a WebSocket for the AsyncAPI document.

    The given types take precedence over what Kit finds out. The handler is called as before, at no
    cost per message: nothing is validated.

    Args:
        receives: The type of the messages that the app receives: `str` for text, `bytes` for binary
            messages, any other type for JSON. Members of a union are a message each. None: the app
            receives none. Default: what the handler's source says.
        sends: The same for the messages that the app sends.

    Returns:
        The decorator, which returns the function itself.

    Raises:
        TypeError: If neither is given, or if a type can't be described.

    Example:
        ```python
        @app.get("/rooms/:room")
        @describe_messages(receives=Say | Typing, sends=Said)
        @upgrade_websocket
        async def room(c: Context, ws: WebSocket) -> None: ...
        ```
    """
    given = {
        name: None if kind is type(None) else kind
        for name, kind in (("receives", receives), ("sends", sends))
        if kind is not ...
    }
    if not given:
        raise TypeError("describe_messages() takes receives=..., sends=..., or both: got neither")
    for name, kind in given.items():
        if isinstance(kind, str):
            raise TypeError(
                f"describe_messages({name}=...) takes a type such as str, not {kind!r:.100}"
            )
        for member in list_members(kind):
            check_described(f"describe_messages({name}=...)", member)

    def decorate(function: F) -> F:
        facts: dict[str, Any] = {f"{_FACT}{name}": (kind,) for name, kind in given.items()}
        return attach(function, **facts)

    return decorate


def find_messages(operation: Operation) -> Messages:
    """Returns the types of the messages of a WebSocket.

    Args:
        operation: The handshake.
    """
    from .message_source import read_messages

    facts = operation.facts[-1].others
    read = read_messages(operation.handler)
    found = []
    for name, from_source in zip(Messages._fields, read, strict=True):
        given = facts.get(f"{_FACT}{name}")
        if given is None:
            found.append(from_source)
        else:
            found.append([] if given[0] is None else [*list_members(given[0])])
    return Messages(*found)


describe_messages.__module__ = "kit.openapi"
