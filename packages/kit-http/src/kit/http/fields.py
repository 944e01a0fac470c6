# SPDX-License-Identifier: MIT
"""The syntax of HTTP fields: tokens, values, quoted strings, lists (RFC 9110, section 5)."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple, cast

__all__ = (
    "TOKEN",
    "Accepted",
    "is_field_value",
    "is_token",
    "list_members",
    "parse_accept",
    "quoted_string",
)

TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105 - a grammar, not a secret
"""Pattern of a token, such as the name of a field or a method (section 5.6.2)."""

# SPEC: section 5.5: visible characters with blanks between them; CR, LF and NUL would end the line.
_FIELD_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?")
# SPEC: section 5.6.4, quoted-string.
_QUOTABLE = re.compile(r"[\t -~\x80-\xff]*")
_TOKEN = re.compile(TOKEN)
# Commas within a quoted-string don't separate. An unclosed quotation ends with the value.
# APPSEC: possessive, here and below, since backtracking takes 100 bytes for each character.
_MEMBER = re.compile(r'(?:[^",]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))++')
# The parts of a member of Accept that contains a quote. None of them can match in two ways, so
# matching takes linear time.
_ACCEPTED_TYPE = re.compile(r"[^;,]*")
_TYPELESS = re.compile(r'(?:[^",]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+', re.DOTALL)
_PARAMETER_NAME = re.compile(r"[^=;,]*")
_BLANKS = re.compile(r"[ \t]*")
_QUOTED_VALUE = re.compile(r'[^";,]*+"[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>")[ \t]*+', re.DOTALL)
# An unclosed quotation ends with the value.
_PLAIN_VALUE = re.compile(r'[^";,]*(?:".*)?', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LONGEST_ACCEPT = 65_536
# SPEC: section 12.4.2 allows digits and a dot. Other spellings of numbers are also accepted.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Infinity")


class Accepted(NamedTuple):
    """One member of Accept, Accept-Language, Accept-Encoding or Accept-Charset.

    Attributes:
        type: A media type or range, a language range, a coding or a charset, as sent.
        q: Its quality, from 0 to 1 (section 12.4.2). 0 means not acceptable.
        params: Its parameters, unquoted, including `q`.
    """

    type: str
    q: float
    params: dict[str, str]


def is_token(text: str) -> bool:
    """Returns whether a text is a token, such as a method or the name of a field or parameter.

    Args:
        text: The text to check.
    """
    return _TOKEN.fullmatch(text) is not None


def is_field_value(text: str) -> bool:
    """Returns whether a text can be sent as the value of a field.

    Args:
        text: The text to check. Characters beyond latin-1, control characters other than tabs, and
            leading or trailing blanks can't be sent.
    """
    return _FIELD_VALUE.fullmatch(text) is not None


def quoted_string(text: str) -> str:
    """Returns a text as a quoted-string, with quotes and backslashes escaped (section 5.6.4).

    Args:
        text: The text to quote.

    Raises:
        ValueError: If it contains a control character or a character beyond latin-1.
    """
    if not _QUOTABLE.fullmatch(text):
        raise ValueError(
            f"{text!r:.100} can't be sent in a header: "
            "expected latin-1 text without control characters"
        )
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def list_members(value: str | None) -> list[str]:
    """Splits the value of a field that is a list (section 5.6.1).

    Args:
        value: The value; several lines are joined with commas. None if the field is absent.

    Returns:
        The members in order, without surrounding blanks. Empty members are omitted; commas in
        quoted strings don't separate.
    """
    if not value:
        return []
    members = _MEMBER.findall(value) if '"' in value else value.split(",")
    return [stripped for each in members if (stripped := each.strip(" \t"))]


def parse_accept(value: str | None) -> list[Accepted]:
    """Parses the value of Accept and similar fields (section 12.5).

    Takes linear time, except for sorting. Only the first 65,536 characters are read.

    Args:
        value: The value; several lines are joined with commas. None if the field is absent.

    Returns:
        The members, highest quality first; members of equal quality are in the order in which they
        were sent. Members with quality 0 are included. A quality that is absent or isn't a number
        counts as 1; other values are clamped to the range 0 to 1. Members without a type and
        parameters without a value are omitted.
    """
    if not value:
        return []
    if len(value) > _LONGEST_ACCEPT:  # APPSEC: members take 100 times the memory of their text
        value = value[:_LONGEST_ACCEPT]
    accepted = _accepted_quoted(value) if '"' in value else _accepted_plain(value)
    # PERF: most clients send members in this order.
    if any(one.q < other.q for one, other in pairwise(accepted)):
        accepted.sort(key=_by_quality)
    return accepted


def _accepted_plain(value: str) -> list[Accepted]:
    accepted = []
    for member in value.split(","):
        first, *parameters = member.split(";")
        kind = first.strip(" \t")
        if not kind:
            continue
        params = {}
        for parameter in parameters:
            name, _, text = parameter.partition("=")
            text = text.strip(" \t")
            if text and text[0] != "=" and (name := name.strip(" \t")):
                params[name] = text
        accepted.append(Accepted(kind, _quality(params) if params else 1.0, params))
    return accepted


def _accepted_quoted(value: str) -> list[Accepted]:
    accepted = []
    position = 0
    while position < len(value):
        position, kind = _matched(_ACCEPTED_TYPE, value, position)
        params: dict[str, str] = {}
        if kind := kind.strip(" \t"):
            while value.startswith(";", position):
                position = _parameter(value, position + 1, params)
            accepted.append(Accepted(kind, _quality(params) if params else 1.0, params))
        else:
            position, _ = _matched(_TYPELESS, value, position)
        position += 1  # the comma
    return accepted


def _parameter(value: str, position: int, params: dict[str, str]) -> int:
    """Reads one parameter, and returns its end: at a `;`, a `,` or the end of the value."""
    position, name = _matched(_PARAMETER_NAME, value, position)
    if not value.startswith("=", position):
        return position
    start, _ = _matched(_BLANKS, value, position + 1)
    text = ""
    if value.startswith("=", start):
        position = start
    elif found := _QUOTED_VALUE.match(value, start):
        position = found.end()
        # If anything else follows the quotation, the parameter is malformed.
        if position == len(value) or value[position] in ";,":
            text = _ESCAPED.sub(r"\1", value[start + 1 : found.start("end")])
    else:
        position, text = _matched(_PLAIN_VALUE, value, start)
        text = text.strip(" \t")
    if text and (name := name.strip(" \t")):
        params[name] = text
    return _matched(_ACCEPTED_TYPE, value, position)[0]


def _matched(pattern: re.Pattern[str], value: str, position: int) -> tuple[int, str]:
    """Returns the end and the text of a pattern's match, which may be empty."""
    found = cast(re.Match[str], pattern.match(value, position))
    return found.end(), found[0]


def _quality(params: dict[str, str]) -> float:
    text = params.get("q") or params.get("Q")
    if text is None:
        return 1.0
    text = text.strip(" \t")
    if not _NUMBER.fullmatch(text):
        return 0.0 if text in ("", "NaN") else 1.0
    return min(max(float(text), 0.0), 1.0)


def _by_quality(accepted: Accepted) -> float:
    return -accepted.q
