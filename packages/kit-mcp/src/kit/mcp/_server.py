# SPDX-License-Identifier: MIT
"""Serves the tools of an app with the library mcp; imported when needed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import anyio

from kit.http.paths import parse_url_path
from kit.interface import App, Request
from kit.interface.metadata import get_facts
from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ._caller import current_caller, find_execution_ctx
from ._requests import ArgumentError, build_request
from ._results import build_result, error_result
from ._settings import Settings
from ._tool_definitions import ToolDefinition, ToolDefinitions

__all__ = ("ToolServer",)

_logger = logging.getLogger("kit.mcp")


class ToolServer:
    """Lists tools and calls them.

    Args:
        app: The app that handles the calls.
        settings: The options of the server.

    Attributes:
        definitions: The tools; must be set before the first request.
    """

    definitions: ToolDefinitions

    def __init__(self, app: App, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._server: Server[Any] = Server(
            settings.name,
            version=settings.version,
            instructions=settings.instructions,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    def manager(self) -> StreamableHTTPSessionManager:
        """Returns a new session manager; each can be run once."""
        settings = self._settings
        return StreamableHTTPSessionManager(
            self._server,
            json_response=settings.json_response,
            stateless=settings.stateless,
            session_idle_timeout=settings.session_idle_timeout,
            max_sessions=settings.max_sessions,
        )

    def user(self, identity: str | None) -> Mapping[str, Any]:
        """Returns the scope entries by which the library identifies the owner of a session.

        Args:
            identity: The caller; None for anonymous callers.
        """
        if identity is None:
            return {}
        return {"user": AuthenticatedUser(AccessToken(token="", client_id=identity, scopes=[]))}

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        definition = self.definitions.tools.get(name)
        return None if definition is None else definition.inputs.schema

    async def _list(
        self, ctx: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[_listed(each) for each in self.definitions.tools.values()]
        )

    async def _call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        definition = self.definitions.tools.get(params.name)
        if definition is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name!r:.100}")
        c = current_caller.get().c
        settings = self._settings
        try:
            request = build_request(
                definition, params.arguments or {}, c, cookies=settings.forward_cookies
            )
        except ArgumentError as error:
            return error_result(str(error))
        if not self._is_answered_by(definition, request):
            return error_result("These arguments lead to another route of the app")
        try:
            with anyio.move_on_after(settings.timeout):
                response = await self._app.fetch(request, c.env, find_execution_ctx(c))
                return await build_result(
                    definition, response, request.url, settings.max_result_size
                )
        except Exception:
            # APPSEC: the library would send the text of the exception to the client.
            _logger.exception("The response of the tool %s failed", definition.name)
            return error_result("The response failed before its end")
        _logger.warning("The tool %s took more than %s seconds", definition.name, settings.timeout)
        return error_result(f"The tool took more than {settings.timeout:g} seconds")

    def _is_answered_by(self, definition: ToolDefinition, request: Request) -> bool:
        """Returns whether a request is handled by the route of a tool.

        APPSEC: `/books/admin` may be a separate route that isn't a tool, although `/books/:id` is.
        """
        get_path = self._app.get_path
        path = parse_url_path(request.url) if get_path is None else get_path(request)
        for route, *_ in self._app.router.match(definition.method, path)[0]:
            if not route.takes_next or get_facts(route.handler).mounted:
                return route.handler is definition.handler
        return False


def _listed(definition: ToolDefinition) -> types.Tool:
    return types.Tool(
        name=definition.name,
        title=definition.title,
        description=definition.description,
        input_schema=definition.inputs.schema,
        output_schema=definition.output,
        annotations=types.ToolAnnotations(title=definition.title, **definition.hints),
    )
