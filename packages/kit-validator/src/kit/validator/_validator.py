# SPDX-License-Identifier: MIT
"""The middleware that validates a part of the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NewType, TypeAlias, get_args, get_origin, overload

from kit.authoring.codecs import find_decodable, find_unknown
from kit.authoring.maybe_await import settle
from kit.authoring.signatures import accepts, describe_signature
from kit.authoring.vary import depend_on
from kit.cookie import get_cookie
from kit.http.media_types import JSON, is_json, media_type
from kit.interface import (
    AsyncMiddleware,
    Codecs,
    Context,
    FieldError,
    Next,
    Problem,
    RequestValidationError,
    Response,
    ValidationProblem,
    ValidationTarget,
    is_response,
)
from kit.interface.metadata import attach, get_facts

from .media_types import FORM_TYPES, JSON_TYPES, refuse_other_body
from .schemas import (
    Schema,
    check_objects,
    collect_objects,
    drop_unfilled,
    get_schema,
    read_contents,
    split_values,
)

if TYPE_CHECKING:
    from typing_extensions import TypeForm

_TARGETS = get_args(ValidationTarget)
# RFC 8259 section 8.1: a byte order mark may be ignored.
_MARK = b"\xef\xbb\xbf"

# APPSEC: limits the size of a response, since a client controls the number of errors.
_MOST_ERRORS = 100

_Reader: TypeAlias = Callable[[Context[Any, Any]], Awaitable[Any]]
_Values: TypeAlias = dict[str, Any]


@overload
def validator(
    target: ValidationTarget, fn_or_type: Callable[[Any, Any], Any]
) -> AsyncMiddleware: ...
@overload
def validator(target: ValidationTarget, fn_or_type: TypeForm[Any]) -> AsyncMiddleware: ...
def validator(target: ValidationTarget, fn_or_type: Any) -> AsyncMiddleware:
    """Returns middleware that validates a part of the request, for `c.req.valid(target)`.

    A type defines the fields. Values sent as text (all but JSON) are converted to the types of the
    fields: `"3"` to an int. A list field gets all values with its name; any other field gets the
    value that `c.req` returns for it. For headers, `_` in the name of a field stands for `-`, and
    commas separate the values of a list of numbers or the like (RFC 9110, section 5.3), though not
    those of a list of str, which may contain them. Headers without a field are never an error.
    Invalid data raises a `RequestValidationError` that lists the errors of all fields.

    A function gets the values as they were sent; in a query or form, a name sent several times has
    a list of values. `valid` returns the return value of the function; if that is a Response, it is
    sent immediately.

    If there is no body, `{}` is validated. If the body has another Content-Type, a type results in
    a 415; a function gets `{}`, as in Hono.

    Args:
        target: `json`, `form`, `query`, `param`, `header` or `cookie`.
        fn_or_type: A dataclass, msgspec Struct, TypedDict, attrs class or NamedTuple, another type
            that msgspec supports, or a pydantic model; or `fn(value, c)`, plain or async.

    Raises:
        ValueError: If the target is unknown.
        TypeError: If `fn_or_type` is neither a supported type nor such a function.

    Example:
        ```python
        @app.post("/books", use=validator("json", Book))
        async def create(c: Context) -> Response:
            book = c.req.valid("json", Book)
            return c.json(book, 201)
        ```
    """
    if target not in _TARGETS:
        raise ValueError(
            f"validator() has no target {target!r}: expected one of {', '.join(_TARGETS)}"
        )
    is_type = _is_type(fn_or_type)
    schema: Schema | None = None
    if is_type and not find_unknown(fn_or_type):
        schema = _schema(target, fn_or_type)
    if not is_type:
        read = _by_function(target, fn_or_type)
    elif schema is None or find_decodable(fn_or_type):
        read = _by_app(target, fn_or_type)
    else:
        read = _by_schema(target, schema)

    async def validator(c: Context[Any, Any], next: Next) -> Response | None:
        data = await read(c)
        if is_response(data):
            return data
        c.req.add_validated_data(target, data)
        await next()
        return None

    if is_type:
        return attach(
            validator,
            validates={target: fn_or_type},
            responses={400: ValidationProblem, 415: Problem}
            if target in ("json", "form")
            else {400: ValidationProblem},
            # A missing body is validated as `{}`, so None as a type doesn't make it optional.
            body_required=not _fits(schema, b"{}")
            if schema is not None and target == "json" and _fits(schema, b"null")
            else None,
        )
    own = get_facts(fn_or_type)
    return attach(validator, validates={target: Any, **own.validates}, responses=own.responses)


def _is_type(value: Any) -> bool:
    # `type X = ...` creates an alias that has a __value__.
    return (
        isinstance(value, (type, NewType))
        or get_origin(value) is not None
        or hasattr(value, "__value__")
    )


def _by_function(target: ValidationTarget, function: Any) -> _Reader:
    if not callable(function):
        raise TypeError(
            f"validator({target!r}, ...) takes a type or a function, not {function!r:.100}"
        )
    if not accepts(function, 2):
        raise TypeError(
            f"validator({target!r}, ...) calls its function with (value, c), but it is "
            f"{describe_signature(function)}"
        )

    async def read(c: Context[Any, Any]) -> Any:
        data = function(await _given(target, c), c)
        return await settle(data, function)

    return read


async def _given(target: ValidationTarget, c: Context[Any, Any]) -> Any:
    """Returns a part of the request as functions receive it, in the same form as in Hono."""
    if target == "json":
        return await c.req.json() if _has_json(c) else {}
    if target == "form":
        return await c.req.parse_body(all=True)
    if target == "query":
        every = c.req.queries()
        return {name: values[0] if len(values) == 1 else values for name, values in every.items()}
    return _singly(target, c)


def _singly(target: ValidationTarget, c: Context[Any, Any]) -> _Values:
    if target == "query":
        return c.req.query()
    if target == "param":
        return c.req.param()
    if target == "header":
        depend_on(c, "*")  # a function gets all of them
        return c.req.header()
    return get_cookie(c)


def _has_json(c: Context[Any, Any]) -> bool:
    return is_json(c.req.header("content-type"))


def _schema(target: ValidationTarget, kind: Any, codecs: Codecs | None = None) -> Schema:
    try:
        schema = get_schema(kind, is_json=target == "json", codecs=codecs)
        check_objects(schema, target)
        return schema
    except Exception as error:
        problem = str(error).partition("\n")[0]
        if isinstance(error, NameError):
            problem += ", or not yet; annotations are read here and have to be defined before"
        raise TypeError(f"validator({target!r}, {kind!r:.100}): {problem}") from error


def _fits(schema: Schema, data: bytes) -> bool:
    try:
        schema.load(data)
    except Exception:  # including those of the type's own code
        return False
    return True


def _by_app(target: ValidationTarget, kind: Any) -> _Reader:
    """Reads a type with classes that only decoders of an app can build, or with files."""
    unknown = find_unknown(kind) if target == "json" else []  # a form may have files
    if kind not in unknown:
        _schema(target, kind)  # so that other problems are found now
    readers: dict[Codecs, _Reader] = {}

    async def read(c: Context[Any, Any]) -> Any:
        codecs = c.codecs
        reader = readers.get(codecs)
        if reader is None:
            for each in unknown:
                if each not in codecs.decoders:
                    name = each.__qualname__
                    raise TypeError(
                        f"validator({target!r}, {kind!r:.100}): neither msgspec nor pydantic can "
                        f"decode {name}: give the app a decoder, Kit(decoders={{{name}: function}})"
                    )
            reader = readers[codecs] = _by_schema(target, _schema(target, kind, codecs))
        return await reader(c)

    return read


def _by_schema(target: ValidationTarget, schema: Schema) -> _Reader:
    if target == "json":
        return partial(_load_json, schema)
    if target == "header":
        own = frozenset(name for field in schema.fields for name in field[:2])
        return partial(_load_headers, schema, own, schema.headers)
    lists = frozenset(field.key for field in schema.fields if field.takes_list)
    contents = frozenset(field.key for field in schema.fields if field.takes_content)
    return partial(_load_names, schema, target, lists, contents if target == "form" else ())


async def _load_json(schema: Schema, c: Context[Any, Any]) -> Any:
    has_json = _has_json(c)
    if not has_json:
        await refuse_other_body(c, JSON_TYPES)
    data = (await c.req.bytes()).removeprefix(_MARK) if has_json else b"{}"
    try:
        return schema.load_json(data)
    except (ValueError, RecursionError) as error:
        # Malformed JSON is a separate error, which this call raises.
        value = await c.req.json() if has_json else {}
        detail = None if has_json else _missing("json", c, JSON)
        raise _refusal("json", schema.errors(value, error), detail) from error


async def _load_names(
    schema: Schema,
    target: ValidationTarget,
    lists: frozenset[str],
    contents: Collection[str],
    c: Context[Any, Any],
) -> Any:
    values = await _read_form(c) if target == "form" else _singly(target, c)
    if lists or schema.takes_lists:
        every = await _given(target, c)
        for name in values if schema.takes_lists else lists & values.keys():
            value = every[name]
            values[name] = value if isinstance(value, list) else [value]
    is_form = target == "form"
    if is_form or schema.objects is not None:
        values = dict(values)
    if is_form:
        drop_unfilled(values, schema.unfilled)
    if schema.objects is not None and target in ("query", "form"):
        collect_objects(values, await _given(target, c), schema.objects, is_form=is_form)
    if contents:
        await read_contents(values, contents, c.req.max_memory_size_bytes)
    try:
        return schema.load(values)
    except ValueError as error:
        detail = None
        if target == "form" and not _has_form(c):
            detail = _missing("form", c, " or ".join(FORM_TYPES))
        raise _refusal(target, schema.errors(values, error), detail) from error


async def _read_form(c: Context[Any, Any]) -> _Values:
    values = await c.req.parse_body()
    if not values and not _has_form(c):
        await refuse_other_body(c, FORM_TYPES)
    return values


def _has_form(c: Context[Any, Any]) -> bool:
    return media_type(c.req.header("content-type")) in FORM_TYPES


async def _load_headers(
    schema: Schema, own: frozenset[str | None], names: str, c: Context[Any, Any]
) -> Any:
    # APPSEC: or a cache would send the response of one client to another.
    depend_on(c, names)
    given = c.req.header()
    # APPSEC: a header spelled like the field, with `_`, is a different header: a client could send
    # `x_user` past a proxy that filters `x-user`.
    values: _Values = {}
    if not schema.forbids:
        values = {name: value for name, value in given.items() if name not in own}
    get_all = c.req.raw.headers.get_all
    for key, header, takes_list, _ in schema.fields:
        if header in given:
            values[key] = get_all(header) if takes_list else given[header]
            if key in schema.separated:
                values[key] = split_values(values[key])
    if schema.takes_lists:
        values = {name: get_all(name) for name in values}
    try:
        return schema.load(values)
    except ValueError as error:
        errors = schema.errors(values, error)
        raise _refusal("header", _with_header_names(errors, schema)) from error


def _with_header_names(errors: Iterable[FieldError], schema: Schema) -> Iterator[FieldError]:
    names = {key: header for key, header, *_ in schema.fields if header is not None}
    for each in errors:
        key, bracket, index = each["path"].partition("[")
        each["path"] = names.get(key, key) + bracket + index
        yield each


def _missing(target: ValidationTarget, c: Context[Any, Any], expected: str) -> str:
    content_type = c.req.header("content-type")
    return RequestValidationError.describe_missing(target, content_type, expected)


def _refusal(
    target: ValidationTarget, errors: Iterable[FieldError], detail: str | None = None
) -> RequestValidationError:
    first = [*islice(errors, _MOST_ERRORS + 1)]
    if len(first) > _MOST_ERRORS:
        first.pop()
        detail = detail or RequestValidationError.describe_invalid(target)
        detail += f"; these are the first {_MOST_ERRORS} errors"
    return RequestValidationError(target, first, detail)
