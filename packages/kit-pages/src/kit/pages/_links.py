# SPDX-License-Identifier: MIT
"""The Link header of a page (RFC 8288)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from kit.interface import Context


def set_links(
    c: Context[Any, Any] | None, replaced: str, targets: Mapping[str, str | None]
) -> None:
    """Sets the Link header of the response.

    The targets consist of a query only. They are resolved against the URL that the client used
    (RFC 3986, section 5.2), so they are right behind any proxy.

    Args:
        c: The context; None outside of a request.
        replaced: The name in the query that selects the page. All other names stay.
        targets: Its value for each relation; None if it is left out.
    """
    if c is None or not targets:
        return
    _, _, query = c.req.url.partition("#")[0].partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if name != replaced]
    links = []
    for relation, value in targets.items():
        given = kept if value is None else [*kept, (replaced, value)]
        # An empty reference would keep the query of the request (RFC 3986, section 5.2.2).
        links.append(f'<?{urlencode(given)}>; rel="{relation}"')
    c.header("Link", ", ".join(links), append=True)
