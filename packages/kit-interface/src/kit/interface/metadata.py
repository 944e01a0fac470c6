# SPDX-License-Identifier: MIT
"""Metadata of handlers and middleware ("facts") for tools such as OpenAPI and route listings.

Facts are attached when a function is created or registered, and read from the routes of an app.
They are preserved by `app.route`, `functools.wraps` and `functools.partial`, and cost nothing per
request.

    def current_user(*, realm: str) -> AsyncMiddleware:
        async def current_user(c: Context, next: Next) -> None: ...

        return attach(current_user, provides={"user": User}, responses={401: "Unauthorized"})

A function that reads typed data from a request declares it in `validates`. The type of each part
must be one that msgspec or pydantic can describe as a schema:

- For `query`, `param`, `header`, `cookie` and `form` it is an object type with one field for each
  value: a Struct, dataclass, TypedDict, attrs class or pydantic model. The name in the request is
  the encoded name of the field (its alias). In a header type, `_` in a name without an explicit
  alias becomes `-`. Fields without a default are required.
- Constraints, descriptions and examples come from the type: `Annotated[int, msgspec.Meta(ge=1,
  description="...", examples=[...])]`; `Meta(extra_json_schema={"deprecated": True})` marks a
  deprecated value.
- A field of `form` for an uploaded file has the type `kit.interface.File` (or a class with the same
  members), or `bytes`; for several files, it is a list of them. A form with such a field is
  `multipart/form-data`.
- For `json` it is the type of the whole body. `body_required` says whether there must be one;
  without this fact, the body is optional if the type is a union with None, or if `{}` fits, as
  which `kit.validator` validates an absent body.

In `responses`, the type of a body is the one to encode as JSON; 400 with `ValidationProblem` is the
problem document for invalid requests.

A typed endpoint has the combined facts: its `validates` include the parameters of all its
dependencies, and it has the `responses` and `security` of all functions that it depends on, so the
requirements of each of them apply.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ._descriptions import merge_descriptions
from ._errors import ValidationTarget

__all__ = (
    "Facts",
    "Scheme",
    "attach",
    "combine_security",
    "get_facts",
    "get_return_type",
    "merge_descriptions",
)

Scheme: TypeAlias = Mapping[str, Any]
"""A Security Scheme Object of OpenAPI (section 4.8.27 of version 3.1.1)."""

F = TypeVar("F", bound=Callable[..., Any])

_KEY = "__kit_facts__"
_TARGETS = get_args(ValidationTarget)
# The fields of a description, with the classes of their values; an empty tuple for any.
_DESCRIBED: Mapping[str, tuple[type, ...]] = {
    "summary": (str,),
    "description": (str,),
    "tags": (Sequence,),
    "operation_id": (str,),
    "responses": (Mapping,),
    "request_body": (),
    "parameters": (Sequence,),
    "headers": (Mapping,),
    "callbacks": (Mapping,),
    "extensions": (Mapping,),
    "external_docs": (str, Mapping),
    "security": (Mapping, Sequence),
    "deprecated": (bool,),
    "hidden": (bool,),
}
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Facts(NamedTuple):
    """The metadata of a handler or middleware. Absent facts are empty.

    Attributes:
        provides: The variables that a middleware sets for later handlers: maps names to types.
        responses: Additional responses of a function, such as the 401 of a guard: maps each status
            to the type of the body, a description, or None.
        security: OpenAPI Security Scheme Objects (section 4.8.27 of version 3.1.1), one of which a
            request has to satisfy. A tuple of schemes in place of a scheme means that all of them
            are required together; an empty tuple means that credentials are optional.
        validates: The validated parts of a request: maps `json`, `form`, `query`, `param`, `header`
            or `cookie` to types.
        describes: The API documentation of the route: `summary`, `description`, `tags`,
            `operation_id`, `responses`, `request_body`, `parameters`, `headers` (of responses),
            `callbacks`, `extensions`, `external_docs`, `security` and `deprecated`, as in the
            OpenAPI Operation Object; `hidden` leaves it out. `parameters` add to those of
            `validates`. `kit.openapi.describe` documents their values.
        mounted: Whether the function passes requests to another application: it responds, although
            it takes `next`.
        source: Where the arguments of the function come from, in lines for human readers.
        others: Facts of other packages, by name.
        body_required: Whether a request needs a JSON body; None if that depends on its type.
        body_media_types: The media types of a JSON body; empty for `application/json`.
    """

    provides: Mapping[str, Any] = _NOTHING
    responses: Mapping[int, Any] = _NOTHING
    security: tuple[Scheme | tuple[Scheme, ...], ...] = ()
    validates: Mapping[ValidationTarget, Any] = _NOTHING
    describes: Mapping[str, Any] = _NOTHING
    mounted: bool = False
    source: str = ""
    others: Mapping[str, Any] = _NOTHING
    body_required: bool | None = None
    body_media_types: tuple[str, ...] = ()


def attach(
    function: F,
    /,
    *,
    provides: Mapping[str, Any] | None = None,
    responses: Mapping[int, Any] | None = None,
    security: Scheme | Sequence[Scheme | tuple[Scheme, ...]] | None = None,
    validates: Mapping[ValidationTarget, Any] | None = None,
    describes: Mapping[str, Any] | None = None,
    mounted: Literal[True] | None = None,
    source: str | None = None,
    body_required: bool | None = None,
    body_media_types: tuple[str, ...] | None = None,
    **others: Any,
) -> F:
    """Attaches facts to a function.

    Existing facts are kept: mappings are merged, with new entries replacing old ones with the same
    key, and descriptions as by `merge_descriptions`; any other fact replaces the old one.

    Args:
        function: The handler or middleware, or any callable that supports attributes.
        provides: This and the following: see `Facts`.
        responses: See `Facts`.
        security: One Security Scheme Object, or several alternatives.
        validates: See `Facts`.
        describes: See `Facts`.
        mounted: See `Facts`.
        source: See `Facts`.
        body_required: See `Facts`.
        body_media_types: See `Facts`.
        **others: Facts of other packages; prefix their names with the name of the package.

    Returns:
        The function itself.

    Raises:
        TypeError: If the function doesn't support attributes, e.g. a bound method, or if a fact
            has the wrong type.
        ValueError: If `validates` or `describes` has an unknown name.
    """
    mappings = {
        "provides": provides,
        "responses": responses,
        "validates": validates,
        "describes": describes,
    }
    plain: Mapping[str, tuple[object, type]] = {
        "mounted": (mounted, bool),
        "source": (source, str),
        "body_required": (body_required, bool),
        "body_media_types": (body_media_types, tuple),
    }
    facts = {**_checked_mappings(mappings), **_checked_values(plain)}
    if security is not None:
        facts["security"] = _checked_security(security)
    if others:
        facts["others"] = others
    # A new dict, since functools.wraps makes a wrapper share the dict of the wrapped function.
    own = _merged([getattr(function, _KEY, {}), facts])
    try:
        setattr(function, _KEY, own)
    except (AttributeError, TypeError):
        raise TypeError(
            f"attach() can't set attributes on {function!r:.100}: expected a function, or an "
            "object of a class without __slots__"
        ) from None
    return function


def _checked_mappings(given: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            if not isinstance(value, Mapping):
                raise TypeError(f"attach({name}=...) takes a mapping, not {value!r:.100}")
            facts[name] = dict(value)
    _check_validates(facts.get("validates", {}))
    _check_describes(facts.get("describes", {}))
    return facts


def _checked_values(given: Mapping[str, tuple[object, type]]) -> dict[str, Any]:
    for name, (value, kind) in given.items():
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"attach({name}=...) takes a {kind.__name__}, not {value!r:.100}")
    return {name: value for name, (value, _) in given.items() if value is not None}


def _check_validates(validates: Mapping[Any, Any]) -> None:
    for target in validates:
        if target not in _TARGETS:
            raise ValueError(
                f"attach(validates=...) has the part {target!r:.100}: expected {_listed(_TARGETS)}"
            )


def _check_describes(describes: Mapping[Any, Any]) -> None:
    for name, value in describes.items():
        if name not in _DESCRIBED:
            raise ValueError(
                f"attach(describes=...) has the field {name!r:.100}, which no document shows: "
                f"expected {_listed(_DESCRIBED)}"
            )
        kinds = _DESCRIBED[name]
        if kinds and (
            not isinstance(value, kinds) or (isinstance(value, str) and str not in kinds)
        ):
            expected = " or ".join(each.__name__ for each in kinds)
            raise TypeError(
                f"attach(describes={{{name!r}: ...}}) takes a {expected}, not {value!r:.100}"
            )
        for each in value if name == "parameters" else ():
            if not isinstance(each, Mapping):
                raise TypeError(
                    "attach(describes={'parameters': ...}) takes Parameter Objects such as "
                    f"{{'name': 'q', 'in': 'query'}}, not {each!r:.100}"
                )


def _listed(names: Iterable[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}"


def _checked_security(security: Any) -> tuple[Any, ...]:
    choices = (security,) if isinstance(security, Mapping) else tuple(security)
    for choice in choices:
        for scheme in choice if isinstance(choice, tuple) else (choice,):
            if not isinstance(scheme, Mapping) or "type" not in scheme:
                raise TypeError(
                    "attach(security=...) takes Security Scheme Objects such as "
                    f"{{'type': 'http', 'scheme': 'bearer'}}, not {scheme!r:.100}"
                )
    return choices


def get_facts(handler: Any) -> Facts:
    """Returns the facts of a handler or middleware, and of the functions it wraps.

    Follows `__wrapped__`, which `functools.wraps` sets, and `functools.partial`. If several
    functions have facts, outer ones take precedence; mappings are merged.

    Args:
        handler: A function or any other object, e.g. `RouterRoute.handler`.

    Returns:
        The facts; empty if the function has none.
    """
    layers = [getattr(each, _KEY, {}) for each in _layers(handler)]
    return Facts(**_merged(reversed(layers)))


def combine_security(functions: Iterable[Any]) -> tuple[Scheme | tuple[Scheme, ...], ...]:
    """Combines the security requirements of several guards.

    Each guard has alternatives, and all guards have to be satisfied: each alternative in the result
    combines one alternative of every guard.

    Args:
        functions: The guards, in any form that `get_facts` accepts; other functions are ignored.

    Returns:
        The alternatives, as in `Facts.security`; empty if none of the functions is a guard.
    """
    guards = [guard for guard in (get_facts(each).security for each in functions) if guard]
    if not guards:
        return ()
    found: list[Scheme | tuple[Scheme, ...]] = []
    for choices in product(*guards):
        together: list[Scheme] = []
        for choice in choices:
            schemes = choice if isinstance(choice, tuple) else (choice,)
            together += [scheme for scheme in schemes if scheme not in together]
        combined = together[0] if len(together) == 1 else tuple(together)
        if combined not in found:
            found.append(combined)
    return tuple(found)


def get_return_type(function: Any) -> Any:
    """Returns the annotated return type of a function, such as the type of a user.

    Args:
        function: A function passed to middleware, plain or async, or another callable.

    Returns:
        The type, without None and without bools, which only mean that something is accepted; for an
        async function, the type of the awaited result. None if nothing is left; Any if the function
        has no return annotation.
    """
    while isinstance(function, partial):
        function = function.func
    if not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = type(function).__call__
    try:
        returned = get_type_hints(function, include_extras=True).get("return", Any)
    except (NameError, TypeError, AttributeError):  # a name that is undefined, or defined later
        return Any
    if get_origin(returned) in (Awaitable, Coroutine):
        returned = get_args(returned)[-1]
    members = get_args(returned) if get_origin(returned) in (Union, UnionType) else (returned,)
    users = tuple(each for each in members if not _is_verdict(each))
    return Union[users] if users else None  # noqa: UP007 - they are known only at runtime


def _layers(handler: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while handler is not None and id(handler) not in seen:  # an object may wrap itself
        seen.add(id(handler))
        yield handler
        handler = (
            handler.func if isinstance(handler, partial) else getattr(handler, "__wrapped__", None)
        )


def _merged(layers: Any) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for facts in layers:
        for name, value in facts.items():
            old = merged.get(name)
            if isinstance(old, dict):
                both = name == "describes"
                value = merge_descriptions([old, value]) if both else {**old, **value}
            merged[name] = value
    return merged


def _is_verdict(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return all(isinstance(value, bool) or value is None for value in get_args(kind))
    return kind is None or kind is NoneType or kind is bool
