# SPDX-License-Identifier: MIT
"""The type parameters of `Kit` and `Context`."""

from __future__ import annotations

from typing import Any

from kit.interface.generics import TypeVar

B = TypeVar("B", default=Any)
"""Bindings: the type of `c.env`, a TypedDict."""

V = TypeVar("V", default=Any)
"""Variables: the type of `c.var`, a TypedDict."""
