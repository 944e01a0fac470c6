# SPDX-License-Identifier: MIT
"""Type parameters with defaults (PEP 696), without `typing_extensions` at run time.

Importing `typing_extensions` takes as long as a third of an app. Before Python 3.13, type checkers
get its `TypeVar`; at run time, the default is left out, and a class fills in missing arguments.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = ("TypeVar", "fill_arguments")

if TYPE_CHECKING:
    from typing_extensions import TypeVar
elif sys.version_info >= (3, 13):
    from typing import TypeVar
else:
    import typing

    def TypeVar(name: str, *, default: Any = None, **others: Any) -> Any:  # noqa: N802 - its name
        """Returns a type variable without its default."""
        return typing.TypeVar(name, **others)


def fill_arguments(cls: Any, arguments: Any) -> tuple[Any, ...]:
    """Fills in the arguments of a generic class that were left out, as Python 3.13 does.

    For `__class_getitem__` before Python 3.13, if Any is the default of every type parameter.

    Args:
        cls: The class.
        arguments: The arguments as they were given, one or a tuple.

    Returns:
        The arguments, with Any for those that are missing.
    """
    given = arguments if isinstance(arguments, tuple) else (arguments,)
    return (*given, *[Any] * (len(cls.__parameters__) - len(given)))
