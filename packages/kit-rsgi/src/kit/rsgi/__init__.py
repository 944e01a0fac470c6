# SPDX-License-Identifier: MIT
"""Serves apps by RSGI, the interface of granian, and types for the objects that it passes.

`Kit` finds this package by itself, when granian asks for it. Use the types for code between a
server and an app: a wrapper with its own `__rsgi__`, which calls the `__rsgi__` of the app.

    async def __rsgi__(self, scope: RsgiScope, protocol: RsgiHttp | RsgiWebSocket) -> None:
        print(scope.method, scope.path)
        await self.app.__rsgi__(scope, protocol)

They are typing protocols for version 1.6 of RSGI. The classes of granian implement them.
"""

from __future__ import annotations

from ._lifespan import start_lifespan
from ._serve import serve
from ._types import (
    Application,
    HeaderPairs,
    RsgiHeaders,
    RsgiHttp,
    RsgiMessage,
    RsgiScope,
    RsgiTransport,
    RsgiWebSocket,
    RsgiWebSocketTransport,
)

__all__ = (
    "Application",
    "HeaderPairs",
    "RsgiHeaders",
    "RsgiHttp",
    "RsgiMessage",
    "RsgiScope",
    "RsgiTransport",
    "RsgiWebSocket",
    "RsgiWebSocketTransport",
    "serve",
    "start_lifespan",
)
