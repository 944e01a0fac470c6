# SPDX-License-Identifier: MIT
"""The request of a row of `overhead`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TEXT = b"Hello, World!"


@dataclass(frozen=True)
class SampleRequest:
    """The request of a row, and its answer.

    Attributes:
        method: HTTP method.
        headers: Besides Host and Content-Length.
        sent: The body.
        status: Status of the answer; None for any.
        body: Body of the answer; None for any.
    """

    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    sent: bytes = b""
    status: int | None = 200
    body: bytes | None = TEXT

    @property
    def scope(self) -> dict[str, Any]:
        """The ASGI scope of the request."""
        headers = {"host": "localhost", **self.headers}
        if self.sent:
            headers["content-length"] = str(len(self.sent))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": "/",
            "raw_path": b"/",
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
            "extensions": {},
        }
