# SPDX-License-Identifier: MIT
"""The front end: pages that are rendered here, from the same queries as the API's responses."""

from __future__ import annotations

from conduit.database import in_transaction
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


def add_site(app: Kit, settings: Settings) -> None:
    """Adds the pages to an app, after all that isn't one."""
    app.route("/", make_site(settings))
    app.not_found(not_found)


def make_site(settings: Settings) -> Kit:
    """The pages, and the middleware around them, which runs in this order."""
    site = Kit()
    site.use(
        secure_headers(
            # Scripts and styles are files of this site, nothing is inline: that needs no nonce. One
            # would make each page different from the last, so that none could be answered by 304.
            content_security_policy={
                "default_src": ["'none'"],
                "script_src": ["'self'"],
                "style_src": ["'self'"],
                # Pictures of users are wherever they put them.
                "img_src": ["'self'", "https:"],
                "connect_src": ["'self'"],
                "form_action": ["'self'"],
                "frame_ancestors": ["'none'"],
                "base_uri": ["'none'"],
            },
            # With the default, no-referrer, browsers send forms with `Origin: null`, which leaves
            # csrf() with nothing but Sec-Fetch-Site; that is missing on plain HTTP.
            referrer_policy="same-origin",
            strict_transport_security=settings.is_production,
            x_frame_options="DENY",
            # For browsers that nobody uses any more.
            x_download_options=False,
            x_xss_protection=False,
        )
    )
    site.use(make_templates())
    site.use(sessions(settings))
    # A compressed page could reveal a secret in it by its size. There is none: the session is in
    # the cookie, and csrf() needs no token in forms.
    site.use(compress())
    # Within compress(), so that it digests the page and not one of its encodings.
    site.use(etag())
    # Around what refuses requests, as the page about that greets the user. One that asks nothing
    # of the database begins no transaction.
    site.use(in_transaction)
    # The API takes no cookies, so nobody can forge its requests.
    site.use(except_("/api/*", csrf()))
    handle_errors(site)
    for each in (assets, make_accounts(settings), editor, articles, feeds):
        site.route("/", each)
    return site
