# SPDX-License-Identifier: MIT
"""The responses to requests of users who aren't logged in."""

from __future__ import annotations

from typing import Any

from kit.interface import Context, HTTPException, Response
from kit.session import get_session

__all__ = ("challenge", "respond")


def respond(response: Response) -> HTTPException:
    """Returns the exception that is answered by a response."""
    return HTTPException(response.status, res=response)


async def challenge(c: Context[Any, Any]) -> dict[str, str]:
    """Returns the header that a 401 needs (RFC 9110, section 11.6.1)."""
    name = (await get_session(c)).cookie_name
    return {"WWW-Authenticate": f'Cookie cookie-name="{name}"'}
