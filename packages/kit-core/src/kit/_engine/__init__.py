# SPDX-License-Identifier: MIT
"""The engine: handles a request, wherever it comes from.

ASGI, RSGI, WebSocket handshakes and `Kit.fetch` are adapters around it. They create a context with
`matching`, await the handlers of the context, send what `final_response` returns, and end the
request.
"""
