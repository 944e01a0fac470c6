# SPDX-License-Identifier: MIT
"""Exposes selected routes of an app as tools of an MCP server (Model Context Protocol).

    from kit.mcp import mcp, tool

    @app.get("/books/:id")
    @tool()
    async def read_book(c: Context) -> Response:
        \"\"\"Reads a book.\"\"\"

    mcp(app, name="Bookshelf")

A route becomes a tool only if you select it. A call is a request that the app handles in process,
with all middleware and the credentials of the MCP client.

SPEC: Model Context Protocol 2025-11-25, "Tools" and "Streamable HTTP"; also the older and newer
versions that the library mcp supports.
"""

from ._setup import MountingApp, mcp
from ._tool import tool

__all__ = ("MountingApp", "mcp", "tool")

# Names are shown as they are imported.
for _object in (MountingApp, mcp, tool):
    _object.__module__ = __name__
