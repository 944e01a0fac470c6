# SPDX-License-Identifier: MIT
"""Closes the bodies of responses that won't be sent."""

from __future__ import annotations

import logging
from typing import Any

from kit.web import Response
from kit.web._body import USED, peek
from kit.web._streams import close_stream

_logger = logging.getLogger("kit")


async def close_discarded(response: Response, kept: Any = None) -> None:
    """Closes the stream of a response; an exception that it raises is logged.

    Args:
        response: The response. Nothing happens if its body isn't a stream, or was read.
        kept: Another response; if it has the same body, that isn't closed.
    """
    body = peek(response)
    if body is None or body is USED or isinstance(body, bytes):
        return
    if isinstance(kept, Response) and peek(kept) is body:
        return
    try:
        await close_stream(body)
    except Exception:
        _logger.exception("Exception while closing the body of a response that isn't sent")
