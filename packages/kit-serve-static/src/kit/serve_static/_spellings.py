# SPDX-License-Identifier: MIT
"""Distinguishes the name of a file from other spellings that the file system accepts for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from unicodedata import normalize

# HFS+ and case-folding ext4 ignore this character, the zero-width non-joiner, in names.
_IGNORED = "\u200c"
_MOST_FOLDERS = 4096


class Spellings:
    """Checks that names are spelled as they are on disk.

    APPSEC: where the file system ignores case, as on Windows and macOS, or differences between
    Unicode forms, `/Private/a.txt` is the file `private/a.txt`, but not a path that a guard on
    `/private/*` runs for.

    PERF: each folder is tested only once if it distinguishes spellings.

    Args:
        root: The folder that the names are below.
    """

    __slots__ = ("_distinguishing", "_root")

    def __init__(self, root: str) -> None:
        self._root = root
        # Folders, by their names below the root and by whether the tested name was ASCII.
        self._distinguishing: set[tuple[tuple[str, ...], bool]] = set()

    def are_real(self, segments: Sequence[str]) -> bool:
        """Returns whether an existing path is spelled as on disk. May block.

        Args:
            segments: The names on the path.
        """
        names = tuple(segments)
        key = names[:-1], all(map(str.isascii, names))
        if key in self._distinguishing:
            return True
        is_told_apart = False
        folder = self._root
        for name in names:
            try:
                is_told_apart, is_real = _ask(folder, name)
            except OSError:  # it has just been removed, or must not be listed
                return False
            if not is_real:
                return False
            folder = os.path.join(folder, name)
        if is_told_apart:
            if len(self._distinguishing) >= _MOST_FOLDERS:
                self._distinguishing.clear()
            self._distinguishing.add(key)
        return True


def _ask(folder: str, name: str) -> tuple[bool, bool]:
    """Returns whether a folder tells a name from its other spellings, and whether it has the name.

    Raises:
        OSError: If the name doesn't exist, or the folder can't be listed.
    """
    others = _other_spellings(name)
    if not others:
        return False, True
    found = os.lstat(os.path.join(folder, name))
    for other in others:
        try:
            same = os.path.samestat(found, os.lstat(os.path.join(folder, other)))
        except (OSError, UnicodeEncodeError):  # no such file, or no valid name here
            continue
        if same:  # or a hard link; the list of names decides
            return False, name in os.listdir(folder)
    return True, True


def _other_spellings(name: str) -> set[str]:
    others = {name.swapcase()}
    if not name.isascii():
        others |= {normalize("NFC", name), normalize("NFD", name), name + _IGNORED}
    return others - {name}
