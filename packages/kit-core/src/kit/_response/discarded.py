# SPDX-License-Identifier: MIT
"""Closes the bodies of responses that won't be sent."""

from __future__ import annotations

import logging
from typing import Any

from kit.web import Response
from kit.web._body import USED, is_stream, peek, put
from kit.web._streams import close_stream

_logger = logging.getLogger("kit")


async def close_discarded(response: Response, kept: Any = None) -> None:
    """Closes the unread streams of a response, but not the body of `kept`; logs exceptions."""
    replaced = response._replaced
    if replaced is not None:
        await close_discarded(replaced, kept)
    body = peek(response)
    if not is_stream(body) or (isinstance(kept, Response) and peek(kept) is body):
        return
    put(response, USED)
    try:
        await close_stream(body)
    except Exception:
        _logger.exception("Exception while closing the body of a response that isn't sent")
