# SPDX-License-Identifier: MIT
"""Turns a requested path into file names that can't leave a folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from kit.authoring.maybe_await import call

__all__ = ("safe_segments",)

# A backslash is a separator on Windows, and NUL ends a path in C. Other control characters don't
# occur in names of public files, and would end up in logs.
_NEVER = re.compile(r"[\x00-\x1f\x7f\\]")
# `:` follows the letter of a drive, and precedes the name of an alternate data stream.
_NEVER_ON_WINDOWS = re.compile(r'[:<>"|?*]')
# On Windows, devices exist in every folder, with any extension: `NUL.txt`, `aux .js`.
_DEVICE = re.compile(
    r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9\xb9\xb2\xb3]) *(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)
# Windows gives files a second, short name: `GIT~1` for `.git`, or `PRIVAT~1` for a folder with a
# guard on its long name.
_SHORT_NAME = re.compile(r"[^.]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?")
# SPEC: RFC 8615, section 3: files below it are public.
_WELL_KNOWN = ".well-known"


def safe_segments(
    path: str, *, dotfiles: bool = False, windows: bool = False
) -> tuple[str, ...] | None:
    """Splits a path into the names from a folder to a file in it.

    Nothing is normalized: an ambiguous path is rejected, so a guard and the file system always
    agree on its meaning.

    Args:
        path: The path, decoded, e.g. `/css/site.css`. One slash at either end is ignored.
        dotfiles: Whether names may begin with a dot. Otherwise only `.well-known` may, as the first
            name (RFC 8615).
        windows: Whether the names are for Windows. There, drive letters, alternate data streams,
            device names such as `CON` or `NUL.txt`, short names such as `PROGRA~1`, and names that
            end with a dot or a space are also rejected.

    Returns:
        The names; an empty tuple for the folder itself. None if the path is rejected: it has a `.`,
        `..` or empty segment, a backslash, a control character, or can't be encoded.
    """
    path = path.removeprefix("/").removesuffix("/")
    if not path:
        return ()
    if _NEVER.search(path) or (windows and _NEVER_ON_WINDOWS.search(path)):
        return None
    if not path.isascii():
        try:
            path.encode()
        except UnicodeEncodeError:
            return None
    segments = tuple(path.split("/"))
    for segment in segments:
        if not segment or segment == "." or segment == "..":
            return None
        if segment[0] == "." and not (dotfiles or _is_well_known(segment, segments)):
            return None
        if windows and _is_changed_on_windows(segment):
            return None
    return segments


async def rewritten(rewrite: Callable[[str], Any], path: str) -> str:
    """Applies the option `rewrite_request_path`.

    APPSEC: check the result with `safe_segments`, even if the path was safe before: without its
    prefix, `/assets../secret.txt` is `../secret.txt`.

    Args:
        rewrite: The option.
        path: The path, decoded.

    Raises:
        TypeError: If the function returned something other than a str.
    """
    found = await call(rewrite, path)
    if not isinstance(found, str):
        raise TypeError(
            f"serve_static(rewrite_request_path=...) returned {found!r:.100}: expected a path"
        )
    return found


def _is_changed_on_windows(segment: str) -> bool:
    """Returns whether Windows opens something else under this name."""
    return bool(segment[-1] in ". " or _DEVICE.fullmatch(segment) or _SHORT_NAME.fullmatch(segment))


def _is_well_known(segment: str, segments: tuple[str, ...]) -> bool:
    return segment == _WELL_KNOWN and segment is segments[0]
