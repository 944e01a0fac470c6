# SPDX-License-Identifier: MIT
"""Reads credentials from requests, and checks the configured users."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from unicodedata import combining, normalize

from kit.http.credentials import parse_basic

# SPEC: RFC 7617 section 2: neither the name nor the password contains a CTL of RFC 5234.
_CONTROL = re.compile(r"[\x00-\x1f\x7f]").search
# SPEC: UAX #15, D4, Stream-Safe Text Format.
_MOST_MARKS = 30
# Starters that decompose into marks. There are no others.
_MADE_OF_MARKS = frozenset("\u0f73\u0f75\u0f81")


def read_credentials(header: str | None) -> str | None:
    """Returns the name, a colon and the password from an Authorization header.

    Args:
        header: The value of the header, or None.

    Returns:
        The text in NFC, which contains a colon; None for a header that is absent, malformed, or
        of another scheme.
    """
    text = parse_basic(header)
    if text is None or text.isascii():
        return text
    if _has_many_marks(text):
        return None
    # SPEC: RFC 7617 section 2.1: charset="UTF-8" asks clients for NFC. Most ignore it.
    return normalize("NFC", text)


def split_first(
    users: tuple[Any, ...], username: Any, password: Any
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Takes a name and a password from the front of the positional arguments.

    Args:
        users: The positional arguments of the factory.
        username: Its argument of this name.
        password: Its argument of this name.

    Returns:
        The name, the password, and the arguments after them.

    Raises:
        TypeError: If one of them is given twice.
    """
    given = {"username": username, "password": password}
    for name, value in given.items():
        if not (users and isinstance(users[0], str)):
            break
        if value is not None:
            raise TypeError(f"basic_auth() takes {name} once, not also as {name}=...")
        given[name], *rest = users
        users = tuple(rest)
    return given["username"], given["password"], users


def check_users(users: tuple[Any, ...], username: Any, password: Any) -> list[tuple[str, str]]:
    """Checks the configured users. Error messages never contain a password: they end up in logs.

    Args:
        users: The positional arguments of the factory.
        username: Its argument of this name.
        password: Its argument of this name.

    Returns:
        Names and passwords in NFC; those of the keywords come first.

    Raises:
        TypeError: If a user is not a mapping, or a name or password is not a str.
        ValueError: If a user lacks one of them, or could never log in.
    """
    pairs: list[tuple[str, str]] = []
    if username is not None or password is not None:
        for name, value, other in (
            ("username", username, "password"),
            ("password", password, "username"),
        ):
            if value is None:
                raise ValueError(f"basic_auth({other}=...) needs {name}=... as well")
        pairs.append(_checked("basic_auth(): ", username, password))
    for number, user in enumerate(users, 1):
        where = f"basic_auth(): user {number} of {len(users)} "
        if not isinstance(user, Mapping):
            raise TypeError(
                f"{where}is {type(user).__name__}, expected a mapping "
                "{'username': ..., 'password': ...}"
            )
        if user.keys() != {"username", "password"}:
            keys = ", ".join(sorted(map(repr, user))) or "no keys"
            raise ValueError(f"{where}has {keys}: expected 'username' and 'password'")
        pairs.append(_checked(f"{where}has a ", user["username"], user["password"]))
    return pairs


def _checked(where: str, username: Any, password: Any) -> tuple[str, str]:
    texts = []
    for name, value in (("username", username), ("password", password)):
        if not isinstance(value, str):
            raise TypeError(f"{where}{name} of type {type(value).__name__}, expected a str")
        if _CONTROL(value):
            raise ValueError(
                f"{where}{name} with a control character, which no client can send "
                "(RFC 7617 section 2)"
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where}{name} that can't be encoded as UTF-8") from None
        if _has_many_marks(value):
            raise ValueError(
                f"{where}{name} with more than {_MOST_MARKS} combining marks in a row, "
                "which is never accepted"
            )
        texts.append(normalize("NFC", value))
    if ":" in texts[0]:
        # APPSEC: not shown: it may be a name and a password together.
        raise ValueError(
            f"{where}username with a colon, which would end the name (RFC 7617 section 2)"
        )
    if not texts[1]:
        raise ValueError(
            f"{where}password that is empty, so the name alone would let anybody in: is a variable "
            "unset? For clients that send a key as the name, write verify_user=..."
        )
    return texts[0], texts[1]


def _has_many_marks(text: str) -> bool:
    """Returns whether a text has more combining marks in a row than any language uses.

    APPSEC: normalizing takes quadratic time in the length of such a sequence, and the text comes
    from clients that are not yet authenticated.
    """
    marks = 0
    for character in text:
        if combining(character) or character in _MADE_OF_MARKS:
            marks += 1
            if marks > _MOST_MARKS:
                return True
        else:
            marks = 0
    return False
