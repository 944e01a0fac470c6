# SPDX-License-Identifier: MIT
"""Reads the token of a request, and builds the responses to requests without a valid one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from kit.authoring.options import OptionChecks
from kit.authoring.vary import depend_on
from kit.cookie import format_cookie, get_cookie, get_signed_cookie
from kit.http.fields import TOKEN, quoted_string
from kit.interface import Context, HTTPException

# Proxies have buffers of 4 KiB for all headers of a response.
_LONGEST_REALM = 1000
_PREFIXES = {None: "", "secure": "__Secure-", "host": "__Host-"}


class TokenCookie(TypedDict, total=False):
    """The cookie that contains the token.

    Attributes:
        key: Its name, without the prefix.
        secret: The secret that the cookie is signed with, see `kit.cookie.set_signed_cookie`. A
            cookie with a wrong signature is ignored. Default None: it isn't signed.
        prefix_options: `"secure"` or `"host"`, if its name begins with `__Secure-` or `__Host-`.
    """

    key: str
    secret: str | bytes | None
    prefix_options: str | None


class Credentials:
    """Reads the token of a request, and builds the responses to requests without a valid one.

    Args:
        check: The checks of the factory.
        cookie: The option `cookie`: a name, a `TokenCookie`, or None.
        header_name: The header that contains the token.
        scheme: The scheme before it, case-insensitive (RFC 9110, section 11.1).
        realm: Name of the protected area; None for the URL of the request.
    """

    def __init__(
        self, check: OptionChecks, *, cookie: Any, header_name: Any, scheme: Any, realm: Any
    ) -> None:
        self._header_name = check.header_name("header_name", header_name, "Authorization")
        self._scheme = check.text("scheme", scheme, TOKEN, "a scheme such as 'Bearer'")
        self._match = re.compile(rf"(?i:{re.escape(scheme)})[ \t]+([!-~]+)", re.ASCII).fullmatch
        self._cookie, self._cookie_name = _cookie_reader(check, cookie)
        # Caches have rules for Authorization (RFC 9111 section 3.5).
        read = [] if self._header_name.lower() == "authorization" else [self._header_name]
        read += [] if cookie is None else ["Cookie"]
        self._read_headers = ", ".join(read) or None
        if realm is not None:
            try:
                quoted_string(check.text("realm", realm))
            except ValueError:
                check.unusable("realm", realm, "latin-1 text without control characters")
        self._realm = realm

    def token(self, c: Context[Any, Any]) -> str | None:
        """Returns the token of a request, or None if it has none.

        Raises:
            HTTPException: 401 if the header is malformed or sent twice.
        """
        # A repeated header is joined with a comma (RFC 9110 section 5.3), which no token contains.
        header = c.req.header(self._header_name)
        if self._read_headers is not None:
            depend_on(c, self._read_headers)
        if header:
            match = self._match(header.strip(" \t"))
            if match is None:
                raise self.failure(c, "invalid_request", "invalid credentials structure")
            return match[1]
        return self._cookie(c) if self._cookie is not None else None

    def absent(self, c: Context[Any, Any]) -> HTTPException:
        """Returns the response to a request without a token."""
        return self.failure(c, "invalid_request", "no authorization included in request")

    def refused(self, c: Context[Any, Any]) -> HTTPException:
        """Returns the response to a request with a rejected token."""
        return self.failure(c, "invalid_token", "token verification failure")

    def failure(self, c: Context[Any, Any], error: str, description: str) -> HTTPException:
        """Returns a 401 with a challenge (RFC 6750, section 3)."""
        realm = c.req.url[:_LONGEST_REALM] if self._realm is None else self._realm
        challenge = (
            f"{self._scheme} realm={quoted_string(realm)},"
            f'error="{error}",error_description="{description}"'
        )
        body = "Unauthorized"
        return HTTPException(
            401, description, res=c.text(body, 401, {"WWW-Authenticate": challenge})
        )

    def security(self) -> list[dict[str, str]]:
        """Returns the Security Scheme Objects (OpenAPI 3.1.1, section 4.8.27)."""
        if self._header_name.lower() == "authorization":
            scheme = self._scheme.lower()
            schemes = [{"type": "http", "scheme": scheme}]
            if scheme == "bearer":  # the only scheme for which OpenAPI has a format
                schemes[0]["bearerFormat"] = "JWT"
        else:
            # HTTP schemes of OpenAPI imply Authorization, so another header is an API key.
            schemes = [{"type": "apiKey", "in": "header", "name": self._header_name}]
        if self._cookie_name is not None:
            schemes.append({"type": "apiKey", "in": "cookie", "name": self._cookie_name})
        return schemes


def _cookie_reader(
    check: OptionChecks, cookie: Any
) -> tuple[Callable[[Context[Any, Any]], str | None] | None, str | None]:
    if cookie is None:
        return None, None
    if isinstance(cookie, str):
        cookie = {"key": cookie}
    elif not isinstance(cookie, Mapping):
        check.wrong_type("cookie", cookie, "a str or a mapping with 'key'")
    options = check.keys("cookie", cookie, ("key", "secret", "prefix_options"))
    part = OptionChecks(f"{check.factory}: cookie")
    key = part.text("key", options.get("key"))
    try:
        format_cookie(key, "")
    except ValueError:
        part.unusable("key", key, "the name of a cookie")
    secret, prefix = options.get("secret"), options.get("prefix_options")
    part.choice("prefix_options", prefix, [*_PREFIXES])
    name = _PREFIXES[prefix] + key
    if secret is None:
        return lambda c: get_cookie(c, key, prefix) or None, name
    if not isinstance(secret, (str, bytes)) or not secret:
        # APPSEC: the error must not show the secret.
        raise ValueError(
            f"{part.factory}(secret=...) can't be used: expected a str that isn't empty"
        )
    return lambda c: get_signed_cookie(c, secret, key, prefix) or None, name
