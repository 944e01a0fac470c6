# SPDX-License-Identifier: MIT
"""Distinguishes pages that a browser opens from requests of scripts and programs."""

from __future__ import annotations

from typing import Any

from kit.authoring.vary import depend_on
from kit.http.media_types import choose_media_type
from kit.interface import Context

__all__ = ("is_navigation",)

_ACCEPTED = ("application/json", "text/html")


def is_navigation(c: Context[Any, Any]) -> bool:
    """Returns whether a request opens a page in a browser, which can be redirected to a login.

    It is a GET, and the browser says `Sec-Fetch-Mode: navigate` and `Sec-Fetch-Dest: document`, not
    those of a frame or a script. A client that sends no Sec-Fetch-Mode must prefer `text/html` to
    JSON by name: `*/*` is what programs send.

    Args:
        c: The context.

    SPEC: W3C Fetch Metadata, sections 2.1 and 2.2.
    """
    header = c.req.header
    depend_on(c, "*")
    if c.req.method != "GET":
        return False
    mode = header("Sec-Fetch-Mode")
    if mode is not None:
        return mode == "navigate" and header("Sec-Fetch-Dest") == "document"
    accept = header("Accept") or ""
    return "text/html" in accept.lower() and choose_media_type(accept, _ACCEPTED) == "text/html"
