# SPDX-License-Identifier: MIT
"""An app with every feature that reaches a document, for programs that read documents.

Its answers depend on the request alone, so that generated clients can check what they receive.
"""

from __future__ import annotations

import base64
import datetime
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import every_feature_models as models
from every_feature_models import Answer, Box, Cat, Job, Shape
from msgspec import Meta

from kit import Context, HTTPException, Kit, Response
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.combine import some
from kit.interface.metadata import attach
from kit.jwt import jwt, sign
from kit.openapi import Problem, describe, openapi
from kit.pages import (
    NumberedPage,
    NumberedPageRequest,
    Page,
    PageRequest,
    cursor_pages,
    numbered_pages,
    paginate,
)
from kit.problem_details import problem_details
from kit.rate_limit import rate_limit
from kit.typed import (
    Body,
    Cookie,
    Depends,
    Endpoints,
    Form,
    Header,
    Partial,
    Path,
    Query,
    typed,
)
from kit.validator import validator

TOKEN = "s3cret"
KEY = "k3y"
USER, PASSWORD = "ada", "pa55word"
SECRET = "a secret of at least thirty-two bytes"
JWT = sign({"sub": "ada"}, SECRET, "HS256")
BOOKS = [models.Book(number, f"Volume {number}", 1900 + number) for number in range(1, 26)]
ROWS = [models.BookRow(each.id, each.title, each.year, "not shown") for each in BOOKS]
LIMIT_BYTES = 100_000


def find_row(number: int) -> models.BookRow:
    """Returns a book by its number."""
    if not 1 <= number <= len(ROWS):
        raise HTTPException(404, "There is no such book")
    return ROWS[number - 1]


# --- Parameters -------------------------------------------------------------------------------

parameters = Kit()


@parameters.get("/path/:number{[0-9]+}/:name{[a-z]+}/:day")
@typed
async def read_path(number: int, name: str, day: datetime.date) -> dict[str, str]:
    """Reads values of a path."""
    return {"number": str(number), "name": name, "day": day.isoformat()}


@parameters.get("/optional/:word?")
@typed
async def read_optional(
    word: Annotated[str | None, Path(description="May be left out")] = None,
) -> Answer:
    """Reads a part of a path that may be left out."""
    return Answer(word or "none")


@parameters.get("/search")
@typed
async def search(
    search: Annotated[models.Search, Query()],
    x_trace: Annotated[str, Header(pattern="^[a-z]*$", max_length=20)] = "",
    theme: Annotated[Literal["light", "dark"] | None, Cookie()] = None,
) -> models.Found:
    """Reads lists and objects of a query, a header and a cookie."""
    return models.Found(
        search.words, search.color, search.after, search.pages, search.limit, x_trace, theme
    )


@parameters.get("/simple")
@typed
async def read_simple(
    q: Annotated[str, Query(min_length=1, examples=["dune"])],
    ids: list[uuid.UUID] = (),  # type: ignore[assignment]
    is_new: bool = False,
    at: datetime.datetime | None = None,
    rank: models.Rank = models.Rank.LOW,
    old_name: Annotated[str | None, Query(deprecated=True)] = None,
) -> dict[str, Any]:
    """Reads values of simple types."""
    return {"q": q, "ids": ids, "is_new": is_new, "at": at, "rank": rank, "old_name": old_name}


@parameters.get("/headers", use=validator("header", models.Trace))
@describe(responses={200: models.Trace})
async def read_headers(c: Context) -> Response:
    """Reads a model of headers with a validator."""
    return c.json(c.req.valid("header"))


@parameters.get("/cookies", use=validator("cookie", models.Preferences))
@describe(responses={200: models.Preferences})
async def read_cookies(c: Context) -> Response:
    """Reads a model of cookies with a validator."""
    return c.json(c.req.valid("cookie"))


@parameters.get("/limits", use=validator("query", models.Limits))
@describe(responses={200: models.Limits})
async def read_limits(c: Context) -> Response:
    """Reads a pydantic model of a query with a validator."""
    return c.json(c.req.valid("query"))


@parameters.get("/by-name/:number")
async def read_by_name(c: Context) -> Response:
    """Reads values one by one.

    Raises:
        HTTPException: 409 if the number is 42.
    """
    number = c.req.param("number", int)
    factor = c.req.query("factor", int, default=1)
    words = c.req.queries("word", str)
    if number == 42:
        raise HTTPException(409, "Not that one")
    return c.json({"number": number, "factor": factor, "words": words})


