# SPDX-License-Identifier: MIT
"""How much of a request is taken."""

from __future__ import annotations

from typing import NamedTuple

_MIB = 1024 * 1024


class Limits(NamedTuple):
    """Bounds for bodies, app-wide with `Kit(limits=...)`. Beyond one the answer is 413.

    Attributes:
        max_fields: Form fields that are no files.
        max_files: Files in a form.
        max_field_size_bytes: Size of one field that is no file. It is kept in memory.
        spool_size_bytes: Size up to which a file is kept in memory; beyond, in a temporary file.
        max_body_size_bytes: Size of a whole body; None for no bound.
    """

    max_fields: int = 1000
    max_files: int = 1000
    max_field_size_bytes: int = _MIB
    spool_size_bytes: int = _MIB
    max_body_size_bytes: int | None = None
