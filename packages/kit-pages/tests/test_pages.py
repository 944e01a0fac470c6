# SPDX-License-Identifier: MIT
"""Pages of lists and of rows: the same requests give the same pages."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import uuid
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict
from urllib.parse import parse_qs

import msgspec
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    joinedload,
    mapped_column,
    relationship,
)
from sqlalchemy.pool import StaticPool

from kit import Kit
from kit.interface import RequestValidationError
from kit.openapi import build_document
from kit.pages import (
    Filter,
    NumberedPage,
    NumberedPageRequest,
    Page,
    PageRequest,
    cursor_pages,
    numbered_pages,
    paginate,
)
from kit.pages.sqlalchemy import paginate as paginate_rows
from kit.pages.sqlalchemy import paginate_sync
from kit.typed import Depends, typed


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@functools.total_ordering
class Key:
    def __init__(self, text: str) -> None:
        if not text.startswith("k"):
            raise ValueError("it is no key")
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __lt__(self, other: Key) -> bool:
        return self.text < other.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


class Item(Struct):
    key: Key


class Base(DeclarativeBase):
    pass


class AuthorRow(Base):
    __tablename__ = "author"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    books: Mapped[list[BookRow]] = relationship(back_populates="author")


class BookRow(Base):
    __tablename__ = "book"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    year: Mapped[int | None]
    price: Mapped[float | None] = mapped_column(default=None)
    color: Mapped[Color | None] = mapped_column(default=None)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("author.id"), default=None)
    author: Mapped[AuthorRow | None] = relationship(back_populates="books")


class Book(Struct):
    id: int
    title: str
    year: int | None = None


class BookFilter(Struct):
    title: str | None = None
    since: Annotated[int | None, Filter("ge", "year")] = None
    before: Annotated[int | None, Filter("lt", "year")] = None
    named: Annotated[str | None, Filter("contains", "title")] = None
    begins: Annotated[str | None, Filter("starts_with", "title")] = None
    years: Annotated[list[int], Filter("in", "year")] = []
    id: list[int] = []
    not_id: Annotated[list[int], Filter("not_in", "id")] = []
    other_than: Annotated[str | None, Filter("ne", "title")] = None
    after: Annotated[int | None, Filter("gt", "year")] = None
    until: Annotated[int | None, Filter("le", "year")] = None
    undated: Annotated[bool | None, Filter("is_null", "year")] = None


OPTIONS: dict[str, Any] = {"sort": ["year", "title"], "filters": BookFilter, "limit": 2}
of_rows = cursor_pages(BookRow, **OPTIONS, count=True)
of_list = cursor_pages(Book, **OPTIONS, key="id", count=True)
numbered_rows = numbered_pages(BookRow, **OPTIONS)
numbered_list = numbered_pages(Book, **OPTIONS, key="id")

books = [
    Book(1, "Momo", 1973),
    Book(2, "Jim Button", 1960),
    Book(3, "The Neverending Story", 1979),
    Book(4, "The Mirror", None),
    Book(5, "Momo", None),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        yield session
    engine.dispose()


def fill(session: Session, given: list[Book]) -> None:
    session.query(BookRow).delete()
    session.query(AuthorRow).delete()
    session.add_all(BookRow(id=b.id, title=b.title, year=b.year) for b in given)
    session.flush()
    session.expunge_all()


# --- Walking ----------------------------------------------------------------------------------


class Walk:
    """Gets pages of the same results from a list and from a database."""

    def __init__(self, session: Session, given: list[Book], **request: Any) -> None:
        self.session, self.given, self.request = session, given, request
        fill(session, given)

    def page(self, cursor: str | None) -> Page[Book]:
        page = of_list(cursor=cursor, **self.request)
        found = paginate(self.given, page)
        rows = paginate_sync(
            self.session, select(BookRow), of_rows(cursor=cursor, **self.request)
        ).into(Book)
        assert rows == found
        return found

    def forward(self) -> list[Page[Book]]:
        pages = [self.page(None)]
        while pages[-1].next is not None:
            pages.append(self.page(pages[-1].next))
        return pages

    def back(self, from_page: Page[Book]) -> list[Page[Book]]:
        pages = [from_page]
        while pages[-1].prev is not None:
            pages.append(self.page(pages[-1].prev))
        return pages


years = st.none() | st.integers(1, 3)
shelves = st.lists(st.tuples(st.sampled_from(["", "a", "A", "b", "c%"]), years), max_size=9).map(
    lambda found: [Book(number, *each) for number, each in enumerate(found, 1)]
)
sorts = st.sampled_from(["year", "-year", "title", "-title", "-year,title", "title,-year", None])


@settings(deadline=None)
@given(shelf=shelves, sort=sorts, limit=st.integers(1, 4), order=st.randoms())
def test_every_result_is_on_one_page(
    session: Session, shelf: list[Book], sort: str | None, limit: int, order: Any
) -> None:
    """Also with equal and missing values, and on the way back."""
    order.shuffle(shelf)
    walk = Walk(session, shelf, sort=sort, limit=limit)
    pages = walk.forward()
    seen = [each for page in pages for each in page.items]
    assert sorted(each.id for each in seen) == sorted(each.id for each in shelf)
    assert {len(page.items) for page in pages[:-1]} <= {limit}
    assert {page.total for page in pages} == {len(shelf)}
    for field in reversed((sort or "id").split(",")):
        name = field.removeprefix("-")
        values = [getattr(each, name) for each in seen]
        if field == (sort or "id").split(",")[0]:
            given = sorted(values, key=lambda v: (v is None, v or type(v)()))
            assert values == (given if not field.startswith("-") else given[::-1])
    back = walk.back(pages[-1])
    assert [each for page in reversed(back) for each in page.items] == seen


@settings(deadline=None)
@given(
    shelf=shelves.filter(bool),
    sort=sorts,
    limit=st.integers(1, 3),
    new=st.tuples(st.sampled_from(["a", "b"]), years),
    data=st.data(),
)
def test_changes_move_no_other_result(
    session: Session, shelf: list[Book], sort: Any, limit: int, new: Any, data: Any
) -> None:
    walk = Walk(session, shelf, sort=sort, limit=limit)
    first = walk.page(None)
    gone = data.draw(st.sampled_from(first.items)) if first.items else None
    walk.given = [each for each in shelf if each is not gone] + [Book(99, *new)]
    fill(session, walk.given)
    seen = [*first.items]
    cursor = first.next
    while cursor is not None:
        page = walk.page(cursor)
        seen += page.items
        cursor = page.next
    ids = [each.id for each in seen if each.id != 99]
    assert sorted(ids) == sorted(each.id for each in shelf)
    assert len({each.id for each in seen}) == len(seen)


@settings(deadline=None)
@given(shelf=shelves, sort=sorts, limit=st.integers(1, 4))
def test_numbered_pages(session: Session, shelf: list[Book], sort: Any, limit: int) -> None:
    fill(session, shelf)
    seen: list[Book] = []
    for number in range(1, len(shelf) // limit + 3):
        request = {"page": number, "limit": limit, "sort": sort}
        page = paginate(shelf, numbered_list(**request))
        rows = paginate_sync(session, select(BookRow), numbered_rows(**request)).into(Book)
        assert rows == page
        assert (page.page, page.limit, page.total) == (number, limit, len(shelf))
        assert page.pages == -(-len(shelf) // limit)
        seen += page.items
    assert sorted(each.id for each in seen) == sorted(each.id for each in shelf)


@settings(deadline=None)
@given(
    shelf=shelves,
    filters=st.builds(
        BookFilter,
        title=st.none() | st.sampled_from(["a", "b"]),
        since=years,
        before=years,
        named=st.none() | st.sampled_from(["A", "%", "c"]),
        begins=st.none() | st.sampled_from(["A", "C%"]),
        years=st.lists(st.integers(1, 3), max_size=2),
        id=st.lists(st.integers(1, 3), max_size=2),
        not_id=st.lists(st.integers(1, 3), max_size=2),
        other_than=st.none() | st.sampled_from(["a", "b"]),
        after=years,
        until=years,
        undated=st.none() | st.booleans(),
    ),
)
def test_filters(session: Session, shelf: list[Book], filters: BookFilter) -> None:
    """Those of a list mean the same as in SQL."""
    walk = Walk(session, shelf, filters=filters, limit=20)
    for each in walk.page(None).items:
        assert filters.title in (None, each.title)
        assert filters.since is None or (each.year is not None and each.year >= filters.since)
        assert filters.undated is None or (each.year is None) is filters.undated
        assert not filters.years or each.year in filters.years


# --- Requests ---------------------------------------------------------------------------------

app = Kit()


@app.get("/books")
@typed
async def list_books(page: Annotated[PageRequest[BookFilter], Depends(of_list)]) -> Page[Book]:
    return paginate(books, page)


@app.get("/numbered")
@typed
async def number_books(
    page: Annotated[NumberedPageRequest[BookFilter], Depends(numbered_list)],
) -> NumberedPage[Book]:
    return paginate(books, page)


async def get(url: str, on: Kit = app) -> Any:
    response = await on.request(url)
    return response.status, await response.json(), response.headers.get("link")


def links(header: str) -> dict[str, dict[str, list[str]]]:
    found = {}
    for part in header.split(", "):
        target, _, relation = part.partition(">; rel=")
        assert target.startswith("<?")
        found[json.loads(relation)] = parse_qs(target[2:], keep_blank_values=True)
    return found


def test_a_page_and_its_links(run: Callable[..., Any]) -> None:
    status, found, header = run(get, "/books?sort=-year,title&limit=2&x=%3E%22%0D%0A")
    assert status == 200
    assert [each["id"] for each in found["items"]] == [5, 4]
    assert found["prev"] is None
    assert found["total"] == 5
    target = links(header)
    assert target.keys() == {"first", "next"}
    kept = {"sort": ["-year,title"], "limit": ["2"], "x": ['>"\r\n']}
    assert target["first"] == kept
    assert target["next"] == {**kept, "cursor": [found["next"]]}
    next_url = header.split("<")[2].partition(">")[0]
    status, second, header = run(get, f"/books{next_url}")
    assert [each["id"] for each in second["items"]] == [3, 1]
    assert links(header).keys() == {"first", "prev", "next"}
    assert links(header)["next"]["cursor"] == [second["next"]]
    _, again, header = run(get, f"/books?sort=-year,title&limit=2&cursor={second['prev']}")
    assert again["items"] == found["items"]
    assert links(header).keys() == {"first", "next"}


def test_numbers_and_their_links(run: Callable[..., Any]) -> None:
    status, found, header = run(get, "/numbered?page=2&title=Momo&limit=1")
    assert status == 200
    assert [each["id"] for each in found["items"]] == [5]
    assert (found["page"], found["limit"], found["total"], found["pages"]) == (2, 1, 2, 2)
    assert {name: each.get("page") for name, each in links(header).items()} == {
        "first": None,
        "prev": ["1"],
        "last": ["2"],
    }
    assert run(get, "/numbered?page=0")[0] == 400
    assert run(get, f"/numbered?page={2**40}")[0] == 400
    assert run(get, f"/numbered?page={2**31}")[1]["items"] == []


@pytest.mark.parametrize(
    ("query", "path", "words"),
    [
        ("sort=price", "sort", "Expected year, title, or one of these after -, got 'price'"),
        ("sort=", "sort", "Expected year, title"),
        ("sort=--year", "sort", "Expected year, title"),
        ("sort=year,-year", "sort", "once"),
        ("limit=0", "limit", "1"),
        ("limit=101", "limit", "100"),
        ("cursor=", "cursor", "Invalid cursor"),
        ("cursor=nonsense", "cursor", "Invalid cursor"),
        ("cursor=%E4%B8%AD", "cursor", "Invalid cursor"),
        ("since=x", "since", "int"),
        (f"since={2**63}", "since", "out of range"),
        ("named=a%00", "named", "NUL"),
        (f"years=1&years={-(2**63) - 1}", "years", "out of range"),
    ],
)
def test_invalid_requests(run: Callable[..., Any], query: str, path: str, words: str) -> None:
    status, found, _ = run(get, f"/books?{query}")
    assert status == 400
    (error,) = found["errors"]
    assert error["path"] == path
    assert words in error["message"]


def test_a_cursor_of_another_sort_is_refused(run: Callable[..., Any]) -> None:
    _, found, _ = run(get, "/books?sort=year")
    status, found, _ = run(get, f"/books?sort=title&cursor={found['next']}")
    assert status == 400
    assert found["errors"][0]["message"] == "The cursor belongs to another sort"


def write_cursor(*content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "content",
    [
        [],
        [False, "year,id"],
        [False, "year,id", [["i", "1"]]],
        [False, "year,id", [["i", "1"], ["i", "x"]]],
        [False, "year,id", [["i", str(2**63)], ["i", "1"]]],
        [False, "year,id", [["i", "9" * 5000], ["i", "1"]]],
        [False, "year,id", [["s", "a"], ["i", "1"]]],
        [False, "year,id", [["f", "nan"], ["i", "1"]]],
        [False, "year,id", [["n", "NaN"], ["i", "1"]]],
        [False, "year,id", [["n", "x"], ["i", "1"]]],
        [False, "year,id", [["dt", "now"], ["i", "1"]]],
        [False, "year,id", [["td", str(2**63 - 1)], ["i", "1"]]],
        [False, "year,id", [["dt", "2026-01-01T00:00:00"], ["i", "1"]]],
        [False, "year,id", [["e", "RED"], ["i", "1"]]],
        [False, "year,id", [["?", "1"], ["i", "1"]]],
        [0, "year,id", [None, ["i", "1"]]],
        [False, "year,id", [None, ["i", "1"]], 1],
    ],
)
def test_a_cursor_written_by_a_client_is_refused(session: Session, content: list[Any]) -> None:
    """It never gets to the database, and never is an error of the server."""
    fill(session, books)
    cursor = write_cursor(*content)
    with pytest.raises(RequestValidationError, match="ursor"):
        paginate(books, of_list(cursor=cursor, sort="year"))
    with pytest.raises(RequestValidationError, match="ursor"):
        paginate_sync(session, select(BookRow), of_rows(cursor=cursor, sort="year"))


@given(st.binary(max_size=40))
def test_random_cursors(content: bytes) -> None:
    with pytest.raises(RequestValidationError):
        of_list(cursor=base64.urlsafe_b64encode(content).decode())


def test_signed_cursors() -> None:
    signed = cursor_pages(Book, key="id", limit=2, secret="s3cret")
    found = paginate(books, signed())
    assert found.next is not None
    assert [each.id for each in paginate(books, signed(cursor=found.next)).items] == [3, 4]
    unsigned = paginate(books, cursor_pages(Book, key="id", limit=2)()).next
    other = paginate(books, cursor_pages(Book, key="id", limit=2, secret="other")()).next
    for cursor in (unsigned, other, found.next[:-2] + "AA"):
        with pytest.raises(RequestValidationError, match="Invalid cursor"):
            signed(cursor=cursor)


def test_the_document_has_the_parameters() -> None:
    document: Any = build_document(app)
    operation = document["paths"]["/books"]["get"]
    parameters = {each["name"]: each for each in operation["parameters"]}
    assert parameters["limit"]["schema"] == {
        "type": "integer", "minimum": 1, "maximum": 100, "default": 2
    }  # fmt: skip
    assert "pattern" in json.dumps(parameters["sort"])
    assert "year, title" in parameters["sort"]["description"]
    assert parameters["since"]["schema"]
    assert not any(each.get("required") for each in parameters.values())
    content = operation["responses"]["200"]["content"]["application/json"]
    name = content["schema"]["$ref"].rpartition("/")[2]
    assert name == "Page_Book"
    assert document["components"]["schemas"][name]["properties"].keys() == {
        "items",
        "next",
        "prev",
        "total",
    }
    assert "page" in {each["name"] for each in document["paths"]["/numbered"]["get"]["parameters"]}


# --- Values -----------------------------------------------------------------------------------


class Event(TypedDict):
    id: uuid.UUID
    at: datetime.datetime | None
    value: Any


@pytest.mark.parametrize(
    "values",
    [
        [True, False],
        [1.5, float("inf"), -0.0, float("nan")],
        [decimal.Decimal("1.10"), decimal.Decimal("-2")],
        [b"a", b"\xff", b""],
        ["", "ü\0", "\U0001f600"],
        [datetime.date(2026, 1, 2), datetime.date(1, 1, 1)],
        [datetime.time(1, 2, 3, 4), datetime.time(0)],
        [datetime.timedelta(days=-3, microseconds=1), datetime.timedelta(9)],
        [datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)],
        [uuid.UUID(int=3), uuid.UUID(int=1)],
        [Color.RED, Color.BLUE],
        [-(2**63), 2**63 - 1],
    ],
)
def test_values_of_all_types(values: list[Any]) -> None:
    events = [
        Event(id=uuid.UUID(int=number), at=None, value=value)
        for number, value in enumerate([*values, None, *values])
    ]
    pages = cursor_pages(Event, sort=["value", "at"], key="id", limit=1)
    for sort in ("value", "-value"):
        seen, page = [], paginate(events, pages(sort=sort))
        while True:
            seen += page.items
            if page.next is None:
                break
            page = paginate(events, pages(sort=sort, cursor=page.next))
        assert len({each["id"] for each in seen}) == len(seen) == len(events)


def test_a_value_without_an_order_is_refused() -> None:
    pages = cursor_pages(Event, sort=["value"], key="id", limit=1)
    events = [Event(id=uuid.UUID(int=each), at=None, value=(each,)) for each in range(3)]
    with pytest.raises(TypeError, match="can't be sorted by"):
        paginate(events, pages(sort="value"))


async def test_values_of_classes_that_the_app_encodes_and_decodes() -> None:
    pages = cursor_pages(Item, sort=["key"], key="key", limit=2)
    app = Kit(encoders={Key: str}, decoders={Key: Key})

    @app.get("/")
    @typed
    def read(page: Annotated[PageRequest, Depends(pages)]) -> Page[Item]:
        return paginate([Item(Key(f"k{number}")) for number in range(5)], page)

    seen, cursor = [], ""
    while cursor is not None:
        response = await app.request(f"/?sort=key{cursor and '&cursor='}{cursor}")
        assert response.status == 200
        page = await response.json()
        seen += [each["key"] for each in page["items"]]
        cursor = page["next"]
    assert seen == ["k0", "k1", "k2", "k3", "k4"]


@pytest.mark.parametrize("value", [["own Key", '"x0"'], ["own Key", "5"], ["own Lock", '"k0"']])
async def test_made_up_values_of_such_classes(value: list[str]) -> None:
    pages = cursor_pages(Item, sort=["key"], key="key", limit=2)
    app = Kit(encoders={Key: str}, decoders={Key: Key})

    @app.get("/")
    @typed
    def read(page: Annotated[PageRequest, Depends(pages)]) -> Page[Item]:
        return paginate([], page)

    text = json.dumps([False, "key", [value]])
    cursor = base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()
    response = await app.request(f"/?sort=key&cursor={cursor}")
    assert response.status == 400
    assert (await response.json())["errors"][0]["message"] == "Invalid cursor"


# --- SQLAlchemy -------------------------------------------------------------------------------


def add_authors(session: Session) -> None:
    fill(session, books)
    ende = AuthorRow(id=1, name="Ende")
    session.add(ende)
    for row in session.scalars(select(BookRow).where(BookRow.id < 4)):
        row.author = ende
        row.color = Color.RED if row.id == 1 else Color.BLUE
        row.price = row.id / 3
    session.flush()
    session.expunge_all()


def walk_rows(session: Session, statement: Any, pages: Any, **request: Any) -> list[Any]:
    page = paginate_sync(session, statement, pages(**request))
    seen = [*page.items]
    while page.next is not None:
        page = paginate_sync(session, statement, pages(cursor=page.next, **request))
        seen += page.items
    return seen


def test_columns_of_joined_tables(session: Session) -> None:
    add_authors(session)

    class ByAuthor(Struct):
        author: str | None = None

    pages = cursor_pages(
        BookRow,
        sort=["author", "year"],
        filters=ByAuthor,
        columns={"author": AuthorRow.name},
        limit=1,
    )
    statement = select(BookRow).outerjoin(AuthorRow)
    seen = walk_rows(session, statement, pages, sort="-author,year")
    assert [each.id for each in seen] == [5, 4, 2, 1, 3] or [each.id for each in seen] == [
        4, 5, 2, 1, 3
    ]  # fmt: skip
    seen = walk_rows(session, statement, pages, filters=ByAuthor("Ende"))
    assert [each.id for each in seen] == [1, 2, 3]


def test_several_columns_are_named_tuples(session: Session) -> None:
    add_authors(session)
    statement = select(BookRow.title, AuthorRow.name.label("author")).join(AuthorRow)
    page: Any = paginate_sync(session, statement, of_rows(sort="-year", limit=1))
    assert page.items == [("The Neverending Story", "Ende")]
    assert page.items[0].author == "Ende"
    assert page.total == 3

    class Titled(Struct):
        title: str
        author: str

    assert page.into(Titled).items == [Titled("The Neverending Story", "Ende")]
    scalars = paginate_sync(session, select(BookRow.title), of_rows(sort="title", limit=1))
    assert scalars.items == ["Jim Button"]


def test_collections_that_are_loaded_by_a_join(session: Session) -> None:
    add_authors(session)
    pages = cursor_pages(AuthorRow, count=True)
    statement = select(AuthorRow).options(joinedload(AuthorRow.books))
    page = paginate_sync(session, statement, pages())
    assert [len(each.books) for each in page.items] == [3]
    assert page.total == 1


def test_enumerations_and_floats(session: Session) -> None:
    add_authors(session)
    pages = cursor_pages(BookRow, sort=["color", "price"], limit=1)
    for sort in ("color", "-color", "price", "-price"):
        seen = walk_rows(session, select(BookRow), pages, sort=sort)
        assert sorted(each.id for each in seen) == [1, 2, 3, 4, 5]
    cursor = write_cursor(False, "color,id", [["e", "GREEN"], ["i", "1"]])
    with pytest.raises(RequestValidationError, match="Invalid cursor"):
        paginate_sync(session, select(BookRow), pages(sort="color", cursor=cursor))


class NoteRow(Base):
    __tablename__ = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    is_read: Mapped[bool | None]


@pytest.mark.parametrize("sort", ["is_read", "-is_read"])
def test_booleans(session: Session, sort: str) -> None:
    session.add_all(NoteRow(is_read=each) for each in (True, False, None, True, None, False))
    session.flush()
    pages = cursor_pages(NoteRow, sort=["is_read"], limit=1)
    seen = walk_rows(session, select(NoteRow), pages, sort=sort)
    assert sorted(each.id for each in seen) == [1, 2, 3, 4, 5, 6]
    session.query(NoteRow).delete()


def test_a_bool_in_place_of_a_number_is_refused(session: Session) -> None:
    pages = cursor_pages(NoteRow)
    with pytest.raises(RequestValidationError, match="Invalid cursor"):
        paginate_sync(
            session, select(NoteRow), pages(cursor=write_cursor(False, "id", [["b", "1"]]))
        )


def test_conditions_of_the_statement_stay(session: Session) -> None:
    fill(session, books)
    statement = select(BookRow).where(func.length(BookRow.title) > 4).order_by(BookRow.title)
    assert [each.id for each in walk_rows(session, statement, of_rows)] == [2, 3, 4]


@pytest.mark.parametrize("name", ["postgresql", "sqlite", "mysql"])
def test_statements_of_databases(name: str) -> None:
    """NULL is in the same place everywhere; where it is by default, nothing is added."""

    class Recording:
        class dialect:  # noqa: N801
            pass

        statements: list[str]

    Recording.dialect.name = name  # type: ignore[attr-defined]
    recording = Recording()
    recording.statements = []

    class Found:
        def unique(self) -> list[Any]:
            return []

    def execute(statement: Any) -> Any:
        recording.statements.append(str(statement))
        return Found()

    recording.execute = execute  # type: ignore[attr-defined]
    pages = cursor_pages(BookRow, sort=["year", "title"])
    paginate_sync(recording, select(BookRow), pages(sort="-year,title"))  # type: ignore[call-overload]
    order = recording.statements[0].partition("ORDER BY ")[2].partition("\n")[0]
    assert (
        order
        == {
            "postgresql": "book.year DESC, book.title ASC, book.id ASC",
            "sqlite": "book.year DESC NULLS FIRST, book.title ASC, book.id ASC",
            "mysql": "CASE WHEN (book.year IS NULL) THEN :param_1 ELSE :param_2 END DESC, "
            "book.year DESC, book.title ASC, book.id ASC",
        }[name]
    )


def test_an_async_session() -> None:
    import asyncio

    rows_app = Kit()

    async def get_session() -> Any:
        engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        async with AsyncSession(engine) as session:
            session.add_all(BookRow(id=b.id, title=b.title, year=b.year) for b in books)
            await session.flush()
            yield session
        await engine.dispose()

    @rows_app.get("/books")
    @typed
    async def list_rows(
        page: Annotated[PageRequest[BookFilter], Depends(of_rows)],
        session: Annotated[AsyncSession, Depends(get_session)],
    ) -> Page[Book]:
        return (await paginate_rows(session, select(BookRow), page)).into(Book)

    @rows_app.get("/numbered")
    @typed
    async def number_rows(
        page: Annotated[NumberedPageRequest[BookFilter], Depends(numbered_rows)],
        session: Annotated[AsyncSession, Depends(get_session)],
    ) -> NumberedPage[str]:
        rows = await paginate_rows(session, select(BookRow), page)
        return rows.map(lambda row: row.title)

    status, found, _ = asyncio.run(get("/books?sort=-year&since=1961", rows_app))
    assert status == 200
    assert found["items"] == [
        {"id": 3, "title": "The Neverending Story", "year": 1979},
        {"id": 1, "title": "Momo", "year": 1973},
    ]
    assert (found["next"], found["total"]) == (None, 2)
    status, found, _ = asyncio.run(get("/numbered?sort=title&page=2", rows_app))
    assert (found["items"], found["pages"]) == (["Momo", "The Mirror"], 3)


# --- Models and mistakes ----------------------------------------------------------------------


@dataclasses.dataclass
class Plain:
    id: int


class Model(pydantic.BaseModel):
    id: int


class ModelFilter(pydantic.BaseModel):
    at_least: Annotated[int | None, Filter("ge", "id")] = None


@pytest.mark.parametrize("model", [Plain, Model])
def test_other_models(run: Callable[..., Any], model: Any) -> None:
    other = Kit()
    pages = cursor_pages(model, key="id", filters=ModelFilter, limit=1)

    async def listing(page: Any) -> Any:
        return paginate([model(id=each) for each in range(3)], page).into(Model)

    listing.__annotations__ = {
        "page": Annotated[PageRequest[ModelFilter], Depends(pages)],
        "return": Page[Model],
    }
    other.get("/", typed(listing))
    status, found, _ = run(get, "/?at_least=1", other)
    assert status == 200
    assert found["items"] == [{"id": 1}]
    schema = build_document(other)["paths"]["/"]["get"]["responses"]["200"]["content"]
    assert "Page_Model" in json.dumps(schema)


def test_a_page_of_items_converted() -> None:
    page = Page([BookRow(id=1, title="Momo", year=None)], "n", "p", 3)
    assert page.into(Book) == Page([Book(1, "Momo")], "n", "p", 3)
    assert page.map(lambda row: row.title) == Page(["Momo"], "n", "p", 3)
    with pytest.raises(msgspec.ValidationError):
        Page([Plain(1)]).into(Book)


class Twice(Struct):
    year: Annotated[int | None, Filter("ge"), Filter("le")] = None


class Named(Struct):
    limit: int | None = None


class Unknown(Struct):
    isbn: str | None = None


class Empty(Struct):
    pass


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: cursor_pages(Book), ValueError, "needs key="),
        (lambda: cursor_pages(Book, key="isbn"), ValueError, "Book has no field 'isbn'"),
        (lambda: cursor_pages(BookRow, sort=["isbn"]), ValueError, "BookRow has no field 'isbn'"),
        (lambda: cursor_pages(BookRow, filters=Unknown), ValueError, "no field 'isbn'"),
        (lambda: cursor_pages(BookRow, filters=Empty), TypeError, "has no fields"),
        (lambda: cursor_pages(BookRow, filters=int), TypeError, "has no fields"),
        (lambda: cursor_pages(BookRow, filters=Twice), TypeError, "Filter('ge') and Filter('le')"),
        (
            lambda: cursor_pages(BookRow, filters=Named, columns={"limit": BookRow.id}),
            ValueError,
            "the name of a parameter",
        ),
        (
            lambda: cursor_pages(BookRow, sort=["year"], default_sort="title"),
            ValueError,
            "default_sort='title'",
        ),
        (lambda: numbered_pages(BookRow, limit=0), ValueError, "limit"),
        (lambda: numbered_pages(BookRow, limit=101), ValueError, "limit"),
        (lambda: numbered_pages(BookRow, count="no"), TypeError, "count"),  # type: ignore[call-overload]
        (lambda: cursor_pages(BookRow, secret=b"x"), TypeError, "secret"),  # type: ignore[call-overload]
        (lambda: Filter("like"), ValueError, "operator"),  # type: ignore[arg-type]
        (lambda: Filter("eq", 1), TypeError, "field"),  # type: ignore[arg-type]
    ],
)
def test_mistakes(call: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
