# SPDX-License-Identifier: MIT
"""The cookies that a test client keeps between its calls, in a jar of the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping
from http.client import HTTPResponse
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit
from urllib.request import Request

from kit.cookie import format_cookie, parse_cookies
from kit.testing._inputs import as_text

_ENDS_ATTRIBUTE = re.compile(r"[;\x00-\x1f\x7f]")
# SPEC: RFC 6265 section 5.2: attributes with such a value are ignored, and so are unknown ones. The
# standard library would drop the cookie, or never send it.
_IGNORED = re.compile(
    r";\s*(?:"
    r"path\s*=\s*[^\s/;][^;]*"
    r"|max-age\s*=\s*(?!\s|-?[0-9]+\s*(?:;|$))[^;]*"
    r"|domain\s*=\s*"
    r"|port\s*(?:=[^;]*)?"
    r")(?=;|$)",
    re.IGNORECASE,
)


class Cookies(MutableMapping[str, str]):
    """The cookies of a test client, by name: those that responses set, and those that you set.

        client.cookies["theme"] = "dark"
        assert client.cookies["session"]
        client.cookies.clear()

    The client sends each with the requests that its domain, path, expiry and `Secure` allow (RFC
    6265 section 5.4). As in browsers, `http://localhost` counts as secure. Values are decoded as
    `get_cookie` does, and encoded as `set_cookie` does. If cookies of one name have different
    paths, reading returns the one with the longest path.

    Attributes:
        jar: The `http.cookiejar.CookieJar`, which has the attributes of each cookie.
    """

    def __init__(self, base_url: str) -> None:
        self._url = f"{base_url}/"
        self._host = urlsplit(base_url).hostname or ""
        is_local = self._host == "localhost" or self._host.endswith(".localhost")
        self._policy = DefaultCookiePolicy(
            # SPEC: RFC 6265 section 5.3: without a Domain, only the host itself gets the cookie.
            strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain,
            secure_protocols=("https", "wss", "http", "ws") if is_local else ("https", "wss"),
        )
        self.jar = CookieJar(self._policy)

    def set(self, name: str, value: Any, /, *, path: str = "/", domain: str | None = None) -> None:
        """Sets a cookie.

        Args:
            name: Its name.
            value: Its value, any text or single value.
            path: The path below which it is sent.
            domain: The domain that it is sent to, with its subdomains. Default: the client's host
                alone.

        Raises:
            ValueError: If the name, path or domain is invalid, or the client's host can't have a
                cookie of this domain.
        """
        pair = format_cookie(name, as_text(value, f"The cookie {name!r}"))
        if not path.startswith("/") or _ENDS_ATTRIBUTE.search(f"{path}{domain or ''}"):
            raise ValueError(
                f"The cookie {name!r} takes a path such as '/' and a domain such as 'example.com', "
                f"not {path!r:.100} and {domain!r:.100}"
            )
        line = f"{pair}; Path={path}" + (f"; Domain={domain}" if domain else "")
        request = _asked(self._url)
        (cookie,) = self.jar.make_cookies(_answer(self._url, [line]), request)
        if not self._policy.set_ok(cookie, request):
            raise ValueError(
                f"The cookie {name!r} can't have the domain {domain!r}: "
                f"the client sends requests to {self._host!r}"
            )
        self.jar.set_cookie(cookie)

    def store(self, url: str, lines: Iterable[str]) -> None:
        """Keeps the cookies of a response.

        Args:
            url: The URL of its request.
            lines: Its Set-Cookie lines.
        """
        self.jar.extract_cookies(_answer(url, lines), _asked(url))

    def pairs_for(self, url: str) -> list[str]:
        """Returns the cookies to send to a URL, each as `name=value`."""
        request = _asked(url)
        self.jar.add_cookie_header(request)
        header = request.get_header("Cookie")
        return [_octets(pair) for pair in header.split("; ")] if header else []

    def __getitem__(self, name: str) -> str:
        found = self._named(name)
        if not found:
            raise KeyError(name)
        return _decoded(max(found, key=lambda each: len(each.path)))

    def __setitem__(self, name: str, value: Any) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        found = self._named(name)
        if not found:
            raise KeyError(name)
        for each in found:
            self.jar.clear(each.domain, each.path, each.name)

    def __iter__(self) -> Iterator[str]:
        self.jar.clear_expired_cookies()
        return iter(dict.fromkeys(each.name for each in self.jar))

    def __len__(self) -> int:
        return len([*iter(self)])

    def clear(self) -> None:
        """Removes all cookies."""
        self.jar.clear()

    def _named(self, name: str) -> list[Cookie]:
        self.jar.clear_expired_cookies()
        return [each for each in self.jar if each.name == name]

    if not TYPE_CHECKING:

        def get(self, name: Any = None, default: Any = None, /, **options: Any) -> Any:
            if name is None or options:
                raise TypeError(
                    "client.cookies.get() takes the name of a cookie; "
                    "write client['cookies'].get() for a route /cookies"
                )
            return super().get(name, default)

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"client.cookies has the cookies of the client, and no {name!r}; "
                "write client['cookies'] for a route /cookies"
            )

    def __repr__(self) -> str:
        return f"Cookies({dict(self)!r})"


def parse_values(url: str, lines: Iterable[str]) -> dict[str, str]:
    """Returns the names and decoded values of the cookies that Set-Cookie lines set.

    Those that have expired, and so are deleted by their lines, are left out.

    Args:
        url: The URL of the request.
        lines: The lines.
    """
    made = CookieJar().make_cookies(_answer(url, lines), _asked(url))
    return {cookie.name: _decoded(cookie) for cookie in made}


def _decoded(cookie: Cookie) -> str:
    """Returns the value of a cookie as an app reads it."""
    for _, value in parse_cookies(_octets(f"{cookie.name}={cookie.value or ''}")):
        return value
    return cookie.value or ""


def _text(line: str) -> str:
    """Returns a line as text of UTF-8, in which other octets are lone surrogates.

    As text of latin-1, the octets 85 and A0 would be blanks, which a jar removes.
    """
    return line.encode("latin-1").decode("utf-8", "surrogateescape")


def _octets(text: str) -> str:
    """Returns what `_text` was given."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


class _Answer:
    """The part of an `http.client.HTTPResponse` that a jar reads.

    Args:
        lines: The Set-Cookie lines.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def info(self) -> _Answer:
        """Returns the headers."""
        return self

    def get_all(self, name: str, default: list[str]) -> list[str]:
        """Returns the lines of a header."""
        return self._lines if name.lower() == "set-cookie" else default


def _asked(url: str) -> Request:
    """Returns a request for a jar, which nothing sends."""
    return Request(url)  # noqa: S310


def _answer(url: str, lines: Iterable[str]) -> HTTPResponse:
    """Returns a response with Set-Cookie lines for a jar."""
    host = urlsplit(url).hostname or ""
    kept = []
    for line in lines:
        line = _IGNORED.sub("", _text(line))
        if "." not in host:
            # The standard library takes no Domain without a dot, be it that of the host itself.
            line = re.sub(rf";\s*domain\s*=\s*{re.escape(host)}\s*(?=;|$)", "", line, flags=re.I)
        kept.append(line)
    return cast("HTTPResponse", _Answer(kept))
