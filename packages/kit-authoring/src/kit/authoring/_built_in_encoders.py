# SPDX-License-Identifier: MIT
"""The encoders that every app has: for classes of the standard library, and of pydantic."""

from __future__ import annotations

import sys
from collections import abc, deque
from collections.abc import Callable
from functools import cache, lru_cache
from types import GeneratorType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ._scalar_formats import scalar_formats

if TYPE_CHECKING:
    import datetime


class BuiltIn(NamedTuple):
    """A built-in encoder.

    Attributes:
        encode: The encoder.
        type: The type that describes its results.
    """

    encode: Callable[[Any], Any]
    type: Any


@cache
def built_in_encoders() -> dict[type, BuiltIn]:
    """Returns the built-in encoders."""
    # PERF: most apps need none of these modules.
    import datetime
    import decimal
    import re

    import msgspec

    return {
        **{
            kind: BuiltIn(str, Annotated[str, msgspec.Meta(extra_json_schema={"format": name})])
            for kind, name in scalar_formats().items()
        },
        re.Pattern: BuiltIn(
            lambda value: value.pattern,
            Annotated[str, msgspec.Meta(extra_json_schema={"format": "regex"})],
        ),
        deque: BuiltIn(list, list[Any]),
        range: BuiltIn(list, list[int]),
        GeneratorType: BuiltIn(list, list[Any]),
        abc.Mapping: BuiltIn(dict, dict[str, Any]),
        abc.Set: BuiltIn(list, list[Any]),
        abc.ValuesView: BuiltIn(list, list[Any]),
        # Subclasses of what msgspec encodes itself, such as those of libraries for dates.
        str: BuiltIn(str.__str__, str),
        int: BuiltIn(int.__int__, int),
        float: BuiltIn(float.__float__, float),
        bytes: BuiltIn(bytes.__bytes__, bytes),
        decimal.Decimal: BuiltIn(decimal.Decimal, decimal.Decimal),
        datetime.datetime: BuiltIn(_plain_datetime, datetime.datetime),
        datetime.date: BuiltIn(
            lambda value: datetime.date(value.year, value.month, value.day), datetime.date
        ),
        datetime.time: BuiltIn(_plain_time, datetime.time),
        datetime.timedelta: BuiltIn(
            lambda value: datetime.timedelta(value.days, value.seconds, value.microseconds),
            datetime.timedelta,
        ),
    }


def _plain_datetime(value: datetime.datetime) -> datetime.datetime:
    import datetime

    return datetime.datetime.combine(
        datetime.date(value.year, value.month, value.day), _plain_time(value.timetz())
    )


def _plain_time(value: datetime.time) -> datetime.time:
    import datetime

    parts = value.hour, value.minute, value.second, value.microsecond
    return datetime.time(*parts, tzinfo=value.tzinfo, fold=value.fold)


def find_pydantic_encoder(kind: type) -> Callable[[Any], Any] | None:
    """Returns the encoder of a type of pydantic that is no model, such as SecretStr."""
    if "pydantic" not in sys.modules:
        return None
    if hasattr(kind, "__get_pydantic_core_schema__"):
        return _encode_as_pydantic
    is_of_core = kind.__module__.partition(".")[0] == "pydantic_core"
    return str if is_of_core and kind.__name__.endswith("Url") else None


def _encode_as_pydantic(value: Any) -> Any:
    kind: Any = type(value)
    return _pydantic_adapter(kind).dump_python(value, mode="json")


@lru_cache(maxsize=256)
def _pydantic_adapter(kind: Any) -> Any:
    return sys.modules["pydantic"].TypeAdapter(kind)
