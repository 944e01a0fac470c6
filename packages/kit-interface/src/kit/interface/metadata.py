# SPDX-License-Identifier: MIT
"""Facts that handlers and middleware carry for tools, such as OpenAPI and route listings.

Facts are attached when a function is made or registered, and read from the routes of an app. They
stay with the function through `app.route`, `functools.wraps` and `functools.partial`, and cost
nothing per request.

    def current_user(*, realm: str) -> AsyncMiddleware:
        async def current_user(c: Context, next: Next) -> None: ...

        return attach(current_user, provides={"user": User}, responses={401: "Unauthorized"})

Whatever reads a request by types tells by `validates` what it reads. The type of a part is one that
msgspec or pydantic describes as a schema:

- For `query`, `param`, `header`, `cookie` and `form` it is an object type with one field for each
  value: a Struct, dataclass, TypedDict, attrs class or pydantic model. The name in the request is
  the encoded name of the field (its alias). In a header type, `_` in a name that was not given
  explicitly stands for `-`. A field without a default is required.
- Constraints, descriptions and examples are those of the type: `Annotated[int, msgspec.Meta(ge=1,
  description="...", examples=[...])]`; `Meta(extra_json_schema={"deprecated": True})` marks a
  deprecated value.
- A field of `form` that is an uploaded file has the type `kit.interface.File` (or a class of files
  that has its members), or `bytes`; a list of them for several files. A form with such a field is
  `multipart/form-data`.
- For `json` it is the type of the whole body. A body that may be left out is a union with None.

In `responses`, the types of bodies are those that are encoded as JSON; 400 with `ValidationProblem`
is the problem document of invalid requests.

A typed endpoint carries the facts of the whole: its `validates` include the parameters of all its
dependencies, and the `responses` and `security` of the functions that it depends on are its own:
what each of them requires is required.
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

from ._errors import ValidationTarget

__all__ = ("Facts", "Scheme", "attach", "facts_of", "returned_type", "security_of_all")

Scheme: TypeAlias = Mapping[str, Any]
"""A Security Scheme Object of OpenAPI (section 4.8.27 of version 3.1.1)."""

F = TypeVar("F", bound=Callable[..., Any])

_KEY = "__kit_facts__"
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Facts(NamedTuple):
    """What a handler or middleware tells about itself. What is absent is empty.

    Attributes:
        provides: The variables that a middleware sets for what runs behind it: name to type.
        responses: The answers that a function makes besides the usual one, such as the 401 of a
            guard: status to the type of the body, or to a description, or to None.
        security: Security Scheme Objects of OpenAPI (section 4.8.27 of version 3.1.1), one of which
            a request has to satisfy. In place of one scheme there may be a tuple of schemes that
            are needed together; an empty tuple lets requests without credentials through too.
        validates: The parts of a request that are validated: `json`, `form`, `query`, `param`,
            `header` or `cookie`, each to its type.
        describes: What the documentation of the API says of the route, by the names of the
            Operation Object of OpenAPI in snake_case, e.g. `summary`, `tags`, `operation_id`.
        mounted: Whether the function hands requests over to another application: it answers,
            although it takes `next`.
        source: Python code that was generated for the function, for people who read it.
        others: Facts by names of other packages' own.
    """

    provides: Mapping[str, Any] = _NOTHING
    responses: Mapping[int, Any] = _NOTHING
    security: tuple[Scheme | tuple[Scheme, ...], ...] = ()
    validates: Mapping[ValidationTarget, Any] = _NOTHING
    describes: Mapping[str, Any] = _NOTHING
    mounted: bool = False
    source: str = ""
    others: Mapping[str, Any] = _NOTHING


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
    **others: Any,
) -> F:
    """Attaches facts to a function.

    Those it carries already are kept: mappings are merged, with the new entries in the place of old
    ones of the same key; any other fact takes the place of the old one.

    Args:
        function: The handler or middleware, or any callable that takes attributes.
        provides: See `Facts`.
        responses: See `Facts`.
        security: One Security Scheme Object, or several of which one suffices; in the place of one
            may stand a tuple of those that are needed together. See `Facts`.
        validates: See `Facts`.
        describes: See `Facts`.
        mounted: See `Facts`.
        source: See `Facts`.
        **others: Facts of other packages; begin their names with that of the package.

    Returns:
        The function itself.

    Raises:
        TypeError: If the function takes no attributes, as a bound method, or if a fact is of the
            wrong type.
    """
    mappings = (
        ("provides", provides),
        ("responses", responses),
        ("validates", validates),
        ("describes", describes),
    )
    facts: dict[str, Any] = {}
    for name, value in mappings:
        if value is not None:
            if not isinstance(value, Mapping):
                raise TypeError(f"attach({name}=...) takes a mapping, not {value!r:.100}")
            facts[name] = dict(value)
    if security is not None:
        facts["security"] = _checked_security(security)
    if mounted is not None:
        facts["mounted"] = bool(mounted)
    if source is not None:
        facts["source"] = source
    if others:
        facts["others"] = others
    # A new dict: functools.wraps makes a wrapper share that of what it wraps.
    own = _merged([getattr(function, _KEY, {}), facts])
    try:
        setattr(function, _KEY, own)
    except (AttributeError, TypeError):
        raise TypeError(
            f"attach() can't set attributes on {function!r:.100}: expected a function, or an "
            "object of a class without __slots__"
        ) from None
    return function


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


def facts_of(handler: Any) -> Facts:
    """Reads the facts of a handler or middleware, and of what it wraps.

    Looks through `__wrapped__`, which `functools.wraps` sets, and through `functools.partial`.
    Where several functions carry facts, those further out count before those further in; mappings
    are merged.

    Args:
        handler: A function or any other object, e.g. `RouterRoute.handler`.

    Returns:
        The facts; empty ones for a function that carries none.
    """
    layers = [getattr(each, _KEY, {}) for each in _layers(handler)]
    return Facts(**_merged(reversed(layers)))


def security_of_all(functions: Iterable[Any]) -> tuple[Scheme | tuple[Scheme, ...], ...]:
    """Works out what requests have to satisfy that pass several guards.

    Each guard leaves a choice, and all guards have to be satisfied: a choice of the result has a
    scheme of each.

    Args:
        functions: The guards, in any form that `facts_of` takes; others don't count.

    Returns:
        The choices, as in `Facts.security`; empty if none of the functions is a guard.
    """
    guards = [guard for guard in (facts_of(each).security for each in functions) if guard]
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


def returned_type(function: Any) -> Any:
    """Returns the type that a function is annotated to return, such as that of a user.

    Args:
        function: A function that middleware is given, plain or async, or another callable.

    Returns:
        The type, without None, and without the bools that only say whether something is accepted;
        that of the result, if the function is async. None if nothing is left; Any if the function
        doesn't say what it returns.
    """
    while isinstance(function, partial):
        function = function.func
    if not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = type(function).__call__
    try:
        returned = get_type_hints(function, include_extras=True).get("return", Any)
    except (NameError, TypeError, AttributeError):  # it names what is defined later, or nowhere
        return Any
    if get_origin(returned) in (Awaitable, Coroutine):
        returned = get_args(returned)[-1]
    members = get_args(returned) if get_origin(returned) in (Union, UnionType) else (returned,)
    users = tuple(each for each in members if not _is_verdict(each))
    return Union[users] if users else None  # noqa: UP007 - they are known at runtime alone


def _layers(handler: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while handler is not None and id(handler) not in seen:  # something may wrap itself
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
            merged[name] = {**old, **value} if isinstance(old, dict) else value
    return merged


def _is_verdict(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return all(isinstance(value, bool) or value is None for value in get_args(kind))
    return kind is None or kind is NoneType or kind is bool
