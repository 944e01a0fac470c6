# SPDX-License-Identifier: MIT
"""What the headers of a response say about compressing it, and what they have to say after that."""

from __future__ import annotations

from collections.abc import Mapping

from kit.interface import Headers, Response
from kit.interface.conditional import parse_entity_tag, parse_entity_tags, weakened
from kit.interface.fields import add_vary, list_members

__all__ = ("ACCEPT_ENCODING", "describe_encoded", "describe_revalidated", "is_fixed", "is_shorter")

ACCEPT_ENCODING = "Accept-Encoding"
# The response is encoded already, is to be sent as it is, or is a part of one (a range of bytes).
_FIXED = frozenset(("content-encoding", "transfer-encoding", "content-range"))
# SPEC: RFC 9530, RFC 3230 and RFC 1864: digests of the bytes that would have been sent. Ranges of
# those are not what a client that has the encoded ones could use.
_OF_THE_BYTES = frozenset(
    ("content-digest", "repr-digest", "digest", "content-md5", "accept-ranges")
)


def is_shorter(headers: Headers, threshold: int) -> bool | None:
    """Returns whether a response is declared to be shorter than a threshold.

    Args:
        headers: The headers of the response.
        threshold: The size, in bytes.

    Returns:
        None if there is no valid Content-Length.
    """
    value = headers.get("Content-Length")
    if value is None or not (value.isascii() and value.isdigit()):
        return None
    return int(value) < threshold


def is_fixed(status: int, known: Mapping[str, str]) -> bool:
    """Returns whether a response must not be encoded.

    Args:
        status: Its status.
        known: Its headers, by their names in lower case.
    """
    if status == 206 or not _FIXED.isdisjoint(known):
        return True
    # SPEC: RFC 9111 section 5.2.2.6.
    control = known.get("cache-control")
    return (
        control is not None
        and "no-transform" in (lower := control.lower())
        and "no-transform" in list_members(lower)
    )


def describe_encoded(headers: Headers, known: Mapping[str, str], coding: str) -> None:
    """Corrects the headers of a response that is encoded from now on, but for Content-Length.

    Args:
        headers: Its headers.
        known: The same, by their names in lower case.
        coding: The name of the coding.
    """
    headers.append("Content-Encoding", coding)
    etag = known.get("etag")
    if etag is not None:
        headers.set("ETag", weakened(etag))
    for name in _OF_THE_BYTES.intersection(known):
        headers.delete(name)


def describe_revalidated(res: Response, if_none_match: str | None) -> None:
    """Corrects the headers of a 304: they are to be those of the 200 (RFC 9110, section 15.4.5).

    Whether that was encoded can't be seen, but a client that names a strong ETag as a weak one has
    an encoded response.

    Args:
        res: The response.
        if_none_match: The value of If-None-Match.
    """
    headers = res.headers
    if is_fixed(304, dict(headers.items())):
        return
    add_vary(headers, ACCEPT_ENCODING)
    etag = headers.get("ETag")
    tag = None if etag is None else parse_entity_tag(etag)
    if tag is not None and not tag.weak:
        known = parse_entity_tags(if_none_match)
        if tag not in known and tag._replace(weak=True) in known:
            headers.set("ETag", str(tag._replace(weak=True)))
