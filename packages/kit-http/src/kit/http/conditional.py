# SPDX-License-Identifier: MIT
"""Conditional requests: preconditions and responses with status 304 (RFC 9110, section 13).

    status = evaluate(method, headers.get, etag='"v2"', last_modified=modified_at)

If the status is None, continue; otherwise respond with it, 304 or 412, and without a body. A 304
has the same Cache-Control, Content-Location, ETag, Expires and Vary as the 200 would have, and
Last-Modified if there is no ETag (section 15.4.5). A 412 has none of these headers, since they
would describe the error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import isfinite
from typing import Literal, TypeAlias

from .dates import parse_http_date
from .entity_tags import (
    EntityTag,
    is_entity_tag,
    parse_entity_tag,
    parse_entity_tags,
    split_entity_tags,
)
from .methods import READING_METHODS

__all__ = (
    "GetField",
    "evaluate",
    "omitted_when_not_modified",
    "range_applies",
)

GetField: TypeAlias = Callable[[str], str | None]
"""Returns the value of a request header, or None; names are case-insensitive."""

# SPEC: section 13.2.1: methods that select no representation have no preconditions.
_WITHOUT_PRECONDITIONS = frozenset(("CONNECT", "OPTIONS", "TRACE"))

# Headers that describe the content. Content-Location isn't one of them: a 304 must have it.
_OF_THE_CONTENT = frozenset(
    (
        "content-digest",
        "content-disposition",
        "content-encoding",
        "content-language",
        "content-length",
        "content-md5",
        "content-range",
        "content-type",
        "digest",
        "last-modified",
        "repr-digest",
        "trailer",
        "transfer-encoding",
    )
)


def evaluate(
    method: str,
    get: GetField,
    *,
    etag: str | EntityTag | None = None,
    last_modified: float | None = None,
    exists: bool = True,
) -> Literal[304, 412] | None:
    """Evaluates the preconditions of a request, in the order of section 13.2.2.

    Call this before the method has an effect, and only if the response would otherwise be a 2xx or
    412 (section 13.2.1). If-Range is not evaluated; see `range_applies`.

    Entity tags are compared strongly for If-Match, weakly for If-None-Match. Malformed tags never
    match, so a malformed If-Match fails. A malformed If-None-Match fails for methods other than
    GET, HEAD and QUERY; a `*` among its members counts as `*`, since several lines are joined with
    commas. Malformed dates are ignored.

    Args:
        method: The method of the request.
        get: Returns the value of a request header, e.g. the `get` of headers.
        etag: The ETag of the current representation, with its quotes; None if it has none. If the
            text may be malformed, pass the result of `parse_entity_tag` instead.
        last_modified: When the current representation was modified, in seconds since
            1970-01-01 00:00:00 UTC; None if unknown.
        exists: Whether there is a current representation. Without one, `etag` and `last_modified`
            are ignored.

    Returns:
        The status to respond with, 304 or 412, or None to continue.

    Raises:
        TypeError: If `etag` or `last_modified` has the wrong type.
        ValueError: If `etag` is malformed, or `last_modified` is not finite.
    """
    etag = _checked_etag("evaluate", etag)
    modified = _checked_time("evaluate", last_modified)
    if method in _WITHOUT_PRECONDITIONS:
        return None
    if not exists:
        # SPEC: If-Match is false, If-None-Match is true, and dates are ignored.
        return None if get("If-Match") is None else 412
    if _was_changed(get, etag, modified):
        return 412
    is_read = method in READING_METHODS  # SPEC: section 13.1.2; RFC 10008 section 2.6
    listed = get("If-None-Match")
    if listed is not None:
        if _is_named(listed, etag, is_read=is_read):
            return 304 if is_read else 412
    elif modified is not None and is_read:
        since = parse_http_date(get("If-Modified-Since"))
        if since is not None and modified <= since:
            return 304
    return None


def range_applies(
    get: GetField,
    *,
    etag: str | EntityTag | None = None,
    last_modified: float | None = None,
    date_is_strong: bool = False,
    now: float | None = None,
) -> bool:
    """Returns whether If-Range lets the Range of a request apply (section 13.1.5).

    Call this after the other preconditions pass. If it returns False, send the whole
    representation.

    Args:
        get: Returns the value of a request header, e.g. the `get` of headers.
        etag: The ETag of the current representation, with its quotes; None if it has none. A weak
            ETag never matches.
        last_modified: When the current representation was modified, in seconds since
            1970-01-01 00:00:00 UTC; None if unknown.
        date_is_strong: Whether a date in If-Range matches if it equals `last_modified`. Otherwise
            no date ever matches. Pass True only if no two representations of the resource have the
            same date: it never changes twice within one second, and its codings have different
            dates (section 8.8.2.2). The modification times of files don't prove that.
        now: The current time, in the same unit, for dates with a two-digit year. Default: the
            system clock.

    Returns:
        True if there is no If-Range, or if it matches.

    Raises:
        TypeError: If `etag` or `last_modified` has the wrong type.
        ValueError: If `etag` is malformed, or `last_modified` is not finite.
    """
    etag = _checked_etag("range_applies", etag)
    modified = _checked_time("range_applies", last_modified)
    value = get("If-Range")
    if value is None:
        return True
    asked = parse_entity_tag(value)
    if asked is not None:
        return _is_among([asked], etag, strong=True)
    return date_is_strong and modified is not None and modified == parse_http_date(value, now=now)


def omitted_when_not_modified(
    names: Collection[str], *, retained: Iterable[str] = ()
) -> frozenset[str]:
    """Returns the headers of a 200 that a 304 omits, because they describe the content.

    They include Last-Modified only if there is an ETag, since caches rely on it otherwise
    (RFC 9110, section 15.4.5).

    Args:
        names: The names of the headers of the 200, in lower case.
        retained: Names of headers to keep anyway, in lower case.
    """
    omitted = _OF_THE_CONTENT.intersection(names).difference(retained)
    return omitted if "etag" in names else omitted - {"last-modified"}


def _checked_etag(function: str, etag: str | EntityTag | None) -> str | EntityTag | None:
    if etag is None or isinstance(etag, EntityTag):
        return etag
    if not isinstance(etag, str):
        raise TypeError(f"{function}(etag=...) takes a str or an EntityTag, not {etag!r:.100}")
    if not is_entity_tag(etag):
        raise ValueError(
            f"{function}(etag={etag!r:.100}) can't be used: expected an entity tag with its "
            "quotes, such as '\"v2\"'"
        )
    return etag


def _checked_time(function: str, last_modified: float | None) -> float | None:
    """Returns a time rounded down to whole seconds, like dates in headers."""
    if last_modified is None or type(last_modified) is int:
        return last_modified
    if not isinstance(last_modified, (int, float)):
        raise TypeError(
            f"{function}(last_modified=...) takes seconds since 1970, such as "
            f"modified_at.timestamp(), not {last_modified!r:.100}"
        )
    if not isfinite(last_modified):
        raise ValueError(
            f"{function}(last_modified={last_modified!r:.100}) can't be used: expected a finite "
            "number"
        )
    return last_modified // 1


def _was_changed(get: GetField, etag: str | EntityTag | None, modified: float | None) -> bool:
    """Returns whether If-Match, or else If-Unmodified-Since, fails."""
    listed = get("If-Match")
    if listed is not None:
        if listed.strip(" \t") == "*":
            return False
        return not _is_among(parse_entity_tags(listed), etag, strong=True)
    if modified is None:
        return False
    since = parse_http_date(get("If-Unmodified-Since"))
    return since is not None and modified > since


def _is_named(listed: str, etag: str | EntityTag | None, *, is_read: bool) -> bool:
    """Returns whether If-None-Match names the current representation, or may name it."""
    if etag is not None and listed == str(etag):  # PERF: by far the most frequent case
        return True
    members = split_entity_tags(listed)
    if "*" in members:
        return True
    tags = [tag for member in members if (tag := parse_entity_tag(member)) is not None]
    # APPSEC: the header prevents overwriting, so a malformed value must not let a write pass.
    if not is_read and (not tags or len(tags) < len(members)):
        return True
    return _is_among(tags, etag, strong=False)


def _is_among(tags: list[EntityTag], etag: str | EntityTag | None, *, strong: bool) -> bool:
    current = parse_entity_tag(etag) if isinstance(etag, str) else etag
    return current is not None and any(current.matches(tag, strong=strong) for tag in tags)
