# SPDX-License-Identifier: MIT
"""Generates typed clients from OpenAPI documents, one room for each language.

`_operations`, `_schemas` and `_names` read the document for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import python, typescript

LANGUAGES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "python": python.generate,
    "typescript": typescript.generate,
}
"""The functions that generate a client, by language."""

__all__ = ("LANGUAGES",)
