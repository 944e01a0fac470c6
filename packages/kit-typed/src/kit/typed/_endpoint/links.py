# SPDX-License-Identifier: MIT
"""The values of a link to an endpoint, which are checked as those of a request are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from kit.interface import ValidationTarget

from .._parameters.sources import Source
from .resolution import Resolution, read_parameters

Texts: TypeAlias = "Mapping[str, str | list[str]]"
Query: TypeAlias = list[tuple[str, str]]


def read_link(
    resolution: Resolution, texts: Texts, query: Query
) -> tuple[dict[str, str | list[str]], Query]:
    """Sorts the values of a link into those of the path and those of the query.

    See `kit.interface.hooks`.

    Args:
        resolution: The sources of the endpoint.
        texts: The values by name: those of its parameters, or of the pattern.
        query: Further names and values of the query.

    Returns:
        The values of the path by the names of the pattern, and the whole query. Names that the
        endpoint doesn't know are among those of the path.

    Raises:
        TypeError: If a name of the query is given twice.
        ValueError: If the endpoint would refuse a value.
    """
    parameters = dict(read_parameters(resolution.pattern))
    path: dict[str, str | list[str]] = {}
    pairs: Query = []
    for name, text in texts.items():
        in_path = _find_key(resolution, "param", name)
        in_query = _find_key(resolution, "query", name)
        if in_path is None and in_query is not None and name not in parameters:
            if any(other == in_query for other, _ in query):
                raise TypeError(f"{in_query!r} is given twice: by its name, and in query=")
            pairs += [(in_query, each) for each in (text if isinstance(text, list) else [text])]
        else:
            path[name if in_path is None else in_path] = text
    pairs += query
    is_whole = all(name in path for name, optional in parameters.items() if not optional)
    if is_whole and path.keys() <= parameters.keys():
        _check(resolution, "param", path)
        values: dict[str, str | list[str]] = {}
        for name, each in pairs:
            values.setdefault(name, []).append(each)  # type: ignore[union-attr]  # all are lists
        _check(resolution, "query", values)
    return path, pairs


def _find_key(resolution: Resolution, target: ValidationTarget, name: str) -> str | None:
    """Returns the name in the request of a parameter; None if it isn't read from there."""
    for source in resolution.sources:
        if source.target == target and not source.is_model:
            for field in source.fields:
                if name == field.name:
                    return field.key
    return None


def _check(resolution: Resolution, target: ValidationTarget, texts: Texts) -> None:
    for source in resolution.sources:
        if source.target != target or source.objects is not None:
            continue
        names = texts.keys() - source.others if source.is_model else texts.keys() & source.names
        values = {name: _as_read(source, name, texts[name]) for name in names}
        try:
            source.load(values)
        except ValueError as error:
            raise ValueError(f"{_describe(source, names)}: {error}") from error


def _as_read(source: Source, name: str, text: str | list[str]) -> Any:
    if source.schema.takes_lists or name in source.lists:
        return text if isinstance(text, list) else [text]
    return text[0] if isinstance(text, list) else text


def _describe(source: Source, names: Collection[str]) -> str:
    part = "the path" if source.target == "param" else "the query"
    return f"the endpoint would refuse {part} ({', '.join(sorted(names)) or 'without values'})"
