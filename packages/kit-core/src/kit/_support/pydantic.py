# SPDX-License-Identifier: MIT
"""Types that are pydantic's, which is never imported here: where it isn't, there are none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, NamedTuple, get_args, get_origin, get_type_hints

# What dataclasses, Structs, TypedDicts, named tuples and attrs classes have.
_MARKS_OF_FIELDS = (
    "__dataclass_fields__",
    "__struct_fields__",
    "__total__",
    "_fields",
    "__attrs_attrs__",
)

_MOST_MISFITS = 10
"""How many the text of an error tells of; a client decides how many there are."""


class Model(NamedTuple):
    """What makes a value of a type that is pydantic's: of Python values, and of JSON."""

    validate: Callable[[Any], Any]
    validate_json: Callable[[bytes], Any]


def model_of(type: Any) -> Model | None:
    """Gives what validates a type that is pydantic's; None for a type that is msgspec's.

    Pydantic's are its models, its dataclasses, and types with one of these within, such as
    `list[Book]`: msgspec would take a model for a class it can't make, and would make a dataclass
    without the rules it has.
    """
    if hasattr(type, "model_validate_json"):
        return Model(type.model_validate, type.model_validate_json)
    if "pydantic" not in sys.modules:
        return None
    try:
        return _adapted(type)
    except TypeError:  # what stands in Annotated need not be hashable
        return _adapted.__wrapped__(type)


@lru_cache(maxsize=256)
def _adapted(type: Any) -> Model | None:
    if not _holds_model(type, set()):
        return None
    adapter = sys.modules["pydantic"].TypeAdapter(type)
    return Model(adapter.validate_python, adapter.validate_json)


def _holds_model(kind: Any, seen: set[int]) -> bool:
    if hasattr(kind, "__pydantic_validator__"):
        return True
    if id(kind) in seen:
        return False
    seen.add(id(kind))
    # What `type X = ...` makes has a __value__.
    parts = [getattr(kind, "__value__", None), *get_args(kind)]
    if isinstance(kind, type) and any(hasattr(kind, mark) for mark in _MARKS_OF_FIELDS):
        # A name that can't be resolved is for msgspec to complain of.
        with suppress(Exception):
            parts += get_type_hints(kind, include_extras=True).values()
    return any(_holds_model(part, seen) for part in parts if get_origin(part) is not ClassVar)


def misfits(error: Exception) -> Iterator[tuple[str, str]]:
    """Tells what an error of pydantic's does: each place, such as `.a[0].b`, and what is wrong."""
    errors = error.errors() if hasattr(error, "errors") else ()
    for each in errors:
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
        yield "".join(steps), each["msg"]
    if not errors:
        yield "", str(error)


def summary(error: Exception) -> str:
    """Tells what an error of pydantic's does in a line, as msgspec says it."""
    told = islice(misfits(error), _MOST_MISFITS)
    return "; ".join(text + (place and f" - at `${place}`") for place, text in told)
