# SPDX-License-Identifier: MIT
"""Reads the values that an endpoint needs from a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kit.authoring.vary import depend_on
from kit.cookie import get_cookie
from kit.http.media_types import JSON, media_type
from kit.interface import Context, HTTPException, ValidationTarget
from kit.validator.media_types import FORM_TYPES, JSON_TYPES, refuse_other_body
from kit.validator.schemas import (
    check_memory,
    collect_objects,
    drop_unfilled,
    read_contents,
    split_values,
)

from .._signature.signature import REQUIRED
from .sources import JsonBody, Source

# RFC 8259 section 8.1: a byte order mark may be ignored.
MARK = b"\xef\xbb\xbf"


class MissingError(ValueError):
    """The request has no JSON body."""


class MalformedError(ValueError):
    """The body is a form that can't be parsed."""


def read_text(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    """Returns the values of a part of the request, except forms, by name."""
    values = _READERS[source.target](c, source)
    return _without_others(values, source) if source.others else values


def compile_reading(source: Source) -> Callable[[Context[Any, Any], dict[str, Any]], None]:
    """Returns a function that adds the values of a part of the request, except forms.

    It takes the context and the endpoint's values by local names, and raises a ValueError if the
    values in the request don't fit.
    """
    load = source.load_single
    if load is None:
        return lambda c, values: source.load_into(values, read_text(c, source))
    field = source.fields[0]
    key, local, read = field.key, field.local, _READERS_OF_ONE[source.target]

    def add_value(c: Context[Any, Any], values: dict[str, Any]) -> None:
        # PERF: most endpoints have one such parameter, and an object for it takes 0.6 us.
        text = read(c, key)
        if text is None:
            source.load_into(values, {})
        else:
            values[local] = load(text)

    return add_value


def _without_others(values: dict[str, Any], source: Source) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in source.others}


def _read_params(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    req = c.req
    if source.is_model:
        return _as_lists(source, req.param())
    values = {}
    for field in source.fields:
        value = req.param(field.key)
        if value is not None:
            values[field.key] = value
    return values


def _read_cookies(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    return _as_lists(source, get_cookie(c))


def _as_lists(source: Source, values: Mapping[str, str]) -> dict[str, Any]:
    """Returns the values, in a list for fields that take a list."""
    names = _names_with_lists(source, values)
    return {**values, **{name: [values[name]] for name in names}}


def _read_query(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    values: dict[str, Any] = c.req.query()
    names = _names_with_lists(source, values)
    if names:
        every = c.req.queries()
        values = {**values, **{name: every[name] for name in names}}
    if source.objects is not None:
        values = dict(values)
        collect_objects(values, c.req.queries(), source.objects)
    return values


def _names_with_lists(source: Source, values: Mapping[str, str]) -> Collection[str]:
    """Returns the names in the request whose values are all used."""
    if source.schema.takes_lists:
        return [*values]
    return source.lists & values.keys() if source.lists else ()


def _read_headers(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    # APPSEC: otherwise, a cache would send the response of one client to another.
    depend_on(c, source.vary)
    separated = source.schema.separated
    values: dict[str, Any] = {}
    if source.is_model and not source.schema.forbids:
        # APPSEC: a header spelled like the field, with `_`, is a different header: a client could
        # send `x_user` past a proxy that filters `x-user`.
        own = {name for field in source.schema.fields for name in field[:2]}
        values = {name: value for name, value in c.req.header().items() if name not in own}
    for key, header, takes_list in source.headers:
        value: Any = c.req.header(header)
        if value is None:
            continue
        if takes_list:
            value = c.req.raw.headers.get_all(header)
        values[key] = split_values(value) if key in separated else value
    return values


_READERS: dict[ValidationTarget, Callable[[Context[Any, Any], Source], dict[str, Any]]] = {
    "param": _read_params,
    "query": _read_query,
    "header": _read_headers,
    "cookie": _read_cookies,
}


_READERS_OF_ONE: dict[ValidationTarget, Callable[[Context[Any, Any], str], str | None]] = {
    "param": lambda c, key: c.req.param(key),
    "query": lambda c, key: c.req.query(key),
    "cookie": get_cookie,
}


async def load_form(source: Source, c: Context[Any, Any], values: dict[str, Any]) -> None:
    """Adds the values of a form to the endpoint's values, by local names.

    Raises:
        ValueError: If they don't fit.
    """
    source.load_into(values, await read_form(c, source))


async def read_form(c: Context[Any, Any], source: Source) -> dict[str, Any]:
    """Returns the values of a form by name.

    Raises:
        MalformedError: If it can't be parsed.
        ProblemError: 415 if the body isn't a form.
    """
    schema = source.schema
    try:
        values = dict(await c.req.parse_body())
    except HTTPException as error:
        if error.status != 400:
            raise
        text = str(error.message)
        raise MalformedError(text.partition(": ")[2] or text) from error
    if not values and media_type(c.req.header("content-type")) not in FORM_TYPES:
        await refuse_other_body(c, FORM_TYPES)
    if source.lists or schema.takes_lists:
        every = await c.req.parse_body(all=True)
        for name in values if schema.takes_lists else source.lists & values.keys():
            value = every[name]
            values[name] = value if isinstance(value, list) else [value]
    drop_unfilled(values, schema.unfilled)
    if source.objects is not None:
        every = await c.req.parse_body(all=True)
        collect_objects(values, every, source.objects, is_form=True)
    if source.is_model:
        if source.contents:
            await read_contents(values, source.contents, c.req.max_memory_size_bytes)
        return _without_others(values, source)
    await _read_contents(values, source, c.req.max_memory_size_bytes)
    return values


async def _read_contents(values: dict[str, Any], source: Source, most: int | None) -> None:
    read = [field.key for field in source.fields if field.is_bytes]
    if read:
        check_memory(values, read, most)
    for key in read:
        value = values.get(key)
        if value is not None:
            await _read_content(values, key, value)


async def _read_content(values: dict[str, Any], key: str, value: Any) -> None:
    is_list = isinstance(value, list)
    values[key] = [await _content(each) for each in value] if is_list else await _content(value)


async def _content(value: Any) -> bytes:
    content: bytes = value.encode() if isinstance(value, str) else await value.bytes()
    return content


async def read_json(c: Context[Any, Any], body: JsonBody) -> Any:
    """Returns the value of a JSON body, or the default of an absent one.

    Raises:
        MissingError: If there is no body.
        ProblemError: 415 if it isn't JSON.
        ValueError: If it doesn't fit its type.
    """
    req = c.req
    kind = req.header("content-type")
    if kind == JSON or body.accepts(kind):
        content = (await req.bytes()).removeprefix(MARK)
        if body.is_absent(content):
            return body.create_default()
        try:  # PERF: inline, as `load_json` would add a call
            return body.schema.load(content)
        except ValueError as error:
            return body.schema.load_again(content, error)
    await refuse_other_body(c, body.media_types or JSON_TYPES)
    if body.default is REQUIRED:
        raise MissingError
    return body.create_default()
