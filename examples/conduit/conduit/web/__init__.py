# SPDX-License-Identifier: MIT
"""The site: server-rendered pages, which use the same queries as the API."""

from __future__ import annotations

from conduit.database import in_transaction
from conduit.limits import Attempts
from conduit.settings import Settings
from conduit.web.accounts import make_accounts
from conduit.web.articles import articles
from conduit.web.assets import assets
from conduit.web.editor import editor
from conduit.web.errors import handle_errors, not_found
from conduit.web.feeds import feeds
from conduit.web.rendering import make_templates
from conduit.web.visitors import sessions
from kit import Kit
from kit.combine import except_
from kit.compress import compress
from kit.csrf import csrf
from kit.etag import etag
from kit.secure_headers import secure_headers

__all__ = ("add_site",)


def add_site(app: Kit, settings: Settings, attempts: Attempts) -> None:
    """Adds the site to an app. Call it after all other routes are registered."""
    app.route("/", make_site(settings, attempts))
    app.not_found(not_found)


def make_site(settings: Settings, attempts: Attempts) -> Kit:
    """Creates the app of the site; its middleware runs in the order of these lines.

    The site is added at `/`, so its middleware also runs for requests to `/api` that match no route
    of the API.
    """
    site = Kit()
    site.use(
        secure_headers(
            # All scripts and styles are files of this site, so the policy needs no nonce. A nonce
            # would change each page, and rule out responses with 304.
            content_security_policy={
                "default_src": ["'none'"],
                "script_src": ["'self'"],
                "style_src": ["'self'"],
                # Users link to images on any host.
                "img_src": ["'self'", "https:"],
                "connect_src": ["'self'"],
                "form_action": ["'self'"],
                "frame_ancestors": ["'none'"],
                "base_uri": ["'none'"],
            },
            # With the default, no-referrer, browsers submit forms with `Origin: null`. Then csrf()
            # only has Sec-Fetch-Site, which is missing on plain HTTP.
            referrer_policy="same-origin",
            strict_transport_security=settings.is_production,
            x_frame_options="DENY",
            # Only obsolete browsers read these.
            x_download_options=False,
            x_xss_protection=False,
        )
    )
    site.use(make_templates())
    site.use(sessions(settings))
    # The size of a compressed page can reveal secrets in it. These pages contain none: the session
    # is in the cookie, and csrf() needs no token in forms.
    site.use(compress())
    # After compress(), so that the tag is that of the uncompressed page.
    site.use(etag())
    # Before middleware that rejects requests, since error pages read the user. A request without
    # statements begins no transaction.
    site.use(except_("/api/*", in_transaction))
    # The API ignores cookies, so other sites can't forge its requests.
    site.use(except_("/api/*", csrf()))
    handle_errors(site)
    for each in (assets, make_accounts(attempts), editor, articles, feeds):
        site.route("/", each)
    return site
