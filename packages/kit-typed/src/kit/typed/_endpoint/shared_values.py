# SPDX-License-Identifier: MIT
"""Values of dependencies that the functions of one request share: guards, and the endpoint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kit.interface import Context
from kit.router.patterns import parse_parameter, split_pattern

from .._parameters.sources import Field, Source
from .._signature.signature import identity
from .resolution import Resolution

_VARIABLE = "kit.typed.values"


def find_provided(c: Context[Any, Any]) -> dict[Any, Any]:
    """Returns the values that guards have provided for a request, by the keys of `find_shared`."""
    provided: dict[Any, Any] | None = c.get(_VARIABLE)
    if provided is None:
        provided = {}
        c.set(_VARIABLE, provided)
    return provided


def find_shared(resolution: Resolution, wanted: Iterable[Any] | None = None) -> dict[str, Any]:
    """Returns the keys of the values to share, by local name.

    Two calls have the same key if they run the same function with arguments from the same sources.
    A path parameter is the same one only if both patterns have it at the same place.

    Args:
        resolution: The sources of an endpoint or guard.
        wanted: The cache keys of the dependencies to share; None for all.
    """
    origins = _find_origins(resolution)
    keys: dict[str, Any] = {}
    for call in resolution.calls:
        key: Any = None
        if call.cache_key is None:
            origins[call.local] = object()  # equal to no other
            continue
        by_keyword = call.arguments.by_keyword.items()
        key = origins[call.local] = (
            call.cache_key,
            identity(call.signature.function),
            *(origins[local] for local in call.arguments.positional),
            *((name, origins[local]) for name, local in by_keyword),
        )
        # The connection of a WebSocket is used after the guards have closed such values.
        is_closed = call.ends_early and resolution.connection
        if not is_closed and (wanted is None or call.cache_key in wanted):
            keys[call.local] = key
    return keys


def _find_origins(resolution: Resolution) -> dict[str, Any]:
    """Returns where the values come from, except those of dependencies, by local name."""
    pattern = resolution.pattern
    origins: dict[str, Any] = {"c": ("c", _find_places(pattern))}
    for source in resolution.sources:
        for field in source.fields:
            origins[field.local] = _find_origin(source, field, pattern)
    for value in resolution.context_values:
        origins[value.local] = ("env" if value.is_env else "var", value.name)
    if resolution.body is not None:
        for field in resolution.body.fields:
            origins[field.local] = ("json", field.key if resolution.body.embed else None)
    return origins


def _find_origin(source: Source, field: Field, pattern: str) -> Any:
    if source.is_model:
        places = _find_places(pattern) if source.target == "param" else None
        return (source.target, source.others, places)
    if source.target != "param":
        return (source.target, field.key)
    return ("param", dict(_find_places(pattern)).get(field.key, pattern))


def _find_places(pattern: str) -> tuple[tuple[str, str], ...]:
    """Returns the parameters of a pattern, each with the part of the pattern that determines it."""
    found = []
    segments = split_pattern(pattern)
    for index, segment in enumerate(segments):
        is_optional = segment.startswith(":") and segment.endswith("?")
        parameter = parse_parameter(segment[:-1] if is_optional else segment)
        if parameter is not None:
            before = segments[: index + 1]
            # Expressions and optional parameters may take segments that the rest leaves to them.
            is_fixed = not any("{" in each or each.endswith("?") for each in before)
            found.append((parameter.name, "/".join(before) if is_fixed else pattern))
    return tuple(found)
