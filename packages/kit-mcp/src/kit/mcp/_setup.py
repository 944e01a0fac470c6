# SPDX-License-Identifier: MIT
"""Adds an MCP server to an app."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from kit.authoring.options import OptionChecks
from kit.interface import App

from ._endpoint import Endpoint
from ._guard import Guard
from ._settings import Identify, Settings

__all__ = ("MountingApp", "mcp")

_PATH = r"(?:/[^\s/:*?#{}]+)+"


class MountingApp(App, Protocol):
    """An app that mounts applications. `kit.Kit` is one."""

    @property
    def mount(self) -> Callable[..., Any]:
        """Passes every request below a path to an application handler."""
        ...


AppT = TypeVar("AppT", bound=MountingApp)


def mcp(
    app: AppT,
    *,
    path: str = "/mcp",
    name: str = "API",
    version: str = "0.1.0",
    instructions: str | None = None,
    operations: str | Iterable[str] = (),
    tags: str | Iterable[str] = (),
    allowed_hosts: str | Iterable[str] = (),
    allowed_origins: str | Iterable[str] = (),
    forward_cookies: bool = False,
    timeout: float = 60,
    max_result_size: int = 1_048_576,
    stateless: bool = True,
    json_response: bool = False,
    identify: Identify | None = None,
    max_sessions: int = 1_000,
    session_idle_timeout: float = 1_800,
) -> AppT:
    """Adds an MCP server to an app, with selected routes of the app as tools.

    Tools are the routes with `tool` on their handlers, those listed in `operations`, and those with
    one of `tags`. You may call this before or after they are registered: they are looked up when
    the server starts, or at the first request. Middleware registered before this also covers the
    MCP server, so it can require credentials there.

    A call is a request that the app handles in process, with all of its middleware. It has the
    headers of the MCP request, including Authorization, and the client's address.

    Args:
        app: The outermost app; an app that is added to another one with `app.route` can't have its
            own server.
        path: Path of the server.
        name: Name of the server.
        version: The version of the app's API.
        instructions: How to use the tools, for models.
        operations: Operation IDs of additional routes to expose as tools.
        tags: Tags of additional routes to expose as tools.
        allowed_hosts: Host names that the server accepts, in addition to the loopback interface;
            `"*"` for any, if a proxy in front of the app checks the host.
        allowed_origins: Origins that may use the server from a browser, in addition to its own.
        forward_cookies: Whether to forward the cookies of the MCP request to calls.
        timeout: Timeout of a call, in seconds.
        max_result_size: Maximum size of the response to a call, in bytes.
        stateless: Whether requests are independent of each other, so that any worker process can
            handle them. False keeps sessions in memory, which lets clients cancel a call without
            closing its connection.
        json_response: Whether to send results as JSON instead of an event stream. Nothing is then
            sent until the call has ended, and disconnects of clients aren't noticed.
        identify: `(c)` returns the caller, as a str or None. A session works only for the caller
            that opened it. Default: the credentials themselves, so a client with a new token or
            forwarded cookie has to open another session.
        max_sessions: Maximum number of open sessions.
        session_idle_timeout: How long a session lives without requests, in seconds.

    Returns:
        The app.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.

    Example:
        ```python
        app = Kit()
        mcp(app, name="Bookshelf", allowed_hosts="books.example.com")
        ```
    """
    check = OptionChecks("mcp")
    check.text("path", path, _PATH, "a path without parameters such as '/mcp'")
    check.text("name", name, r".+", "a name such as 'Bookshelf'")
    check.text("version", version)
    if instructions is not None:
        check.text("instructions", instructions)
    for option, flag in (
        ("forward_cookies", forward_cookies),
        ("stateless", stateless),
        ("json_response", json_response),
    ):
        check.flag(option, flag)
    check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
    check.number("max_result_size", max_result_size, least=1, unit="bytes")
    check.number("max_sessions", max_sessions, least=1, unit="sessions")
    check.number("session_idle_timeout", session_idle_timeout, least=1, unit="seconds", whole=False)
    if identify is not None:
        check.function("identify", identify, "(c)")
        if stateless:
            check.unusable(
                "identify", identify, "stateless=False with it, since it is for sessions"
            )
    guard = Guard(check, allowed_hosts, allowed_origins)
    settings = Settings(
        name=name,
        version=version,
        instructions=instructions,
        operations=frozenset(check.texts("operations", operations)),
        tags=frozenset(check.texts("tags", tags)),
        forward_cookies=forward_cookies,
        timeout=timeout,
        max_result_size=max_result_size,
        stateless=stateless,
        json_response=json_response,
        identify=identify,
        max_sessions=max_sessions,
        session_idle_timeout=session_idle_timeout,
    )
    app.mount(path, Endpoint(app, guard, settings), option_handler=_context_alone)
    return app


def _context_alone(c: Any) -> list[Any]:
    return [c]
