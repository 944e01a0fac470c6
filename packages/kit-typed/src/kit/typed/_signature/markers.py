# SPDX-License-Identifier: MIT
"""Markers for `Annotated` that define the source of a parameter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import msgspec

from kit.authoring.numerals import decimal_rules
from kit.authoring.options import OptionChecks
from kit.interface import ValidationTarget

# SPEC: RFC 9110 section 8.3.1, without parameters; with `*` for ranges, as in section 12.5.1.
_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+")

Scope: TypeAlias = Literal["request", "function"]


class Marker:
    """Reads a parameter from a part of the request.

    Used in an annotation: `Annotated[int, Query(ge=1)]`. Write a default after it, as for any other
    parameter: `page: Annotated[int, Query(ge=1)] = 1`.

    Args:
        name: The name in the request. Default: the name of the parameter; for a header, with `-`
            instead of `_`.
        alias: The same as `name`.
        title: A short title, for the documentation of the API.
        description: The purpose of the value, for the documentation.
        examples: Example values, for the documentation.
        deprecated: Whether the documentation marks it as deprecated.
        gt: The value is greater than this.
        ge: The value is greater than or equal to this.
        lt: The value is less than this.
        le: The value is less than or equal to this.
        multiple_of: The value is a multiple of this.
        max_digits: Maximum number of digits of a Decimal.
        decimal_places: Maximum number of digits of a Decimal after the point.
        min_length: Minimum length of a string, of bytes or of a list.
        max_length: Maximum length.
        pattern: A regular expression that must match somewhere in the string.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If name and alias differ, or an option has an invalid value.
    """

    __slots__ = ("meta", "name")

    target: ClassVar[ValidationTarget]

    # A marker takes all the options of a schema, so there are many.
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
        max_digits: int | None = None,
        decimal_places: int | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
    ) -> None:
        call = type(self).__name__
        self.name = _name(call, name, alias)
        check = OptionChecks(call)
        check.flag("deprecated", deprecated)
        if isinstance(examples, str) or not isinstance(examples, (Sequence, NoneType)):
            check.wrong_type("examples", examples, "a list of values")
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
        digits = {"max_digits": max_digits, "decimal_places": decimal_places}
        digits = {name: value for name, value in digits.items() if value is not None}
        try:
            if digits:
                given["extra"] = decimal_rules(**digits).extra
            self.meta = msgspec.Meta(**given) if given else None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{call}(): {error}") from None
        except re.error as error:
            raise ValueError(
                f"{call}(pattern={pattern!r:.100}) isn't a regular expression: {error}"
            ) from None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.name is None else repr(self.name)})"


class Path(Marker):
    """A path parameter; needed only if its name in the path is different."""

    __slots__ = ()
    target = "param"


class Query(Marker):
    """A query parameter, or, with an object type, all of its fields."""

    __slots__ = ()
    target = "query"


class Header(Marker):
    """A header, or, with an object type, all of its fields."""

    __slots__ = ()
    target = "header"


class Cookie(Marker):
    """A cookie, or, with an object type, all of its fields."""

    __slots__ = ()
    target = "cookie"


class Form(Marker):
    """A form field, or, with an object type, all of its fields."""

    __slots__ = ()
    target = "form"


class File(Form):
    """An uploaded file: a field of a multipart form, read as `kit.File` or as bytes.

    `Annotated[bytes, File()]`; a parameter of type `kit.File` needs no marker.
    """

    __slots__ = ()


class Body(Marker):
    """The JSON body; needed for types that would otherwise be read from the query.

    `Annotated[bytes, Body()]` is the body as it was sent, of any media type. The endpoint may read
    a JSON body or a form as well, e.g. to verify the signature of a webhook.

    Args:
        name: The name in the body, with `embed`.
        embed: Whether the body is an object with the value under the name of the parameter.
            Required if several parameters are read from one body.
        media_type: For bytes: the accepted media types, such as `image/png` or `image/*`; others
            are refused with a 415. Default: any.
        **options: See `Marker`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option has an invalid value, or can't be combined with another one.
    """

    __slots__ = ("embed", "media_types")
    target = "json"

    def __init__(
        self,
        name: str | None = None,
        *,
        embed: bool = False,
        media_type: str | Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        check = OptionChecks("Body")
        self.embed = check.flag("embed", embed)
        if self.name is not None and not embed:
            raise ValueError(
                f"Body({self.name!r}) names a value in the body: write embed=True, or leave it out"
            )
        kinds = () if media_type is None else check.texts("media_type", media_type)
        self.media_types = tuple(each.lower() for each in kinds)
        for each in self.media_types:
            if not _MEDIA_TYPE.fullmatch(each):
                check.unusable("media_type", each, "a media type such as 'image/png' or 'image/*'")
        if self.media_types and embed:
            raise ValueError("Body(embed=True) is JSON: leave media_type out")


class _Named:
    __slots__ = ("name",)

    def __init__(self, name: str | None = None) -> None:
        self.name = _name(type(self).__name__, name, None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.name is None else repr(self.name)})"


class Env(_Named):
    """A value from `c.env`, e.g. from the mapping that the lifespan yielded.

    Args:
        name: Its key. Default: the name of the parameter.
    """

    __slots__ = ()


class Var(_Named):
    """A variable that middleware sets with `c.set`, and declares with `provides`.

    Args:
        name: Its name. Default: the name of the parameter.
    """

    __slots__ = ()


class Dependency(NamedTuple):
    """The object that `Depends` returns at run time.

    Attributes:
        function: The function to call; None for the annotation itself.
        use_cache: Whether it is called once per request.
        scope: When its exit code runs.
    """

    function: Callable[..., Any] | None
    use_cache: bool
    scope: Scope

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", self.function)
        return f"Depends({'' if name is None else name})"


PROVIDERS: dict[type, Callable[[Any, Any], Callable[..., Any]]] = {}
"""Markers of containers: each class, with the factory of dependencies for marker and type."""


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
