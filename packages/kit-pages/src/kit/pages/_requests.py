# SPDX-License-Identifier: MIT
"""Dependencies that read which page a request asks for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, TypeVar, overload

import msgspec

from kit.authoring.options import OptionChecks
from kit.interface import Context, FieldError, RequestValidationError
from kit.typed import Query

from ._cursors import CursorError, Position, decode_cursor, encode_cursor
from ._filters import Condition, list_conditions, read_filters
from ._links import set_links
from ._ordering import Term, complete, parse_sort
from ._results import NumberedPage, Page

F = TypeVar("F")
T = TypeVar("T")

_LISTS = (list, tuple, set, frozenset)
# APPSEC: the offset has to fit into the integers of databases, whatever the limit.
_LAST_PAGE = 2**31
_MOST_LIMIT = 2**31
_MARKS_OF_FIELDS = (
    "__annotations__",
    "__attrs_attrs__",
    "__dataclass_fields__",
    "__pydantic_fields__",
    "__struct_fields__",
)


@dataclass(frozen=True)
class PageRequest(Generic[F]):
    """A request for a page between two positions; see `cursor_pages`.

    Attributes:
        limit: The maximum number of results on the page.
        filters: The filters of the request; None without a filter model.
        conditions: The conditions of the filters.
        terms: The order, up to the key.
        position: Where the page begins or ends; None for the first page.
        pages: What all requests have in common.
        c: The context, for the Link header; None outside of a request.
    """

    limit: int
    filters: F
    conditions: tuple[Condition, ...]
    terms: tuple[Term, ...]
    position: Position | None
    pages: CursorPages[F]
    c: Context[Any, Any] | None = None

    @property
    def is_backward(self) -> bool:
        """Whether the page ends at the position."""
        return self.position is not None and self.position.is_backward

    def build_page(
        self, found: Sequence[tuple[T, tuple[Any, ...]]], total: int | None = None
    ) -> Page[T]:
        """Returns the page, and sets the Link header.

        Args:
            found: Up to `limit + 1` results from the position on, each with its values of the
                terms. For a page that ends at the position, in reverse order.
            total: The number of all results, if they were counted.
        """
        has_more = len(found) > self.limit
        page = [*found[: self.limit]]
        if self.is_backward:
            page.reverse()
        is_first = not has_more if self.is_backward else self.position is None
        is_last = not self.is_backward and not has_more
        after = None if is_last or not page else self._encode(page[-1][1], is_backward=False)
        before = None if is_first or not page else self._encode(page[0][1], is_backward=True)
        links = {"first": None, "prev": before, "next": after}
        kept = {name: value for name, value in links.items() if name == "first" or value}
        set_links(self.c, "cursor", kept)
        return Page([item for item, _ in page], after, before, total)

    def reject_cursor(self) -> RequestValidationError:
        """Returns the 400 for a cursor whose values don't fit the results."""
        return _invalid("cursor", "Invalid cursor")

    def _encode(self, values: tuple[Any, ...], *, is_backward: bool) -> str:
        codecs = None if self.c is None else self.c.codecs
        return encode_cursor(Position(is_backward, values), self.terms, self.pages.secret, codecs)


