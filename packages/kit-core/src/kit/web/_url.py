# SPDX-License-Identifier: MIT
"""The URL of the WHATWG URL standard, parsed by Ada."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ._url_search_params import URLSearchParams

if TYPE_CHECKING:
    import can_ada

_SKIPPED = "".join(map(chr, range(0x21)))
"""Control characters and the space (section 4.4)."""


class _Parts(NamedTuple):
    """The text of a parsed URL and of its parts."""

    href: str
    origin: str
    protocol: str
    host: str
    hostname: str
    port: str
    pathname: str
    search: str
    hash: str


_parts_of = attrgetter(*_Parts._fields)


class URL:
    """A parsed, normalized URL (WHATWG URL, section 6.1).

    Args:
        url: The URL as text.
        base: The URL that a relative `url` is resolved against.

    Raises:
        ValueError: If the URL is invalid.
    """

    __module__ = "kit.web"  # shown as it is imported

    __slots__ = ("_parts",)

    def __init__(self, url: str, base: str | None = None) -> None:
        for text in (url, base):
            if not isinstance(text, str) and (text is not None or text is url):
                raise TypeError(f"URL() takes a str, not {text!r:.100}")
        try:
            self._parts = _parse(url, base)
        except (ValueError, TypeError):  # a TypeError for lone surrogates
            against = f" against {base!r}" if base is not None else ""
            raise ValueError(f"Invalid URL {url!r}{against}: expected an absolute one") from None

    @property
    def href(self) -> str:
        """The whole URL."""
        return self._parts.href

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return self._parts.origin

    @property
    def protocol(self) -> str:
        """The scheme with its colon, e.g. `https:`."""
        return self._parts.protocol

    @property
    def host(self) -> str:
        """Host and, unless it is the scheme's default, port."""
        return self._parts.host

    @property
    def hostname(self) -> str:
        """Host without port."""
        return self._parts.hostname

    @property
    def port(self) -> str:
        """Port as text, `""` if it is the scheme's default."""
        return self._parts.port

    @property
    def pathname(self) -> str:
        """The path, percent-encoded."""
        return self._parts.pathname

    @property
    def search(self) -> str:
        """The query with its question mark, or `""`."""
        return self._parts.search

    @property
    def search_params(self) -> URLSearchParams:
        """The parameters of the query, in a new object each time; changes don't affect the URL."""
        return URLSearchParams(self.search)

    @property
    def hash(self) -> str:
        """The fragment with its `#`, or `""`."""
        return self._parts.hash

    def __str__(self) -> str:
        return self.href

    def __repr__(self) -> str:
        return f"URL({self.href!r})"

    def __eq__(self, other: object) -> bool:
        return self.href == other.href if isinstance(other, URL) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.href)


def text_of_url(call: str, url: object, expected: str) -> str:
    """Returns the text of a URL, given as text or as an object such as an `httpx.URL`.

    Raises:
        TypeError: If it is neither; the message uses `call` and `expected`.
    """
    if isinstance(url, str):
        return url
    if isinstance(url, URL):
        return url.href
    try:
        URL(text := str(url))
    except ValueError:
        raise TypeError(f"{call} takes {expected}, not {url!r:.100}") from None
    return text


def _parse(url: str, base: str | None) -> _Parts:
    """Parses a URL; raises a ValueError, or a TypeError for lone surrogates."""
    # PERF: imported here, so that an app that never uses a URL doesn't load the parser.
    import can_ada

    if base is None:
        parsed = can_ada.parse(url)
    else:
        against = can_ada.parse(base)
        # Ada 3.0 also resolves `x#y` against an opaque path, such as in `mailto:x`.
        if _is_opaque(against) and not (_is_fragment(url) or can_ada.can_parse(url)):
            raise ValueError(url)
        parsed = against + url
    # The standard has encoded `^` since November 2024. Opaque paths can't be set, and keep it.
    if "^" in parsed.pathname:
        parsed.pathname = parsed.pathname.replace("^", "%5E")
    # Keep only the text: the parser's library reports every object that is still alive when the
    # interpreter exits, e.g. in a daemon thread, as a leak.
    return _Parts._make(_parts_of(parsed))


def _is_opaque(url: can_ada.URL) -> bool:
    """Whether the path has no segments, as in `mailto:x`."""
    # Both the host and the path may be empty, as in `a://`.
    return not (url.pathname.startswith("/") or url.href.startswith(f"{url.protocol}//"))


def _is_fragment(url: str) -> bool:
    """Whether a relative URL begins with `#`, after the characters that parsers skip."""
    return url.lstrip(_SKIPPED).startswith("#")
