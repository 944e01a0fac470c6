# SPDX-License-Identifier: MIT
"""Limits for requests, and the errors for requests that exceed them."""

from __future__ import annotations

from collections.abc import Iterable

from kit.interface import HTTPException

from ._struct import Struct

_MIB = 1024 * 1024


class Limits(Struct, frozen=True):
    """Limits for requests, app-wide with `Kit(limits=...)`.

    Exceeding a body limit results in a 413, exceeding a header limit in a 431 (RFC 6585).

    Attributes:
        max_fields: Number of form fields that aren't files.
        max_files: Number of files in a form.
        max_field_size_bytes: Size of one field that isn't a file, and of its name in an urlencoded
            form; in a multipart form, a name has at most 4 KiB. Both are kept in memory.
        spool_size_bytes: Total size up to which the files of a form are kept in memory; further
            files are written to a temporary file.
        max_body_size_bytes: Size of a whole body; None for no limit. A request whose
            Content-Length exceeds it is refused before its body is read.
        max_memory_size_bytes: Size of a body that `text`, `json`, `bytes` or `blob` reads into
            memory as a whole, and total memory for the texts of a form, up to four bytes for each
            character; None for no limit. Files read for parameters of type `bytes` count, too. The
            limit doesn't apply to streams and other files.
        max_header_size_bytes: Size of a request header that `c.req.header` reads: all lines of its
            name together. Servers have their own limits, which may be much higher.
    """

    max_fields: int = 1000
    max_files: int = 1000
    max_field_size_bytes: int = _MIB
    spool_size_bytes: int = _MIB
    max_body_size_bytes: int | None = None
    max_memory_size_bytes: int | None = 64 * _MIB
    max_header_size_bytes: int = 64 * 1024

    def __post_init__(self) -> None:
        for name in type(self).__struct_fields__:
            limit = getattr(self, name)
            if limit is None and name in _MAY_BE_NONE:
                continue
            if not isinstance(limit, int) or isinstance(limit, bool):
                none = " or None" if name in _MAY_BE_NONE else ""
                raise TypeError(f"Limits({name}=...) takes an int{none}, not {limit!r:.100}")
            if limit < 0:
                raise ValueError(f"Limits({name}={limit}) can't be used: it must be 0 or more")

    @property
    def most_in_memory(self) -> int | None:
        """Maximum size in bytes of a body that is read into memory; None for no limit."""
        whole, in_memory = self.max_body_size_bytes, self.max_memory_size_bytes
        if whole is None or (in_memory is not None and in_memory < whole):
            return in_memory
        return whole

    @property
    def changes(self) -> dict[str, int | None]:
        """The limits that differ from the default."""
        default = Limits()
        own = {name: getattr(self, name) for name in type(self).__struct_fields__}
        return {name: limit for name, limit in own.items() if limit != getattr(default, name)}

    @property
    def of_bodies(self) -> dict[str, int]:
        """The limits of bodies that differ from the default, except those set to None."""
        changes = self.changes
        found = {name: changes.get(name) for name in LIMITS}
        return {name: limit for name, limit in found.items() if limit is not None}

    def but(self, **changes: int | None) -> Limits:
        """Returns these limits with some of them changed."""
        kind = type(self)
        own = {name: getattr(self, name) for name in kind.__struct_fields__}
        return kind(**own | changes)

    def within(self, others: Iterable[Limits]) -> Limits:
        """Returns the combination of these limits and others.

        Args:
            others: Other limits. Of the values that differ from the default, the smallest applies.
        """
        changes = self.changes
        for other in others:
            for name, limit in other.changes.items():
                bounds = [each for each in (limit, changes.get(name)) if each is not None]
                changes[name] = min(bounds, default=None)
        return self.but(**changes)


LIMITS = tuple(name for name in Limits.__struct_fields__ if name != "max_header_size_bytes")
"""The names of the limits of bodies."""

_MAY_BE_NONE = ("max_body_size_bytes", "max_memory_size_bytes")


def header_too_large(name: str, most: int) -> HTTPException:
    """Returns the error for a header that exceeds its size limit (RFC 6585, section 5)."""
    return _error(431, f"The header {name} is larger than {most} bytes")


def body_too_large(most: int) -> HTTPException:
    """Returns the error for a body that exceeds its size limit."""
    return _error(413, f"The body is larger than {most} bytes")


def form_too_large(what: str, most: int) -> HTTPException:
    """Returns the error for a form with too many fields or files."""
    return _error(413, f"The form has more than {most} {what}")


def form_too_large_for_memory(most: int) -> HTTPException:
    """Returns the error for a form whose fields take too much memory."""
    return _error(413, f"The form takes more than {most} bytes of memory")


def field_too_large(name: str, most: int) -> HTTPException:
    """Returns the error for a form field that is too long."""
    return _error(413, f"The form field {name!r:.100} is longer than {most} bytes")


def field_name_too_large(most: int) -> HTTPException:
    """Returns the error for a form field whose name is too long."""
    return _error(413, f"The name of a form field is longer than {most} bytes")


def _error(status: int, message: str) -> HTTPException:
    from kit.interface import HTTPException  # PERF: few requests are refused

    return HTTPException(status, message)