@dataclass(frozen=True)
class NumberedPageRequest(Generic[F]):
    """A request for a page with a number; see `numbered_pages`.

    Attributes:
        page: The number, from 1.
        limit: The maximum number of results on the page.
        filters: The filters of the request; None without a filter model.
        conditions: The conditions of the filters.
        terms: The order, up to the key.
        pages: What all requests have in common.
        c: The context, for the Link header; None outside of a request.
    """

    page: int
    limit: int
    filters: F
    conditions: tuple[Condition, ...]
    terms: tuple[Term, ...]
    pages: NumberedPages[F]
    c: Context[Any, Any] | None = None

    @property
    def offset(self) -> int:
        """The number of results on the pages before."""
        return (self.page - 1) * self.limit

    def build_page(self, found: Sequence[T], total: int | None = None) -> NumberedPage[T]:
        """Returns the page, and sets the Link header.

        Args:
            found: The results of the page, and one more if there is a next page.
            total: The number of all results, if they were counted.
        """
        pages = None if total is None else -(-total // self.limit)
        links: dict[str, str | None] = {"first": None}
        if self.page > 1:
            links["prev"] = str(self.page - 1)
        if len(found) > self.limit:
            links["next"] = str(self.page + 1)
        if pages is not None:
            links["last"] = str(max(pages, 1))
        set_links(self.c, "page", links)
        return NumberedPage([*found[: self.limit]], self.page, self.limit, total, pages)


class _Pages(Generic[F]):
    """The options of pages, and the parameters of their requests.

    Attributes:
        selected_by: The parameter that selects a page.
        selection: Its type.
        first: Its value for the first page.
    """

    selected_by: ClassVar[str]
    selection: ClassVar[Any]
    first: ClassVar[Any]

    def __init__(
        self,
        call: str,
        model: Any,
        sort: Sequence[str],
        default_sort: str,
        filters: Any,
        columns: Mapping[str, Any],
        key: str | Sequence[str] | None,
        limit: int,
        max_limit: int,
        count: bool,
    ) -> None:
        check = OptionChecks(call)
        self.model = model
        if not isinstance(columns, Mapping):
            check.wrong_type("columns", columns, "a mapping from names to columns")
        self.columns = dict(columns)
        self.sort = tuple(check.texts("sort", sort))
        self.key = _find_key(call, model, key)
        self.filter_model = filters
        self.filters = () if filters is None else read_filters(filters)
        self.max_limit: int = check.number("max_limit", max_limit, least=1, most=_MOST_LIMIT)
        self.limit: int = check.number("limit", limit, least=1, most=max_limit)
        self.count = check.flag("count", count)
        check.text("default_sort", default_sort)
        try:
            self.default_terms = parse_sort(default_sort, self.sort) if default_sort else ()
        except ValueError as error:
            raise ValueError(f"{call}(default_sort={default_sort!r:.100}): {error}") from None
        self._check_fields(call)
        self.__signature__ = self._build_signature()

    def _check_fields(self, call: str) -> None:
        """Rejects names of fields that the results don't have."""
        named = [*self.sort, *self.key, *(each.field for each in self.filters)]
        for name in named:
            if name not in self.columns and not _has_field(self.model, name):
                raise ValueError(
                    f"{call}(): {self.model.__name__} has no field {name!r}: columns={{...}} "
                    "adds columns of other tables"
                )
        for each in self.filters:
            if each.name in (self.selected_by, "limit", "sort"):
                raise ValueError(
                    f"{call}(): the filter {each.name!r} has the name of a parameter "
                    "of the page: rename it, and name the field of the results in Filter()"
                )

    def _build_signature(self) -> inspect.Signature:
        """Returns the parameters that `kit.typed` reads, with their constraints and descriptions.

        The names in a sort are checked later, so that the error lists them.
        """
        parameters = [
            self._parameter("c", Context),
            self._parameter(self.selected_by, self.selection, self.first),
            self._parameter(
                "limit",
                Annotated[
                    int,
                    Query(
                        ge=1,
                        le=self.max_limit,
                        description="The maximum number of results on a page.",
                    ),
                ],
                self.limit,
            ),
        ]
        if self.sort:
            names = "|".join(self.sort)
            meta = msgspec.Meta(extra_json_schema={"pattern": f"^-?({names})(,-?({names}))*$"})
            told = (
                f"Fields to sort by, separated by commas: {', '.join(self.sort)}. Prefix a field "
                "with - for descending order."
            )
            kind = Annotated[str | None, meta, Query(description=told)]
            parameters.append(self._parameter("sort", kind, None))
        if self.filter_model is not None:
            parameters.append(self._parameter("filters", Annotated[self.filter_model, Query()]))
        return inspect.Signature(parameters)

    @staticmethod
    def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> Any:
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
        )

    def _read_terms(self, sort: str | None) -> tuple[Term, ...]:
        try:
            terms = self.default_terms if sort is None else parse_sort(sort, self.sort)
        except ValueError as error:
            raise _invalid("sort", str(error)) from None
        return complete(terms, self.key)

    def _check_limit(self, limit: int | None) -> int:
        if limit is None:
            limit = self.limit
        if not 1 <= limit <= self.max_limit:
            raise _invalid("limit", f"Expected 1 to {self.max_limit}, got {limit}")
        return limit

    def _read_conditions(self, filters: Any) -> tuple[Condition, ...]:
        found = () if filters is None else list_conditions(self.filters, filters)
        for each in found:
            values = each.value if isinstance(each.value, _LISTS) else (each.value,)
            for value in values:
                _check_storable(each.name, value)
        return found


