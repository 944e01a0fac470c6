# SPDX-License-Identifier: MIT
"""The site of a book club: assembles the app, its middleware in order, and its error pages.

    kit dev examples/site

The environment variables SITE_DB (the database file) and SITE_URL (the public URL of the site)
change the settings.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from club.accounts import accounts
from club.assets import IMMUTABLE, own, vendored
from club.pages import pages
from club.rendering import make_templates, render
from club.store import Store, open_store

from kit import Context, Headers, HTTPException, Kit, Response
from kit.body_limit import body_limit
from kit.compress import compress
from kit.csrf import csrf
from kit.etag import etag
from kit.logger import logger as access_log
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.serve_static import serve_static
from kit.session import session
from kit.session.sqlite import SQLiteStore
from kit.trusted_hosts import trusted_hosts
from kit.validator import RequestValidationError

logger = logging.getLogger("club")
FOLDER = Path(__file__).resolve().parent
DATABASE = Path(os.environ.get("SITE_DB") or FOLDER / "club.db")
URL = (os.environ.get("SITE_URL") or "http://127.0.0.1:8000").rstrip("/")
HOST = urlsplit(URL).hostname or "127.0.0.1"
IS_HTTPS = URL.startswith("https://")
THIRTY_DAYS = 30 * 24 * 60 * 60
MESSAGES = {
    400: "The request could not be understood.",
    403: "This form was sent from another site, so nothing was changed.",
    404: "There is no such page. It may have moved, or the link has a typing error.",
    405: "This page can't be used in that way.",
    413: "That is more than this site takes at once.",
    429: "Too many attempts. Wait for a moment, and try again.",
    503: "The site is busy. Try again in a moment.",
}

# Sessions are stored in a file, so that logging out or removing a member takes effect immediately.
# No secret can leak: the cookie is a random id.
sessions = SQLiteStore(DATABASE.with_name(f"{DATABASE.stem}-sessions.db"))


@asynccontextmanager
async def lifespan(app: Kit) -> AsyncIterator[dict[str, Store]]:
    await sessions.open()
    async with open_store(DATABASE) as store:
        yield {"store": store}
    await sessions.close()


app = Kit(lifespan=lifespan, method_not_allowed=True)

# Middleware runs in this order; each wraps those after it.
# Comes first, so that all log lines and responses have the id, including rejected requests.
app.use(request_id())
app.use(access_log())
app.use(
    secure_headers(
        # Scripts and styles are files of this site, and nothing is inline, so no nonce is needed. A
        # nonce would make each response different, so that no page could get a 304.
        content_security_policy={
            "default_src": ["'none'"],
            "script_src": ["'self'"],
            "style_src": ["'self'"],
            "img_src": ["'self'"],
            "connect_src": ["'self'"],
            "form_action": ["'self'"],
            "frame_ancestors": ["'none'"],
            "base_uri": ["'none'"],
        },
        # With the default, no-referrer, browsers send forms with `Origin: null`. Then csrf() has
        # only Sec-Fetch-Site, which is missing on plain HTTP.
        referrer_policy="same-origin",
        strict_transport_security=IS_HTTPS,
        x_frame_options="DENY",
        # Only needed for obsolete browsers.
        x_download_options=False,
        x_xss_protection=False,
    )
)
# Error pages show the logged-in member, so sessions come before middleware that rejects requests.
# A request that doesn't use its session costs almost nothing.
app.use(make_templates(FOLDER / "templates", site_url=URL))
app.use(
    session(
        store=sessions,
        max_age=THIRTY_DAYS,
        # Some browsers drop `Secure` cookies on plain HTTP, even on localhost.
        secure=IS_HTTPS,
    )
)
# Before code that builds URLs from the host.
app.use(trusted_hosts(*{HOST, "localhost", "127.0.0.1", "[::1]"}))
# The size of a compressed page could reveal secrets in it. The pages contain none: the session is
# in the cookie, and csrf() needs no token in forms.
app.use(compress())
# Inside compress(), so that the ETag is a digest of the uncompressed page.
app.use(etag())
# Before csrf(), which static files don't need.
for prefix, assets in (("/static", own), ("/vendor", vendored)):
    app.use(
        f"{prefix}/*",
        serve_static(
            assets.folder, rewrite_request_path=assets.file_of, index=None, cache_control=IMMUTABLE
        ),
    )
app.use(csrf())
app.use(body_limit(64 * 1024))

app.route("/", accounts)
app.route("/", pages)


@app.on_error(RequestValidationError)
async def invalid(error: RequestValidationError, c: Context) -> Response:
    """Handles URLs with an invalid number, or one that is too large."""
    return await not_found(c)


@app.on_error(HTTPException)
async def refused(error: HTTPException, c: Context) -> Response:
    given = error.res.headers if error.res else Headers(error.headers)
    for name in ("Allow", "Retry-After"):
        c.header(name, given.get(name))
    return await error_page(c, error.status)


@app.on_error()
async def fault(error: Exception, c: Context) -> Response:
    logger.error("[%s] %s %s", c.get("request_id"), c.req.method, c.req.path, exc_info=error)
    return await error_page(c, 500)


@app.not_found()
async def not_found(c: Context) -> Response:
    return await error_page(c, 404)


async def error_page(c: Context, status: int) -> Response:
    message = MESSAGES.get(status, "Something went wrong on our side. We have been told.")
    title = HTTPStatus(status).phrase
    return await render(
        c, "error.html", block="error", status=status, code=status, title=title, message=message
    )
