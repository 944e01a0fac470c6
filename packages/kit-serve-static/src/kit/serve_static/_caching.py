# SPDX-License-Identifier: MIT
"""Cache-Control: one value for all files, or a value by file name (RFC 9111, section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from kit.authoring.options import OptionChecks

__all__ = ("IMMUTABLE", "CacheControl", "hashed_names")

CacheControl: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns Cache-Control for a path below the root, such as `assets/app.js`: plain or async."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""For files that never change: a year is the maximum that caches respect (RFC 8246)."""

# The form of a digest: 8 or more hexadecimal digits, as in webpack and Django, or 8 characters of
# base64url or base32, as in Vite, Rollup and esbuild.
_PARTS = re.compile(r"[.\-_~]")
_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-f])[0-9a-f]{8,64}")
_BASE64 = re.compile(r"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{8}")
_VITE = re.compile(r"-([A-Za-z0-9_-]{8})(?=\.[^/]*$)")
_BASE32 = re.compile(r"(?=.*[0-9])(?=.*[A-Z])[A-Z2-7]{8}")
# A word followed by a number, such as `Report17`, isn't a digest.
_WORD = re.compile(r"[A-Z]?[a-z]+[0-9]+|[A-Z]+[0-9]+")


def hashed_names(
    otherwise: str | None = "no-cache", *, pattern: str | re.Pattern[str] | None = None
) -> Callable[[str], str | None]:
    """Lets caches keep files forever if their names contain a digest of the content.

    Such a file never changes, since new content gets a new name. All other files are revalidated on
    each use, which an ETag makes cheap.

        app.use("/*", serve_static("dist", cache_control=hashed_names()))

    Args:
        otherwise: Cache-Control of all other files, or None.
        pattern: What to search for in the path of a file below the root, e.g. `^assets/`. The
            default recognizes the digests that bundlers write, such as in `app.3f2a9c1b.js` and
            `index-BzqK3d9f.css`: 8 or more characters, with letters and digits. It never matches a
            date, version or word, and so misses digests without a digit: about one in five of the
            short digests from Vite, Rollup and esbuild.

    Returns:
        A function for the option `cache_control`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `otherwise` can't be the value of a header.
    """
    check = OptionChecks("hashed_names")
    if otherwise is not None:
        check.header_value("otherwise", otherwise)
    if pattern is not None and not isinstance(pattern, (str, re.Pattern)):
        check.wrong_type("pattern", pattern, "a pattern of str")
    search = _has_digest if pattern is None else re.compile(pattern).search

    def cache_control(path: str) -> str | None:
        return IMMUTABLE if search(path) else otherwise

    return cache_control


def _has_digest(path: str) -> bool:
    name = path.rpartition("/")[2]
    parts = _PARTS.split(name)[1:-1]
    if any(map(_is_digest, parts)):
        return True
    found = _VITE.search(name)  # its digests may contain `-` and `_`
    return found is not None and _is_digest(found[1].replace("-", "0").replace("_", "0"))


def _is_digest(part: str) -> bool:
    if _WORD.fullmatch(part):
        return False
    return any(each.fullmatch(part) for each in (_HEX, _BASE64, _BASE32))