class CursorPages(_Pages[F]):
    """A dependency that provides a `PageRequest`; see `cursor_pages`."""

    selected_by = "cursor"
    selection = Annotated[
        str | None, Query(description="The position of the page: next or prev of another page.")
    ]
    first = None

    def __init__(self, *options: Any, secret: str | None) -> None:
        self.secret = None
        if secret is not None:
            self.secret = OptionChecks("cursor_pages").text("secret", secret).encode()
        super().__init__(*options)

    def __call__(
        self,
        c: Context[Any, Any] | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        sort: str | None = None,
        filters: F | None = None,
    ) -> PageRequest[F]:
        """Returns the request for a page; also without a context, e.g. in a unit test.

        Raises:
            RequestValidationError: If the sort, the limit or the cursor is invalid: a 400.
        """
        terms = self._read_terms(sort)
        position = None
        if cursor is not None:
            codecs = None if c is None else c.codecs
            try:
                position = decode_cursor(cursor, terms, self.secret, codecs)
            except CursorError as error:
                raise _invalid("cursor", str(error)) from None
        given: Any = filters
        conditions = self._read_conditions(given)
        return PageRequest(self._check_limit(limit), given, conditions, terms, position, self, c)


class NumberedPages(_Pages[F]):
    """A dependency that provides a `NumberedPageRequest`; see `numbered_pages`."""

    selected_by = "page"
    selection = Annotated[int, Query(ge=1, le=_LAST_PAGE, description="The number of the page.")]
    first = 1

    def __call__(
        self,
        c: Context[Any, Any] | None = None,
        page: int = 1,
        limit: int | None = None,
        sort: str | None = None,
        filters: F | None = None,
    ) -> NumberedPageRequest[F]:
        """Returns the request for a page; also without a context, e.g. in a unit test.

        Raises:
            RequestValidationError: If the sort, the limit or the number is invalid: a 400.
        """
        if not 1 <= page <= _LAST_PAGE:
            raise _invalid("page", f"Expected 1 to {_LAST_PAGE}, got {page}")
        given: Any = filters
        conditions = self._read_conditions(given)
        terms = self._read_terms(sort)
        return NumberedPageRequest(
            page, self._check_limit(limit), given, conditions, terms, self, c
        )


