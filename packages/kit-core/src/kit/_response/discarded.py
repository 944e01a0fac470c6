# SPDX-License-Identifier: MIT
"""Closes the bodies of responses that won't be sent."""

from __future__ import annotations

import logging
from typing import Any

from kit.web import Response
from kit.web._body import USED, is_stream, peek, put
from kit.web._response import replaced_by
from kit.web._streams import close_stream

_logger = logging.getLogger("kit")


async def close_discarded(response: Response, kept: Any = None) -> None:
    """Closes the stream of a response; an exception that it raises is logged.

    Args:
        response: The response. Nothing happens if its body isn't a stream, or was read. Streams
            that this one has replaced are closed as well.
        kept: Another response; if it has the same body, that isn't closed.
    """
    replaced = replaced_by(response)
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
