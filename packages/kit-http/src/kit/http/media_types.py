# SPDX-License-Identifier: MIT
"""Media types of requests and responses (RFC 9110, sections 8.3.1 and 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from .fields import parse_accept, quoted_string

__all__ = (
    "EVENT_STREAM",
    "JSON",
    "JSON_LINES",
    "MULTIPART",
    "URLENCODED",
    "choose_media_type",
    "format_accept_query",
    "is_compressible",
    "is_json",
    "media_type",
)

EVENT_STREAM = "text/event-stream"
"""Server-sent events (WHATWG HTML, section 9.2); see `kit.http.server_sent_events`."""

JSON = "application/json"
"""JSON (RFC 8259)."""

JSON_LINES = "application/jsonl"
"""One JSON value per line (jsonlines.org)."""

MULTIPART = "multipart/form-data"
"""Forms that may contain files (RFC 7578)."""

URLENCODED = "application/x-www-form-urlencoded"
"""Forms that contain only text (WHATWG URL, section 5)."""

# Names from the Media Types registry, and a few in wide use. Other images, audio, video, archives
# and WOFF fonts are already compressed.
_COMPRESSIBLE = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/json-seq",
        "application/json5",
        "application/jsonl",
        "application/n-quads",
        "application/n-triples",
        "application/ndjson",
        "application/openmetrics-text",
        "application/postscript",
        "application/rtf",
        "application/sql",
        "application/tar",
        "application/toml",
        "application/trig",
        "application/vnd.ms-fontobject",
        "application/vnd.ms-opentype",
        "application/wasm",
        "application/x-font-opentype",
        "application/x-font-truetype",
        "application/x-font-ttf",
        "application/x-httpd-php",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-tar",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/xml",
        "application/xml-dtd",
        "application/yaml",
        "font/collection",
        "font/otf",
        "font/sfnt",
        "font/ttf",
        "image/bmp",
        "image/vnd.microsoft.icon",
        "image/x-icon",
        "image/x-ms-bmp",
        "message/rfc822",
        "model/gltf-binary",
        "model/obj",
        "model/stl",
    }
)
# SPEC: RFC 6839, RFC 9512 section 2.2: text-based structured syntaxes.
_COMPRESSIBLE_SUFFIXES = ("+json", "+json-seq", "+text", "+xml", "+yaml")
# SPEC: RFC 9651 section 3.3.4.
_SF_TOKEN = re.compile(r"[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*")
# PERF: an app sends only a few different types.
_LONGEST_KEPT = 128


def media_type(content_type: str | None) -> str:
    """Returns the media type of a Content-Type header, in lower case and without parameters.

    Args:
        content_type: The header's value; None if there is none.

    Returns:
        The media type, e.g. `text/html`; `""` if there is none.
    """
    if content_type == URLENCODED:  # PERF: the usual spelling
        return URLENCODED
    return (content_type or "").partition(";")[0].strip().lower()


def is_json(content_type: str | None) -> bool:
    """Returns whether a Content-Type header declares JSON (RFC 8259; RFC 6839, `+json`).

    Args:
        content_type: The header's value; None if there is none.
    """
    kind = media_type(content_type)
    return kind == JSON or kind.endswith("+json")


def choose_media_type(accept: str | None, available: Sequence[str]) -> str | None:
    """Chooses the media type of a response by Accept (RFC 9110, section 12.5.1).

    The most specific range that includes a type decides its quality, and the type with the highest
    quality wins. If qualities are equal, a type that the client names comes before one that only a
    range includes, then the client's order decides, and then the server's.

    Args:
        accept: The value of Accept; None if there is none.
        available: The media types in lower case, without parameters, in the server's order.

    Returns:
        One of them, the first one without Accept; None if the client accepts none of them.
    """
    accepted = parse_accept(accept)
    if not accepted:
        return available[0]
    ranges: dict[str, tuple[float, int]] = {}
    for index, each in enumerate(accepted):  # the highest quality first
        ranges.setdefault(each.type.lower(), (each.q, -index))
    best: tuple[float, int, int] | None = None
    chosen = None
    for kind in available:
        for breadth, name in enumerate((kind, kind.partition("/")[0] + "/*", "*/*")):
            if name not in ranges:
                continue
            q, order = ranges[name]
            rank = q, -breadth, order
            if q > 0 and (best is None or rank > best):
                best, chosen = rank, kind
            break
    return chosen


def format_accept_query(media_ranges: Iterable[str]) -> str:
    """Returns the value of Accept-Query, a list of media ranges (RFC 10008, section 3).

    It isn't written as Accept is, but as a structured field (RFC 9651, section 3.1).

    Args:
        media_ranges: The types of content that a resource takes with QUERY, e.g.
            `application/json` or `text/*`, with or without parameters.
    """
    return ", ".join(map(_format_media_range, media_ranges))


def _format_media_range(media_range: str) -> str:
    (parsed,) = parse_accept(media_range)
    parameters = [f";{name.lower()}={_format_item(text)}" for name, text in parsed.params.items()]
    return _format_item(parsed.type) + "".join(parameters)


def _format_item(text: str) -> str:
    """Returns a text as a Token if it can be one, otherwise as a String."""
    return text if _SF_TOKEN.fullmatch(text) else quoted_string(text)


def is_compressible(content_type: str | None) -> bool:
    """Returns whether content of a type is usually worth compressing.

    This is the case for text, JSON, XML, JavaScript, SVG, WebAssembly and uncompressed fonts;
    images, audio and video are already compressed.

    Args:
        content_type: The value of a Content-Type header; None if there is none.
    """
    if not content_type:
        return False
    if len(content_type) > _LONGEST_KEPT:
        return _is_compressible(content_type)
    return _is_compressible_kept(content_type)


def _is_compressible(content_type: str) -> bool:
    kind = media_type(content_type)
    return (
        kind.startswith("text/") or kind in _COMPRESSIBLE or kind.endswith(_COMPRESSIBLE_SUFFIXES)
    )


_is_compressible_kept = lru_cache(maxsize=256)(_is_compressible)
