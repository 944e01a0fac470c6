# SPDX-License-Identifier: MIT
"""The exceptions that Kit and its packages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from ._web import Response

ValidationTarget: TypeAlias = Literal["json", "form", "query", "param", "header", "cookie"]
"""The parts of a request that can be validated."""


def _rebuild(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """Restores an exception, whatever parameters its class has."""
    return kind.__new__(kind, *args)


class KitError(Exception):
    """Base class of errors that indicate incorrect use of Kit.

    Each subclass builds its message from its arguments and keeps them as attributes. All errors can
    be pickled and copied.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args), self.__dict__


class ClientDisconnectedError(Exception):
    """The client disconnected before its request was complete; it can't receive a response."""

    __module__ = "kit.web"  # shown as it is imported


class UnsupportedPathError(KitError, ValueError):
    """A router can't add a route: the pattern is invalid, or the router doesn't support it.

    Raised by `Router.add`. SmartRouter then tries its next router.

    Args:
        path: The route pattern as given.
        reason: What is wrong with it, or why the router doesn't support it.
        method: The method of the route, upper case, if known.
        position: Index of the error in `path` (0-based, in characters), if known.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        method: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(path, reason, method, position)
        self.path = path
        self.reason = reason
        self.method = method
        self.position = position

    def __str__(self) -> str:
        route = repr(self.path) if self.method is None else f"{self.method} {self.path!r}"
        at = "" if self.position is None else f" at position {self.position}"
        return f"Unsupported route {route}{at}: {self.reason}"


class RouterClosedError(KitError, RuntimeError):
    """A route was added after the router's first match, which builds its tables.

    Args:
        method: The method of the route, upper case.
        path: The pattern of the route.
        reason: Why no more routes can be added.
    """

    def __init__(
        self,
        method: str,
        path: str,
        reason: str = "the router has already matched a request; register all routes before",
    ) -> None:
        super().__init__(method, path, reason)
        self.method = method
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"Can't add the route {self.method} {self.path!r}: {self.reason}"


class HandlerError(KitError, RuntimeError):
    """A handler violated the contract between handlers and the app.

    It is logged and results in a 500, like any unexpected exception.

    Args:
        handler: Name and place of the handler; see `kit.authoring.signatures.describe`.
        problem: What it did, and what to do instead.
    """

    def __init__(self, handler: str, problem: str) -> None:
        super().__init__(handler, problem)
        self.handler = handler
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.handler} {self.problem}"


class MissingBindingError(KitError, KeyError):
    """A handler read a key of `c.env`, and the app has no bindings.

    Args:
        key: The key.
        reason: Why there are none, and what to write.
    """

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(key, reason)
        self.key = key
        self.reason = reason

    def __str__(self) -> str:
        return f"c.env has no {self.key!r}: {self.reason}"


class HTTPException(Exception):  # noqa: N818 - the usual name, and not an error
    """An exception that becomes a response with this status, body and headers.

    It is a response rather than an error, so it isn't a `KitError` and isn't logged. `on_error`
    handlers see it.

    Args:
        status: HTTP status code of the response, 200 to 599 (RFC 9110 section 15).
        message: Body of the response, sent as text/plain; empty if None. It is also the text of
            the exception.
        res: A response to use instead: its body and headers are sent, with the status of the
            exception.
        headers: Headers to set on the response, e.g. `{"Retry-After": "30"}`.
        body: Body of the response instead of `message`, which is then only for logs; set its
            Content-Type in `headers`.

    Raises:
        ValueError: If `status` isn't a valid status of a final response.
        TypeError: If `message` isn't a str, or `body` is neither bytes, str nor None.
    """

    status: int
    message: str | None
    res: Response | None
    headers: Mapping[str, str] | None
    body: bytes | str | None

    def __init__(
        self,
        status: int,
        message: str | None = None,
        *,
        res: Response | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
    ) -> None:
        check_status(status)
        if message is not None and not isinstance(message, str):
            raise TypeError(f"HTTPException message must be a str, not {type(message).__name__}")
        if body is not None and not isinstance(body, (bytes, str)):
            raise TypeError(
                f"HTTPException body must be bytes, str or None, not {type(body).__name__}"
            )
        super().__init__(status, message)
        self.status = status
        self.message = message
        self.res = res
        self.headers = headers
        self.body = body

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        return f"{self.status} {self.message}" if self.message else str(self.status)


def check_status(status: int) -> None:
    """Checks the status of a final response.

    Raises:
        ValueError: If it is not an int from 200 to 599.
    """
    if not isinstance(status, int) or not 200 <= status <= 599:
        raise ValueError(
            f"HTTPException status must be an int from 200 to 599, not {status!r:.100}"
        )


# Shown as they are imported: kit.interface.HTTPException.
for _class in (
    HTTPException,
    HandlerError,
    KitError,
    MissingBindingError,
    RouterClosedError,
    UnsupportedPathError,
):
    _class.__module__ = "kit.interface"
