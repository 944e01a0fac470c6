# SPDX-License-Identifier: MIT
"""Checks the options, and prepares them for the middleware."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kit.authoring.options import OptionChecks
from kit.http.media_types import is_compressible

from ._codings import CODINGS, DEFAULT, Coding, is_installed

__all__ = ("check_codings", "check_filter")


def check_codings(
    check: OptionChecks, encodings: Any, encoding: Any, level: Any
) -> dict[str, Coding]:
    """Checks the options for codings and their levels.

    Args:
        check: The checks of the factory.
        encodings: The option; None for the default.
        encoding: The option; None if it is absent.
        level: The option; None for the defaults.

    Returns:
        The codings, in order of preference.

    Raises:
        TypeError: If an option has the wrong type, or both `encodings` and `encoding` are given.
        ValueError: If a coding or a level is invalid.
        ImportError: If the library of a requested coding isn't installed.
    """
    if encoding is not None:
        if encodings is not None:
            raise TypeError(
                f"{check.factory}() takes either encodings=... or encoding=..., not both"
            )
        names: tuple[str, ...] = (check.choice("encoding", encoding, tuple(CODINGS)),)
    elif encodings is None:
        names = tuple(filter(is_installed, DEFAULT))
    else:
        names = tuple(dict.fromkeys(check.texts("encodings", encodings)))
        for name in names:
            check.choice("encodings", name, tuple(CODINGS))
        if not names:
            check.unusable("encodings", encodings, "at least one coding, e.g. 'gzip'")
    levels = _levels(check, names, level)
    return {name: _make(check, name, levels.get(name)) for name in names}


def check_filter(check: OptionChecks, value: Any) -> Callable[[str], bool | Awaitable[bool]]:
    """Checks the option `content_type_filter`.

    Args:
        check: The checks of the factory.
        value: Its value; None for the default.

    Returns:
        A function of the Content-Type.

    Raises:
        TypeError: If it has the wrong type.
    """
    if value is None:
        return is_compressible
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        search = value.search
        return lambda content_type: search(content_type) is not None
    if not callable(value):
        check.wrong_type(
            "content_type_filter", value, "a compiled pattern of str or a function (content_type)"
        )
    return check.function(  # type: ignore[no-any-return]
        "content_type_filter", value, "(content_type)"
    )


def _levels(check: OptionChecks, names: tuple[str, ...], level: Any) -> Mapping[str, int]:
    if level is None:
        return {}
    if isinstance(level, Mapping):
        levels = check.keys("level", level, names)
    else:
        levels = dict.fromkeys(names, level)
    for name, each in levels.items():
        least, most = CODINGS[name].levels
        check.number("level", each, least=least, most=most, unit=f"for {name}")
    return levels


def _make(check: OptionChecks, name: str, level: int | None) -> Coding:
    kind = CODINGS[name]
    try:
        return kind.make(kind.level if level is None else level)
    except ImportError as error:
        raise ImportError(
            f"{check.factory}() needs {kind.module} for {name!r}: "
            f'pip install "kit-compress[{kind.extra}]"'
        ) from error
