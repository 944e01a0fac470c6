# SPDX-License-Identifier: MIT
"""Serves apps through RSGI, granian's interface, and has types for RSGI's objects.

`Kit` finds this package by itself when granian uses RSGI. Use the types for code between a server
and an app: a wrapper with its own `__rsgi__`, which calls the `__rsgi__` of the app.

    async def __rsgi__(self, scope: RsgiScope, protocol: RsgiHttp | RsgiWebSocket) -> None:
        print(scope.method, scope.path)
        await self.app.__rsgi__(scope, protocol)

The types are typing protocols for version 1.6 of RSGI. granian's classes implement them.
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