@overload
def cursor_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: type[F],
    columns: Mapping[str, Any] = ...,
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = False,
    secret: str | None = None,
) -> CursorPages[F]: ...
@overload
def cursor_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: None = None,
    columns: Mapping[str, Any] = ...,
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = False,
    secret: str | None = None,
) -> CursorPages[None]: ...
def cursor_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: Any = None,
    columns: Mapping[str, Any] = {},
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = False,
    secret: str | None = None,
) -> CursorPages[Any]:
    """Creates a dependency for pages with cursors, which clients follow in both directions.

        book_pages = cursor_pages(BookRow, sort=["year", "title"], filters=BookFilter)

        @app.get("/books")
        @typed
        async def list_books(
            page: Annotated[PageRequest[BookFilter], Depends(book_pages)], session: Session
        ) -> Page[Book]:
            return (await paginate(session, select(BookRow), page)).into(Book)

    A cursor stands for a position in the order, not for a number of results. If rows are added or
    removed between two requests, no other row moves to another page, and late pages are as fast as
    early ones. The dependency reads the parameters `limit`, `cursor`, `sort` and those of the
    filter model, and sets the Link header with the relations `first`, `prev` and `next` (RFC 8288).

    Args:
        model: The class of the results: a mapped class of SQLAlchemy, or the class of the objects
            in a list.
        sort: The fields that clients may sort by.
        default_sort: The order without a `sort`, such as `-year,title`. Default: by the key.
        filters: A model whose fields become conditions if they are set; see `Filter`.
        columns: Columns of other tables by the names in `sort` and `filters`.
        key: The fields that identify a result; they make the order unambiguous. Default: the
            primary key of a mapped class.
        limit: The number of results on a page, unless the request has a `limit`.
        max_limit: The maximum of `limit`.
        count: Whether all results are counted for `total`.
        secret: Signs the cursors, so that clients can't forge them. Without it, they are only
            validated; a forged cursor reaches only results that the client could read anyway.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If the model has no such field, or there is no key.
    """
    return CursorPages(
        "cursor_pages",
        model,
        sort,
        default_sort,
        filters,
        columns,
        key,
        limit,
        max_limit,
        count,
        secret=secret,
    )


@overload
def numbered_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: type[F],
    columns: Mapping[str, Any] = ...,
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = True,
) -> NumberedPages[F]: ...
@overload
def numbered_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: None = None,
    columns: Mapping[str, Any] = ...,
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = True,
) -> NumberedPages[None]: ...
def numbered_pages(
    model: Any,
    *,
    sort: Sequence[str] = (),
    default_sort: str = "",
    filters: Any = None,
    columns: Mapping[str, Any] = {},
    key: str | Sequence[str] | None = None,
    limit: int = 20,
    max_limit: int = 100,
    count: bool = True,
) -> NumberedPages[Any]:
    """Creates a dependency for pages with numbers, e.g. for the tables of an admin interface.

    The dependency reads `page` instead of `cursor`. The Link header has the relations `first`,
    `prev`, `next` and, if the results are counted, `last`. The database reads the rows of all pages
    before the requested one.

    Args:
        model: See `cursor_pages`.
        sort: See `cursor_pages`.
        default_sort: See `cursor_pages`.
        filters: See `cursor_pages`.
        columns: See `cursor_pages`.
        key: See `cursor_pages`.
        limit: See `cursor_pages`.
        max_limit: See `cursor_pages`.
        count: Whether all results are counted, for `total` and `pages`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If the model has no such field, or there is no key.
    """
    return NumberedPages(
        "numbered_pages",
        model,
        sort,
        default_sort,
        filters,
        columns,
        key,
        limit,
        max_limit,
        count,
    )


def _find_key(call: str, model: Any, key: str | Sequence[str] | None) -> tuple[str, ...]:
    if key is not None:
        given = (key,) if isinstance(key, str) else key
        names = tuple(OptionChecks(call).texts("key", given))
    else:
        mapper: Any = getattr(model, "__mapper__", None)
        columns = () if mapper is None else mapper.primary_key
        names = tuple(mapper.get_property_by_column(each).key for each in columns)
    if not names:
        raise ValueError(
            f"{call}() needs key=...: the fields that identify a {model.__name__}, which make the "
            "order unambiguous"
        )
    return names


def _has_field(model: Any, name: str) -> bool:
    marks = (getattr(model, mark, ()) for mark in _MARKS_OF_FIELDS)
    named = ({getattr(each, "name", each) for each in fields} for fields in marks)
    return hasattr(model, name) or any(name in names for names in named)


def _check_storable(name: str, value: Any) -> None:
    """Rejects what no database can compare with its values: their drivers raise errors."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _invalid(name, "Integer value out of range")
    if isinstance(value, str) and "\0" in value:
        raise _invalid(name, "Text must not contain NUL")


def _invalid(name: str, message: str) -> RequestValidationError:
    error = FieldError(path=name, message=message, type=f"{name}_invalid")
    return RequestValidationError("query", [error])
