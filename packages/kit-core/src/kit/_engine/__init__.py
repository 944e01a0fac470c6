# SPDX-License-Identifier: MIT
"""The engine: handles a request, wherever it comes from.

ASGI, WebSocket handshakes and `Kit.fetch` are adapters around it; kit-rsgi calls an app by ASGI. An
adapter creates a context with `matching`, awaits the handlers of the context, sends what
`final_response` returns, and ends the request.
"""
