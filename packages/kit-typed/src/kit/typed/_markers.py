# SPDX-License-Identifier: MIT
"""What stands in `Annotated` to say where the value of a parameter comes from."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar, overload

import msgspec

from kit.interface import ValidationTarget
from kit.interface.options import OptionChecks

T = TypeVar("T")

Scope: TypeAlias = Literal["request", "function"]


class Marker:
    """Says that a parameter is read from a part of the request.

    Used in an annotation: `Annotated[int, Query(ge=1)]`. The default of the parameter is written
    after it, as that of any other: `page: Annotated[int, Query(ge=1)] = 1`.

    Args:
        name: The name in the request. Default: that of the parameter; in a header, with `-` for
            `_`.
        alias: The same as `name`.
        title: A short title, for the documentation of the API.
        description: What the value is for, for the documentation.
        examples: Examples of values, for the documentation.
        deprecated: Whether the documentation calls it deprecated.
        gt: The value is greater than this.
        ge: The value is greater than or equal to this.
        lt: The value is less than this.
        le: The value is less than or equal to this.
        multiple_of: The value is a multiple of this.
        min_length: Least length of a text, of bytes or of a list.
        max_length: Greatest length.
        pattern: A regular expression that is found in the text.

    Raises:
        TypeError: If an option is of the wrong type.
        ValueError: If name and alias differ.
    """

    __slots__ = ("meta", "name")

    target: ClassVar[ValidationTarget]

    # A marker takes what a schema can say, so its options are many.
    def __init__(
        self,
        name: str | None = None,
        *,
        alias: str | None = None,
        title: str | None = None,
        description: str | None = None,
        examples: Sequence[Any] | None = None,
        deprecated: bool = False,
        gt: float | None = None,
        ge: float | None = None,
        lt: float | None = None,
        le: float | None = None,
        multiple_of: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
    ) -> None:
        self.name = _name(type(self).__name__, name, alias)
        values = {
            "title": title,
            "description": description,
            "examples": None if examples is None else list(examples),
            "extra_json_schema": {"deprecated": True} if deprecated else None,
            "gt": gt,
            "ge": ge,
            "lt": lt,
            "le": le,
            "multiple_of": multiple_of,
            "min_length": min_length,
            "max_length": max_length,
            "pattern": pattern,
        }
        given: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
        self.meta = msgspec.Meta(**given) if given else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.name is None else repr(self.name)})"


class Path(Marker):
    """A parameter of the path; needed only where its name differs from that of the parameter."""

    __slots__ = ()
    target = "param"


class Query(Marker):
    """A parameter of the query, or, over an object type, all of its fields."""

    __slots__ = ()
    target = "query"


class Header(Marker):
    """A header, or, over an object type, all of its fields."""

    __slots__ = ()
    target = "header"


class Cookie(Marker):
    """A cookie, or, over an object type, all of its fields."""

    __slots__ = ()
    target = "cookie"


class Form(Marker):
    """A field of a form, or, over an object type, all of its fields."""

    __slots__ = ()
    target = "form"


class File(Form):
    """An uploaded file: a field of a multipart form, read as `kit.File` or as bytes.

    `Annotated[bytes, File()]`; a parameter of the type `kit.File` needs no marker.
    """

    __slots__ = ()


class Body(Marker):
    """The JSON body; needed for types that would be taken for those of the query.

    Args:
        name: The name in the body, with `embed`.
        embed: Whether the body is an object that has the value under the name of the parameter, as
            several parameters of one body need it.
        **options: See `Marker`.
    """

    __slots__ = ("embed",)
    target = "json"

    def __init__(self, name: str | None = None, *, embed: bool = False, **options: Any) -> None:
        super().__init__(name, **options)
        self.embed = OptionChecks("Body").flag("embed", embed)
        if self.name is not None and not embed:
            raise ValueError(
                f"Body({self.name!r}) names a value in the body: write embed=True, or leave it out"
            )


class _Named:
    __slots__ = ("name",)

    def __init__(self, name: str | None = None) -> None:
        self.name = _name(type(self).__name__, name, None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.name is None else repr(self.name)})"


class Env(_Named):
    """A value of `c.env`, such as what the lifespan yielded.

    Args:
        name: Its key. Default: the name of the parameter.
    """

    __slots__ = ()


class Var(_Named):
    """A variable that middleware sets by `c.set`, and says so in the fact `provides`.

    Args:
        name: Its name. Default: that of the parameter.
    """

    __slots__ = ()


class Dependency(NamedTuple):
    """What `Depends` returns at run time.

    Attributes:
        function: What is called; None for the annotation itself.
        use_cache: Whether it is called once per request.
        scope: When its exit runs.
    """

    function: Callable[..., Any] | None
    use_cache: bool
    scope: Scope

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", self.function)
        return f"Depends({'' if name is None else name})"


@overload
def Depends(
    dependency: Callable[..., AbstractAsyncContextManager[T]],
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> T: ...
@overload
def Depends(
    dependency: Callable[..., AbstractContextManager[T]],
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> T: ...
@overload
def Depends(
    dependency: Callable[..., AsyncIterator[T]],
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> T: ...
@overload
def Depends(
    dependency: Callable[..., Iterator[T]],
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> T: ...
@overload
def Depends(
    dependency: Callable[..., Awaitable[T]],
    /,
    *,
    use_cache: bool = True,
    scope: Scope = "request",
) -> T: ...
@overload
def Depends(
    dependency: Callable[..., T], /, *, use_cache: bool = True, scope: Scope = "request"
) -> T: ...
@overload
def Depends(*, use_cache: bool = True, scope: Scope = "request") -> Any: ...
def Depends(  # noqa: N802 - it reads as the other markers do
    dependency: Any = None, /, *, use_cache: bool = True, scope: Scope = "request"
) -> Any:
    """Says that a parameter is what a function returns, which is itself called as a typed one.

    In an annotation, `Annotated[Pool, Depends(get_pool)]`, or as a default, `pool: Pool =
    Depends(get_pool)`. The function may be plain, async, a generator, an async generator, a
    function that returns a context manager, or a class. What follows the `yield`, or the exit of
    the context manager, runs when the request is over: after the response was sent, the last one
    first. It gets the exception if there was one.

    Args:
        dependency: The function. Left out, the annotation itself is called, such as a class.
        use_cache: Whether it is called once per request however many parameters ask for it.
        scope: When its exit runs: `request`, or `function` for when the endpoint has returned and
            the response was made, but not sent: an exception of the exit then becomes the answer.

    Returns:
        For type checkers what the function provides.

    Raises:
        TypeError: If the dependency can't be called.
        ValueError: If the scope is unknown.
    """
    check = OptionChecks("Depends")
    if dependency is not None and not callable(dependency):
        check.wrong_type(
            "dependency",
            dependency,
            "a function whose parameters are read as those of endpoints",
        )
    check.flag("use_cache", use_cache)
    check.choice("scope", scope, ("request", "function"))
    return Dependency(dependency, use_cache, scope)


PROVIDERS: dict[type, Callable[[Any, Any], Callable[..., Any]]] = {}
"""Markers of containers: each class with what makes a dependency of a marker and a type."""


def _name(call: str, name: Any, alias: Any) -> str | None:
    if name is not None and alias is not None and name != alias:
        raise ValueError(f"{call}() has the name {name!r:.100} and the alias {alias!r:.100}")
    name = alias if name is None else name
    if name is not None and not (isinstance(name, str) and name):
        raise TypeError(
            f"{call}() takes a name, not {name!r:.100}: a default is written after the annotation, "
            f"x: Annotated[..., {call}()] = {name!r:.100}"
        )
    return name
