# SPDX-License-Identifier: MIT
"""The URL of the WHATWG URL standard, parsed by ada."""

from __future__ import annotations

from typing import Any

from ._url_search_params import URLSearchParams


class URL:
    """A parsed, normalized URL (WHATWG URL, section 6.1).

    Args:
        url: The URL as text.
        base: The URL that a relative `url` is resolved against.

    Raises:
        ValueError: If the URL is invalid.
    """

    __slots__ = ("_parsed",)

    def __init__(self, url: str, base: str | None = None) -> None:
        # Imported here, so that an app that never uses a URL doesn't load the parser.
        import ada_url

        for text in (url, base):
            if not isinstance(text, str) and (text is not None or text is url):
                raise TypeError(f"URL() takes a str, not {text!r:.100}")
        try:
            self._parsed: Any = ada_url.URL(url, base)
        except ValueError:
            against = f" against {base!r}" if base is not None else ""
            raise ValueError(f"Invalid URL {url!r}{against}: expected an absolute one") from None

    @property
    def href(self) -> str:
        """The whole URL."""
        return str(self._parsed.href)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return str(self._parsed.origin)

    @property
    def protocol(self) -> str:
        """The scheme with its colon, e.g. `https:`."""
        return str(self._parsed.protocol)

    @property
    def host(self) -> str:
        """Host and, unless it is the scheme's default, port."""
        return str(self._parsed.host)

    @property
    def hostname(self) -> str:
        """Host without port."""
        return str(self._parsed.hostname)

    @property
    def port(self) -> str:
        """Port as text, `""` if it is the scheme's default."""
        return str(self._parsed.port)

    @property
    def pathname(self) -> str:
        """The path, percent-encoded."""
        return str(self._parsed.pathname)

    @property
    def search(self) -> str:
        """The query with its question mark, or `""`."""
        return str(self._parsed.search)

    @property
    def search_params(self) -> URLSearchParams:
        """The parameters of the query, in a new object each time; changes don't affect the URL."""
        return URLSearchParams(self.search)

    @property
    def hash(self) -> str:
        """The fragment with its `#`, or `""`."""
        return str(self._parsed.hash)

    def __str__(self) -> str:
        return self.href

    def __repr__(self) -> str:
        return f"URL({self.href!r})"

    def __eq__(self, other: object) -> bool:
        return self.href == other.href if isinstance(other, URL) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.href)
