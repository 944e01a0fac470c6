# SPDX-License-Identifier: MIT
"""The bindings of an app without bindings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from kit.interface import MissingBindingError


class NoBindings(dict[str, Any]):
    """An empty mapping; reading a key raises an error that says where bindings come from.

    Args:
        explain: Returns why a key is missing.
    """

    __slots__ = ("_explain",)

    def __init__(self, explain: Callable[[str], str]) -> None:
        super().__init__()
        self._explain = explain

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"c.env is a mapping and has no attribute {name!r}: use c.env[{name!r}]"
        )

    def __missing__(self, key: str) -> NoReturn:
        raise MissingBindingError(key, self._explain(key))
