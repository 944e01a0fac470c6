# SPDX-License-Identifier: MIT
"""Byte ranges: parsing Range, and the parts of a multipart/byteranges (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from secrets import token_hex
from typing import Literal

from ._bodies import Piece, Span

# APPSEC: CVE-2025-62727, CVE-2011-3192: neither the work nor the response may grow faster than the
# header, and no byte is sent twice. With more ranges than this, or a longer header, Range is
# ignored, which section 14.2 allows.
_MAX_RANGES = 16
_LONGEST = 500
# SPEC: section 14.1.1, int-range and suffix-range.
_RANGE = re.compile(r"(?:([0-9]+)-([0-9]*)|-([0-9]+))")
_CRLF = "\r\n"

Unsatisfiable = Literal["unsatisfiable"]


def parse_ranges(value: str, size_bytes: int) -> list[Span] | Unsatisfiable | None:
    """Parses the value of Range for a representation of a known size (section 14.2).

    Ranges that overlap or touch are joined. If any were, they are in ascending order,
    otherwise in the order of the header.

    Args:
        value: The value of the header.
        size_bytes: The size of the representation.

    Returns:
        The ranges to send; `unsatisfiable` if all of them begin past the end, which is a 416; None
        to ignore the header: its unit isn't bytes, it is malformed, it has too many ranges, or the
        representation is empty (clients that add Range to every request are better served by a
        200).
    """
    if not size_bytes:
        return None
    unit, equals, listed = value.partition("=")
    if not equals or unit.strip(" \t").lower() != "bytes" or len(value) > _LONGEST:
        return None
    members = [stripped for each in listed.split(",") if (stripped := each.strip(" \t"))]
    if not 0 < len(members) <= _MAX_RANGES:
        return None
    spans = []
    for member in members:
        found = _RANGE.fullmatch(member)
        if found is None:
            return None
        first, last, suffix = found.groups()
        if last and int(last) < int(first):
            return None
        if suffix:
            start = max(size_bytes - int(suffix), 0)
            # SPEC: section 14.1.2: the last 0 bytes can't be satisfied.
            end = size_bytes if int(suffix) else start
        else:
            start = int(first)
            end = min(int(last) + 1, size_bytes) if last else size_bytes
        if start < end:
            spans.append(Span(start, end - start))
    return _joined(spans) if spans else "unsatisfiable"


def _joined(spans: list[Span]) -> list[Span]:
    ascending = sorted(spans)
    joined = ascending[:1]
    for span in ascending[1:]:
        start, size_bytes = joined[-1]
        if span.start > start + size_bytes:
            joined.append(span)
        else:
            end = max(start + size_bytes, span.start + span.size_bytes)
            joined[-1] = Span(start, end - start)
    return spans if len(joined) == len(spans) else joined


def content_range(span: Span, size_bytes: int) -> str:
    """Returns the value of Content-Range for a range (section 14.4).

    Args:
        span: The range.
        size_bytes: The size of the whole representation.
    """
    return f"bytes {span.start}-{span.start + span.size_bytes - 1}/{size_bytes}"


def multipart(spans: Sequence[Span], size_bytes: int, content_type: str) -> tuple[str, list[Piece]]:
    """Returns the content type and the pieces of a multipart/byteranges (section 14.6).

    Args:
        spans: The ranges.
        size_bytes: The size of the whole representation.
        content_type: Its content type.
    """
    boundary = token_hex(16)
    pieces: list[Piece] = []
    for span in spans:
        head = (
            f"{_CRLF if pieces else ''}--{boundary}\r\n"
            f"Content-Type: {content_type}\r\n"
            f"Content-Range: {content_range(span, size_bytes)}\r\n\r\n"
        )
        pieces += [head.encode("latin-1"), span]
    pieces.append(f"\r\n--{boundary}--\r\n".encode())
    return f"multipart/byteranges; boundary={boundary}", pieces


def measure(pieces: Sequence[Piece]) -> int:
    """Returns the size of a body with these pieces, in bytes."""
    return sum(len(each) if isinstance(each, bytes) else each.size_bytes for each in pieces)
