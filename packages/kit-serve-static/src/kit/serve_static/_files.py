# SPDX-License-Identifier: MIT
"""Opens and reads files in a folder. These functions may block, so they run in worker threads."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from threading import Lock
from typing import Literal

from ._spellings import Spellings

# Errors for files that don't exist. Others, such as too many open files or a broken disk, are
# failures.
_ABSENT = frozenset(
    (
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.ELOOP,
        errno.EMLINK,  # FreeBSD's error for O_NOFOLLOW
        errno.ENAMETOOLONG,
        errno.EINVAL,
        errno.ENXIO,  # a socket
        errno.ENODEV,
        errno.EILSEQ,  # an invalid name for the file system, on macOS and ZFS
    )
)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# Opening a FIFO without a writer would block forever.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# PERF: O_PATH needs no read permission for the folder, and no kernel file object.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


FOLDER: Literal["folder"] = "folder"
"""Returned instead of an open file: the path is a folder."""


class OpenFile:
    """An open file.

    Args:
        fd: Its file descriptor, which this object closes.
        path: Its path.

    Attributes:
        path: Its path.
        size_bytes: Its size when it was opened.
        modified_ns: When it was modified, in nanoseconds since the epoch.
        changed_ns: When its content, name or dates last changed; on Windows, when it was created.
        is_folder: Whether it is a folder.
        is_file: Whether it is a regular file.
    """

    __slots__ = (
        "_buffer",
        "_fd",
        "_in_use",
        "_is_closing",
        "changed_ns",
        "is_file",
        "is_folder",
        "modified_ns",
        "path",
        "size_bytes",
    )

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._buffer: memoryview | None = None
        self._in_use = Lock()
        self._is_closing = False
        self.path = path
        found = os.fstat(fd)
        self.size_bytes = found.st_size
        self.modified_ns = found.st_mtime_ns
        self.changed_ns = found.st_ctime_ns
        self.is_file = stat.S_ISREG(found.st_mode)
        self.is_folder = stat.S_ISDIR(found.st_mode)

    def read(self, start: int, size_bytes: int) -> bytes:
        """Reads a part of the file; blocks.

        Args:
            start: Its offset.
            size_bytes: Its size.

        Raises:
            OSError: If the file ends before the end of the part, or can't be read.
        """
        parts = []
        with self._in_use:
            while size_bytes:
                data = _read_at(self._fd, size_bytes, start)
                if not data:
                    raise OSError(
                        f"{self.path!r} shrank while it was being sent: "
                        f"{size_bytes} bytes are missing at byte {start}"
                    )
                parts.append(data)
                start += len(data)
                size_bytes -= len(data)
        if self._is_closing:
            self.close()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_now(self, start: int, size_bytes: int) -> bytes | None:
        """Reads data that the system holds in memory. Never blocks.

        Args:
            start: The offset of the part.
            size_bytes: Its size.

        Returns:
            At least one byte; None if reading would have to wait.
        """
        no_wait = getattr(os, "RWF_NOWAIT", None)
        if no_wait is None:  # not Linux
            return None
        # PERF: one buffer for all chunks; mapping memory for each of them would cost more.
        if self._buffer is None or len(self._buffer) < size_bytes:
            self._buffer = memoryview(bytearray(size_bytes))
        part = self._buffer[:size_bytes]
        try:
            count = os.preadv(self._fd, (part,), start, no_wait)
        except OSError:  # the read would have to wait, or the file system doesn't support this
            return None
        return bytes(part[:count]) or None

    def close(self) -> None:
        """Closes the file, or leaves this to the thread that reads it. May be called twice."""
        self._is_closing = True
        # If closed during a read, the descriptor could be reused for another file.
        if self._in_use.acquire(blocking=False):
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)
            self._in_use.release()

    def __del__(self) -> None:
        # If a request is cancelled while a thread opens the file, nothing else closes it.
        self.close()


class Folder:
    """A folder with files that may be opened.

    Args:
        root: Its absolute path. It may be a symbolic link, which is followed each time.
        follow_symlinks: Whether symbolic links in the folder are followed, wherever they lead.
    """

    __slots__ = ("_open", "_spellings", "root")

    def __init__(self, root: str, *, follow_symlinks: bool = False) -> None:
        self.root = root
        self._spellings = Spellings(root)
        if follow_symlinks:
            self._open = _open_following
        elif _NO_FOLLOW and os.open in os.supports_dir_fd:
            self._open = _open_beneath
        else:
            self._open = _open_checked

    def open(self, segments: Sequence[str]) -> OpenFile | Literal["folder"] | None:
        """Opens a regular file. Blocks.

        Args:
            segments: The names on its path, as returned by `safe_segments`.

        Returns:
            The open file; `FOLDER` for a folder, which isn't opened. None if neither exists under
            exactly these names, or if the file isn't readable or isn't a regular file.

        Raises:
            OSError: If the system fails, e.g. because too many files are open.
        """
        path = os.path.join(self.root, *segments)
        try:
            fd = self._open(self.root, path, segments)
        except PermissionError:
            # Windows can't open folders; elsewhere, a folder may be searchable but not readable.
            return FOLDER if os.path.isdir(path) else None
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise
        except UnicodeEncodeError:  # a locale other than UTF-8 can't encode such names
            return None
        if fd is None:
            return None
        file = OpenFile(fd, path)
        if file.is_file and self._spellings.are_real(segments):
            return file
        file.close()
        return FOLDER if file.is_folder else None


def _open_following(root: str, path: str, segments: Sequence[str]) -> int | None:
    return os.open(path, _READ)


def _open_beneath(root: str, path: str, segments: Sequence[str]) -> int | None:
    """Opens name by name, each relative to its parent, so that no link can slip in between."""
    if len(segments) < 2:
        # PERF: the root may be a link, and O_NOFOLLOW covers only the last name.
        return os.open(path, _READ | _NO_FOLLOW if segments else _READ)
    folder = os.open(f"{root}/{segments[0]}", _FOLDER | _NO_FOLLOW)
    try:
        for name in segments[1:-1]:
            below = os.open(name, _FOLDER | _NO_FOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(segments[-1], _READ | _NO_FOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _open_checked(root: str, path: str, segments: Sequence[str]) -> int | None:
    """Opens a file by its path, then checks that it is the file reached without links.

    For systems without openat, such as Windows.
    """
    fd = os.open(path, _READ)
    try:
        if _is_reached_without_links(root, segments, os.fstat(fd)):
            fd, checked = -1, fd
            return checked
        return None
    finally:
        if fd >= 0:
            os.close(fd)


def _is_reached_without_links(root: str, segments: Sequence[str], opened: os.stat_result) -> bool:
    path = root
    found = os.stat(root)
    for name in segments:
        path = os.path.join(path, name)
        found = os.lstat(path)
        # On Windows, a junction isn't a symbolic link, but also a reparse point with a tag.
        tag: int = getattr(found, "st_reparse_tag", 0)
        if tag or stat.S_ISLNK(found.st_mode):
            return False
    return os.path.samestat(found, opened)


def _read_at(fd: int, size_bytes: int, start: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, size_bytes, start)
    os.lseek(fd, start, os.SEEK_SET)
    return os.read(fd, size_bytes)