@parameters.on("QUERY", "/query")
@typed
async def query_things(search: models.Search) -> list[str]:
    """Searches with a body (RFC 10008)."""
    return search.words


# --- Bodies -----------------------------------------------------------------------------------

bodies = Kit()


@bodies.post("/thing")
@typed(status=201)
async def create_thing(thing: models.Thing) -> models.Thing:
    """Creates a thing with a field of every type."""
    return thing


@bodies.patch("/thing/:id")
@typed
async def change_thing(
    id: Annotated[int, Meta(ge=1)], changes: Partial[models.Tree]
) -> models.Tree:
    """Changes some fields."""
    return changes.apply(models.Tree(f"tree {id}"))


@bodies.post("/tree")
@typed
async def echo_tree(tree: models.Tree) -> models.Tree:
    """Returns a recursive Struct."""
    return tree


@bodies.post("/person")
@typed
async def echo_person(person: models.Person) -> models.Person:
    """Returns a recursive dataclass."""
    return person


@bodies.post("/address")
@typed
async def echo_address(address: models.Address) -> models.Address:
    """Returns a TypedDict."""
    return address


@bodies.post("/point")
@typed
async def echo_point(point: models.Point) -> models.Point:
    """Returns an object of an attrs class."""
    return point


@bodies.post("/item")
@typed
async def echo_item(item: models.Item) -> models.Item:
    """Returns a recursive pydantic model."""
    return item


@bodies.post("/account")
@typed
async def echo_account(account: models.Account) -> models.Account:
    """Returns a pydantic model whose output differs from its input."""
    return account


@bodies.post("/sparse")
@typed
async def echo_sparse(sparse: models.Sparse) -> models.Sparse:
    """Returns a Struct that leaves out defaults."""
    return sparse


@bodies.post("/shape")
@typed
async def echo_shape(shape: Shape) -> Shape:
    """Returns a tagged union that contains itself."""
    return shape


@bodies.post("/owner")
@typed
async def echo_owner(owner: models.Owner) -> models.Owner:
    """Returns a discriminated union within a pydantic model."""
    return owner


@bodies.post("/boxes")
@typed
async def echo_boxes(boxes: list[Box[models.Point]]) -> list[Box[models.Point]]:
    """Returns a list of generic Structs."""
    return boxes


@bodies.post("/box")
@typed
async def echo_box(box: Box[str | int | None]) -> Box[str | int | None]:
    """Returns a generic Struct of a union of simple types."""
    return box


@bodies.post("/pair")
@typed
async def echo_pair(
    pair: Annotated[tuple[str, int], Body()],
) -> tuple[str, int]:
    """Returns a tuple."""
    return pair


@bodies.post("/embedded")
@typed
async def echo_embedded(
    name: Annotated[str, Body(embed=True)],
    point: Annotated[models.Point | None, Body(embed=True)] = None,
) -> dict[str, Any]:
    """Returns several values of one body."""
    return {"name": name, "point": point}


@bodies.post("/optional")
@typed
async def echo_optional(point: models.Point | None = None) -> models.Point | None:
    """Returns a body that may be left out, or null."""
    return point or models.Point(0)


@bodies.post("/mapping")
@typed
async def echo_mapping(counts: dict[str, int]) -> dict[str, int]:
    """Returns an object with any names."""
    return counts


@bodies.post("/login")
@typed
async def login(form: Annotated[models.Login, Form()]) -> dict[str, str]:
    """Reads a form."""
    return {"username": form.username, "remember": str(form.remember)}


@bodies.post("/album")
@typed(status=201)
async def create_album(album: Annotated[models.Album, Form()]) -> models.AlbumSummary:
    """Reads a form with files and lists."""
    return models.AlbumSummary(
        album.title,
        album.cover.size,
        album.cover.type,
        [each.name for each in album.pictures],
        album.years,
    )


@bodies.put("/raw")
@typed
async def read_raw(
    body: Annotated[bytes, Body()], content_type: Annotated[str, Header()] = ""
) -> models.Signed:
    """Reads a body of any type as it was sent."""
    return models.Signed(len(body), content_type.partition(";")[0])


@bodies.put("/image")
@typed
async def read_image(
    body: Annotated[bytes, Body(media_type=["image/png", "image/webp"])],
) -> models.Signed:
    """Reads an image."""
    return models.Signed(len(body), "image")


@bodies.post("/text")
@describe(request_body={"required": True, "content": {"text/plain": {"schema": str}}})
async def read_text(c: Context) -> Response:
    """Reads a text."""
    return c.text((await c.req.text()).upper())


