# SPDX-License-Identifier: MIT
"""What `kit` and its public modules export."""

from __future__ import annotations

import importlib
import sys
from types import FunctionType

import pytest

NAMES = {
    "kit": (
        "URL",
        "Blob",
        "Context",
        "File",
        "FormData",
        "HTTPException",
        "Headers",
        "Kit",
        "KitRequest",
        "Limits",
        "Next",
        "Request",
        "RequestInit",
        "Response",
        "URLSearchParams",
        "in_thread",
        "path_of_request",
    ),
    "kit.accepts": ("Accepted", "AcceptsOptions", "accepts"),
    "kit.asgi": (
        "AsgiHandler",
        "AsgiMiddleware",
        "WsgiApplication",
        "asgi_middleware",
        "from_asgi",
        "from_wsgi",
        "to_wsgi",
    ),
    "kit.cookie": (
        "CookieOptions",
        "cookie_header",
        "delete_cookie",
        "format_cookie",
        "generate_cookie",
        "get_cookie",
        "get_cookie_values",
        "get_signed_cookie",
        "parse_cookies",
        "set_cookie",
        "set_signed_cookie",
    ),
    "kit.factory": ("AppOptions", "Factory", "create_factory", "create_middleware"),
    "kit.html": ("TemplateString", "html", "raw"),
    "kit.request": ("KitRequest", "clone_raw_request"),
    "kit.rsgi": (
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
    ),
    "kit.streaming": (
        "SSEStreamingApi",
        "StreamAbortedError",
        "StreamClosedError",
        "StreamingApi",
        "stream",
        "stream_sse",
        "stream_text",
    ),
    "kit.testing": (
        "Cookies",
        "ExecutionContext",
        "MethodNotFoundError",
        "ParameterError",
        "RequestOptions",
        "RouteNotFoundError",
        "SyncResponse",
        "SyncTestClient",
        "SyncTestWebSocket",
        "TestClient",
        "TestWebSocket",
        "WebSocketOptions",
        "WebSocketRefusedError",
        "sync_test_client",
        "test_client",
    ),
    "kit.validator": ("FieldError", "RequestValidationError", "ValidationProblem", "validator"),
    "kit.web": (
        "URL",
        "Blob",
        "BodyBytes",
        "BodyInit",
        "BodyStream",
        "ClientDisconnectedError",
        "File",
        "FormData",
        "Headers",
        "HeadersInit",
        "Request",
        "RequestInit",
        "Response",
        "URLSearchParams",
    ),
    "kit.websocket": (
        "CloseEvent",
        "ErrorEvent",
        "Handshake",
        "InvalidMessageError",
        "MessageEvent",
        "OpenEvent",
        "ReadyState",
        "UpgradeOptions",
        "WSEvents",
        "WebSocket",
        "WebSocketDisconnectedError",
        "get_handshake",
        "upgrade_websocket",
    ),
}


@pytest.mark.parametrize("module", NAMES)
def test_names(module: str) -> None:
    imported = importlib.import_module(module)
    assert imported.__all__ == NAMES[module]
    for name in imported.__all__:
        value = getattr(imported, name)
        # An alias of a type has no docstring of its own.
        assert value.__doc__ or not isinstance(value, (type, FunctionType)), name


def test_every_public_method_says_what_it_does() -> None:
    kit = importlib.import_module("kit")
    for name in kit.__all__:
        value = getattr(kit, name)
        for member in vars(value) if isinstance(value, type) else ():
            if not member.startswith("_") and callable(getattr(value, member)):
                assert getattr(value, member).__doc__, f"{name}.{member}"


def test_send_file_is_that_of_serve_static() -> None:
    from kit import send_file

    assert send_file is importlib.import_module("kit.serve_static").send_file


def test_send_file_without_its_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import kit

    monkeypatch.delattr(kit, "send_file", raising=False)
    monkeypatch.setitem(sys.modules, "kit.serve_static", None)
    with pytest.raises(ImportError) as raised:
        kit.send_file  # noqa: B018
    assert str(raised.value).startswith("kit.send_file is part of kit-serve-static, which is")
