# SPDX-License-Identifier: MIT
"""The type parameters of `Kit` and `Context`."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 13):
    from typing import TypeVar
else:
    from typing_extensions import TypeVar

B = TypeVar("B", default=Any)
"""Bindings: the type of `c.env`, a TypedDict."""

V = TypeVar("V", default=Any)
"""Variables: the type of `c.var`, a TypedDict."""