@bodies.post("/validated", use=validator("json", models.Tree))
@describe(responses={201: models.Tree})
async def echo_validated(c: Context) -> Response:
    """Reads a body with a validator."""
    return c.json(c.req.valid("json"), 201)


@bodies.post("/read")
async def read_in_handler(c: Context) -> Response:
    """Reads a body in the handler."""
    point = await c.req.json(models.Point)
    return c.json(point, 202)


@bodies.post("/limited", use=body_limit(max_size=1000))
@typed
async def echo_limited(words: Annotated[list[str], Body()]) -> list[str]:
    """Reads a body of at most 1,000 bytes."""
    return words


# --- Results ----------------------------------------------------------------------------------

results = Kit()
api = Endpoints(results)


@api.get("/filtered/:id", response=models.Book)
async def read_filtered(id: int) -> models.BookRow:
    """Returns the declared fields of a row."""
    return find_row(id)


@api.get("/list", response=list[models.Book])
async def list_filtered() -> list[models.BookRow]:
    """Returns a list of rows."""
    return ROWS[:3]


@api.get("/pages")
async def list_pages(
    page: Annotated[
        PageRequest[models.BookFilter],
        Depends(
            cursor_pages(
                models.Book,
                key="id",
                sort=["year", "title"],
                filters=models.BookFilter,
                limit=5,
            )
        ),
    ],
) -> Page[models.Book]:
    """Returns a page by a cursor."""
    return paginate(BOOKS, page)


@api.get("/numbered")
async def list_numbered(
    page: Annotated[
        NumberedPageRequest[None],
        Depends(numbered_pages(models.Book, key="id", sort=["title"], limit=5)),
    ],
) -> NumberedPage[models.Book]:
    """Returns a page by its number."""
    return paginate(BOOKS, page)


@api.get("/union/:kind")
async def read_union(kind: Literal["book", "text", "none"]) -> models.Book | Answer | None:
    """Returns one of several types."""
    if kind == "none":
        return None
    return BOOKS[0] if kind == "book" else Answer("a text")


@api.get("/holder")
async def read_holder() -> models.Holder:
    """Returns a Struct with a pydantic model in it."""
    return models.Holder(models.Item(name="a"), "b")


@api.get("/mixed/:kind")
async def read_mixed(kind: Literal["cat", "circle"]) -> Cat | models.Circle:
    """Returns a pydantic model or a Struct."""
    return Cat(kind="cat") if kind == "cat" else models.Circle(3)


@api.get("/shapes")
async def list_shapes() -> list[Shape]:
    """Returns members of a tagged union."""
    return [models.Circle(1), models.Group([models.Square(2)])]


@api.delete("/nothing/:id")
async def delete_nothing(id: int) -> None:
    """Deletes a book."""
    find_row(id)


@api.get("/pair")
async def read_pair() -> tuple[int, str]:
    """Returns a tuple."""
    return (1, "x")


@results.get("/response/:id")
async def read_response(c: Context) -> Response:
    """Returns a response of the handler's own.

    Returns:
        The title.
    """
    return c.text(find_row(c.req.param("id", int)).title)


@results.get("/file")
@describe(responses={200: {"description": "The file", "content": {"application/pdf": bytes}}})
async def read_file(c: Context) -> Response:
    """Returns a file."""
    headers = {
        "content-type": "application/pdf",
        "content-disposition": 'attachment; filename="book.pdf"',
    }
    return c.body(b"%PDF-1.7", 200, headers)


@results.get("/cached")
@describe(responses={200: Answer})
async def read_cached(c: Context) -> Response:
    """Returns 304 if the client has it already."""
    if c.req.header("if-none-match") == '"one"':
        return c.body(None, 304, {"etag": '"one"'})
    return c.json(Answer("fresh"), 200, {"etag": '"one"'})


@results.get("/page")
async def read_page(c: Context) -> Response:
    """Returns HTML."""
    return c.html("<h1>Hello</h1>")


@results.get("/moved")
async def read_moved(c: Context) -> Response:
    """Redirects."""
    return c.redirect("/results/list", 302)


@api.get("/events")
async def read_events(count: Annotated[int, Query(ge=0, le=10)] = 3) -> AsyncIterator[models.Event]:
    """Sends items as JSON Lines or server-sent events."""
    for number in range(count):
        yield models.Event(number)


