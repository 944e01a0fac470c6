# SPDX-License-Identifier: MIT
"""The engine: handles a request, wherever it comes from.

ASGI, WebSocket handshakes and `Kit.fetch` are adapters around the engine; kit-rsgi calls an app
through ASGI. An adapter creates a context with `matching`, awaits its handlers, sends the response
from `final_response`, and ends the request.
"""
