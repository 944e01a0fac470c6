# SPDX-License-Identifier: MIT
"""Imports libraries ahead of an app, in a process that waits for its turn.

Modules of the user are never imported ahead: they are what changes.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

# What Kit and its server need, and what apps use beside them. Other libraries may depend on what
# an app does before it imports them.
_LIBRARIES = {
    "aiosqlite",
    "annotated_types",
    "anyio",
    "ada_url",
    "click",
    "dotenv",
    "h11",
    "httptools",
    "idna",
    "jinja2",
    "kit",
    "markupsafe",
    "msgspec",
    "multipart",
    "pydantic",
    "pydantic_core",
    "sniffio",
    "typing_extensions",
    "typing_inspection",
    "uvicorn",
    "uvloop",
    "websockets",
    "wsproto",
}
_SAFE = sys.stdlib_module_names | _LIBRARIES


def libraries(watched: Sequence[Path]) -> tuple[str, ...]:
    """Returns the imported modules that may be imported ahead, in the order of their import.

    Args:
        watched: Folders and files that are watched: what is in there may change.
    """
    return tuple(
        name
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _SAFE and not _is_within(_file(module), watched)
    )


def preload(names: Iterable[str]) -> dict[str, int]:
    """Imports modules.

    Returns:
        Their files, and when each was changed last.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    files = {_file(sys.modules.get(name)) for name in names} - {None}
    return {file: _changed_at(file) for file in files if file is not None}


def are_unchanged(files: dict[str, int]) -> bool:
    """Whether files are what they were when they were imported: an update may have come."""
    return all(_changed_at(file) == at for file, at in files.items())


def _file(module: object) -> str | None:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def _changed_at(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return -1


def _is_within(file: str | None, watched: Sequence[Path]) -> bool:
    return file is not None and any(Path(file).is_relative_to(path) for path in watched)