@results.post("/jobs")
@describe(
    summary="Starts a job",
    description="It is done **later**.",
    tags=["jobs", "results"],
    operation_id="start_job",
    responses={
        202: Job,
        409: models.Fault,
        503: "No worker is free",
        "default": Problem,
    },
    request_body={
        "description": "What to do",
        "required": True,
        "content": {
            "application/json": {
                "schema": models.Point,
                "examples": {"origin": {"summary": "The origin", "value": {"x": 0, "y": 0}}},
            }
        },
    },
    deprecated=True,
)
async def start_job(c: Context) -> Response:
    point = await c.req.json(models.Point)
    if point.x < 0:
        return c.json(models.Fault(1, "It is negative"), 409)
    return c.json(Job(point.x), 202)


@results.get("/hidden")
@describe(hidden=True)
async def read_hidden(c: Context) -> Response:
    """Is not in the document."""
    return c.text("hidden")


@results.on(["PUT", "PATCH"], "/both")
@typed
async def change_both(answer: Answer) -> Answer:
    """Answers two methods."""
    return answer


# --- Guards -----------------------------------------------------------------------------------

guarded = Kit()
api_key = bearer_auth(header_name="X-Key", prefix="", token=KEY)
bearer = bearer_auth(token=TOKEN, realm="every feature")


async def get_user(authorization: Annotated[str, Header()] = "") -> str:
    """Returns who sent the request, by an access token."""
    if authorization != f"Bearer {TOKEN}":
        raise HTTPException(401, "Log in first", headers={"WWW-Authenticate": "Bearer"})
    return USER


async def require_admin(user: Annotated[str, Depends(get_user)]) -> None:
    """Lets nobody but the admin pass."""
    if user != USER:
        raise HTTPException(403, "Needs the role admin")


attach(get_user, security={"type": "http", "scheme": "bearer"})


async def tell_name(c: Context) -> Response:
    """Tells who sent the request."""
    return c.json(Answer("you"))


for path, guard in {
    "bearer": bearer,
    "basic": basic_auth(username=USER, password=PASSWORD),
    "key": api_key,
    "jwt": jwt(secret=SECRET, alg="HS256"),
    "depends": Depends(require_admin),
    "either": some(api_key, bearer),
}.items():
    described = describe(operation_id=f"tell_{path}", responses={200: Answer})
    guarded.get(f"/{path}", described(lambda c: tell_name(c)), use=guard)


@guarded.get("/oauth")
@describe(security=[{"login": ["read"]}])
@typed
async def tell_oauth(user: Annotated[str, Depends(get_user)]) -> Answer:
    """Tells who sent the request, by an access token of OAuth."""
    return Answer(user)


@guarded.post("/token")
@typed
async def create_token(
    username: Annotated[str, Form()],
    password: Annotated[str, Form()],
    grant_type: Annotated[Literal["password"] | None, Form()] = None,
) -> dict[str, str]:
    """Gives an access token for a password."""
    if (username, password) != (USER, PASSWORD):
        raise HTTPException(401, "Wrong password", headers={"WWW-Authenticate": "Bearer"})
    return {"access_token": TOKEN, "token_type": "bearer"}


# --- The app ----------------------------------------------------------------------------------

DESCRIPTION = "An API with every feature."


def make_app() -> Kit:
    """Makes the app."""
    app = Kit(method_not_allowed=True)
    problem_details(app)
    openapi(
        app,
        info={
            "title": "Every feature",
            "version": "1.0.0",
            "description": DESCRIPTION,
            "contact": {"name": "The authors", "url": "https://example.com"},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        servers=[{"url": "/", "description": "This server"}],
        tags=[
            {"name": "bodies", "description": "Bodies of requests."},
            {"name": "guarded", "description": "Routes that need credentials."},
            {"name": "jobs", "description": "What is done later."},
            {"name": "parameters", "description": "Paths, queries, headers and cookies."},
            {"name": "results", "description": "Bodies of responses."},
        ],
        security_schemes={
            "login": {
                "type": "oauth2",
                "flows": {
                    "password": {"tokenUrl": "/guarded/token", "scopes": {"read": "Read books"}}
                },
            }
        },
    )
    app.use("/results/*", rate_limit("100000/minute", name="results"))
    app.use("/bodies/*", body_limit(max_size=LIMIT_BYTES))
    app.route("/parameters", parameters)
    app.route("/bodies", bodies)
    app.route("/results", results)
    app.route("/guarded", guarded)
    return app


BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
app = make_app()
"""What servers are told to serve: `every_feature_app:app`."""
