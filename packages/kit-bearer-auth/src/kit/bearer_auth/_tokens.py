# SPDX-License-Identifier: MIT
"""Checks the configured tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping


def check_tokens(token: str | Iterable[str], syntax: re.Pattern[str]) -> list[str]:
    """Validates the configured tokens. Error messages never contain a token: they end up in logs.

    Args:
        token: One token, or several.
        syntax: The pattern that tokens in requests have to match.

    Returns:
        The tokens.

    Raises:
        TypeError: If `token` is neither a str nor an iterable of them.
        ValueError: If a token doesn't match `syntax`.
    """
    if isinstance(token, str):
        tokens = [token]
    elif isinstance(token, Iterable) and not isinstance(token, (bytes, bytearray, Mapping)):
        tokens = list(token)
    else:
        raise TypeError(
            f"bearer_auth(token=...) takes a str or a list of them, not {type(token).__name__}"
        )
    for number, each in enumerate(tokens, 1):
        if not isinstance(each, str):
            raise TypeError(
                f"bearer_auth(token=...): token {number} of {len(tokens)} is "
                f"{type(each).__name__}, expected a str"
            )
        if not syntax.fullmatch(each):
            raise ValueError(
                f"bearer_auth(token=...): token {number} of {len(tokens)} is not a bearer token: "
                "expected one or more of A-Z a-z 0-9 - . _ ~ + / and then any number of = "
                "(RFC 6750 section 2.1)"
            )
    return tokens
