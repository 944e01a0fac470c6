# SPDX-License-Identifier: MIT
"""Renders pages, with the values that all of them use."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from club.assets import own, vendored
from club.store import Member, Store
from kit import Context, HTTPException, Response
from kit.session import get_session
from kit.templates import Templates, templates


def make_templates(folder: Path, site_url: str) -> Templates:
    return templates(
        folder,
        layout="layout.html",
        context=common,
        globals={"own": own.url, "vendored": vendored.url, "site_url": site_url},
        filters={"day": day},
        environment_options={"trim_blocks": True, "lstrip_blocks": True},
        htmx=True,
    )


def day(seconds: int) -> str:
    """Formats a time as `22 November 2026`."""
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {when:%B %Y}"


def is_part(c: Context) -> bool:
    """Returns whether htmx requests a part of a page, not a whole page for its history."""
    header = c.req.header
    return header("HX-Request") == "true" and header("HX-History-Restore-Request") != "true"


async def current_member(c: Context) -> Member | None:
    """Returns the logged-in member, if any."""
    session = await get_session(c)
    if session.user is None:
        return None
    store: Store = c.env["store"]
    member = await store.member(int(session.user))
    if member is None:
        # The member was removed while the session was still valid.
        session.destroy()
    return member


async def common(c: Context) -> dict[str, Any]:
    """Returns the values that all pages use."""
    values: dict[str, Any] = {"member": None, "flashes": [], "is_part": is_part(c)}
    error = c.error
    if error is not None and not (isinstance(error, HTTPException) and error.status < 500):
        # The lookups below may be what failed, so the error page does without them.
        return values
    session = await get_session(c)
    return {**values, "member": await current_member(c), "flashes": session.flashes()}


async def render(
    c: Context, name: str, /, *, block: str | None = None, status: int = 200, **values: Any
) -> Response:
    """Renders a page, or only the given block if htmx requests it."""
    c.status(status)
    # Pages differ by visitor and may change at any time; an unchanged one costs only a 304.
    c.header("Cache-Control", "private, no-cache")
    response: Response = await c.render(name, block=block if is_part(c) else None, **values)
    return response
