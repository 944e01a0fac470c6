# SPDX-License-Identifier: MIT
"""The syntax of HTTP fields: tokens, values, quoted strings, lists (RFC 9110, section 5)."""

from __future__ import annotations

import re

from ._web import Headers

__all__ = ("TOKEN", "add_vary", "is_field_value", "is_token", "list_members", "quoted_string")

TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105 - a grammar, not a secret
"""Pattern of a token, such as the name of a field or a method (section 5.6.2)."""

# SPEC: section 5.5: visible characters, blanks between them; CR, LF and NUL would end the line.
_FIELD_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?")
# SPEC: section 5.6.4, quoted-string.
_QUOTABLE = re.compile(r"[\t -~\x80-\xff]*")
_TOKEN = re.compile(TOKEN)
# A comma within a quoted-string separates nothing. An unclosed quotation ends with the value.
_MEMBER = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?\Z))+')


def is_token(text: str) -> bool:
    """Returns whether a text is a token: a method, the name of a field or of a parameter.

    Args:
        text: The text to look at.
    """
    return _TOKEN.fullmatch(text) is not None


def is_field_value(text: str) -> bool:
    """Returns whether a text can be sent as the value of a field.

    Args:
        text: The text to look at. Characters beyond latin-1, control characters other than tabs,
            and blanks at either end can't be sent.
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
        value: The value; that of several lines is joined by commas. None if there is none.

    Returns:
        The members in order, without blanks around them. Empty ones are left out; commas in
        quoted strings separate nothing.
    """
    if not value:
        return []
    members = _MEMBER.findall(value) if '"' in value else value.split(",")
    return [stripped for each in members if (stripped := each.strip(" \t"))]


def add_vary(headers: Headers, *names: str) -> None:
    """Adds names to Vary, which says on what the response depends (section 12.5.5).

    Args:
        headers: The headers of the response.
        *names: Names of request headers. Those that Vary has already are not repeated, and a `*`
            stands for all of them.
    """
    value = headers.get("vary")
    present = {member.lower() for member in list_members(value)}
    if "*" in present:
        return
    new = [name for name in dict.fromkeys(names) if name.lower() not in present]
    if new:
        headers.set("Vary", ", ".join([value, *new] if value else new))
