# SPDX-License-Identifier: MIT
"""The application handler that an app mounts: guards, then the library's session manager."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from kit.asgi import from_asgi
from kit.authoring.maybe_await import call
from kit.http.paths import parse_url_path
from kit.interface import App, Context, HTTPException, Response

from ._caller import Caller, current_caller, find_execution_ctx
from ._guard import Guard
from ._settings import Settings

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ._server import ToolServer

__all__ = ("Endpoint",)


class Endpoint:
    """Handles the requests to an MCP server; an application handler for `mount`.

    Args:
        app: The app whose routes are the tools.
        guard: Checks Host and Origin.
        settings: The options of the server.
    """

    def __init__(self, app: App, guard: Guard, settings: Settings) -> None:
        self._app = app
        self._guard = guard
        self._settings = settings
        self._server: ToolServer | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._routes: dict[int, Any] = {}
        self.__name__ = "mcp"

        async def mcp(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await self._live(receive, send)
            else:
                await self._serve(scope, receive, send)

        self._handler = from_asgi(mcp)

    async def __call__(self, request: Any, c: Context[Any, Any]) -> Response | None:
        """Responds to a request.

        Args:
            request: The request, with a URL relative to the path of the server.
            c: Its context.

        Returns:
            The response; None for other paths below the path of the server, and for WebSocket.

        Raises:
            HTTPException: If the host or the origin isn't allowed; without sessions also for
                methods other than POST.
            RuntimeError: If the app is part of another one.
        """
        if parse_url_path(request.url) != "/" or (request.scope or {}).get("type") == "websocket":
            return None
        self._guard.check(c)
        if self._settings.stateless and c.req.method != "POST":
            # APPSEC: for GET, the library would keep a stream open on which nothing is ever sent.
            raise HTTPException(
                405, "Without sessions, this MCP server only takes POST", headers={"Allow": "POST"}
            )
        await self._prepare()
        self._check_app(c)
        token = current_caller.set(Caller(c, await self._identity(c)))
        try:
            # With an execution context, the library may finish on its own after the client has
            # disconnected: it drops a session if its first request was cancelled.
            return await self._handler(request, find_execution_ctx(c))
        finally:
            current_caller.reset(token)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[Mapping[str, Any]]:
        """Keeps the server's sessions; an app enters this for mounted applications."""
        async with self._handler.lifespan() as state:
            yield state

    async def _prepare(self) -> ToolServer:
        """Defines the tools, unless that was already done for the app's current routes."""
        routes = self._app.routes
        server = self._server
        if server is None or len(routes) != len(self._routes):
            # In a thread, since the library and the source code of a large app take time to load.
            server = await to_thread.run_sync(self._planned, server)
            self._server = server
            # The routes are kept with their ids, so that these ids aren't reused.
            self._routes = {id(each): each for each in routes}
        return server

    def _planned(self, server: ToolServer | None) -> ToolServer:
        # Here, since an app doesn't need it at startup.
        from ._server import ToolServer
        from ._tool_definitions import define_tools

        settings = self._settings
        server = server or ToolServer(self._app, settings)
        server.definitions = define_tools(
            self._app, operations=settings.operations, tags=settings.tags
        )
        return server

    def _check_app(self, c: Context[Any, Any]) -> None:
        if id(c.matched_routes[c.req.route_index]) not in self._routes:
            raise RuntimeError(
                "mcp() got an app that is part of another app, so its calls would skip the "
                "middleware of that app: pass the outermost app"
            )

    async def _identity(self, c: Context[Any, Any]) -> str | None:
        settings = self._settings
        if settings.stateless:
            return None
        if settings.identify is not None:
            identity = await call(settings.identify, c)
            if identity is not None and not isinstance(identity, str):
                raise TypeError(
                    f"mcp(identify=...) returned {type(identity).__name__}: expected str or None"
                )
            return identity
        server = await self._prepare()
        names = {"authorization", "proxy-authorization", *server.definitions.secret_headers}
        if settings.forward_cookies:
            names.add("cookie")
        held = [(key, value) for key, value in c.req.raw.headers.items() if key in names]
        # A digest rather than the credentials, since it is kept as long as the session.
        return sha256(repr(sorted(held)).encode()).hexdigest() if held else None

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        try:
            server = await self._prepare()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        manager = server.manager()
        async with manager.run():
            self._manager = manager
            await send({"type": "lifespan.startup.complete"})
            try:
                await receive()
            finally:
                self._manager = None
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        server = await self._prepare()
        scope = {**scope, **server.user(current_caller.get().identity)}
        manager = self._manager
        if manager is not None:
            await manager.handle_request(scope, receive, send)
        elif self._settings.stateless:
            manager = server.manager()
            async with manager.run():
                await manager.handle_request(scope, receive, send)
        else:
            raise RuntimeError(
                "mcp(stateless=False) keeps sessions from the startup of the app to its shutdown: "
                "use a server with lifespan events, or 'async with app.running()'"
            )
