# SPDX-License-Identifier: MIT
"""Forms as browsers send them, and objects in forms and queries."""

from __future__ import annotations

import dataclasses
from datetime import date, datetime, time
from enum import Enum
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

import fastapi
import httpx
import msgspec
import pydantic
import pydantic.dataclasses
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import File, Kit
from kit.openapi import build_document
from kit.typed import Cookie, Form, Header, Query, typed
from kit.typed import File as FileMarker
from kit.validator import validator

URLENCODED = {"content-type": "application/x-www-form-urlencoded"}


class Color(Enum):
    RED = "red"


class Status(Enum):
    NONE = ""
    DONE = "done"


class Profile(msgspec.Struct):
    """What a browser sends for each kind of `<input>`."""

    name: str
    age: int | None = None
    height: float | None = None
    born: date | None = None
    wakes: time | None = None
    meeting: datetime | None = None
    color: Color | None = None
    size: Literal["s", "m"] = "s"
    status: Status = Status.DONE
    newsletter: bool = False
    numbers: list[int] = []
    words: list[str] = []
    key: UUID | None = None
    month: str = ""
    volume: float = 50


class PydanticProfile(pydantic.BaseModel):
    name: str
    age: int | None = None
    height: float | None = None
    born: date | None = None
    wakes: time | None = None
    meeting: datetime | None = None
    color: Color | None = None
    size: Literal["s", "m"] = "s"
    status: Status = Status.DONE
    newsletter: bool = False
    numbers: list[int] = []
    words: list[str] = []
    key: UUID | None = None
    month: str = ""
    volume: float = 50


def shows(annotation: Any) -> Any:
    def endpoint(form: Any) -> str:
        data = pydantic.RootModel[Any](form).model_dump_json() if _is_model(form) else None
        return data or msgspec.json.encode(form).decode()

    endpoint.__annotations__ = {"form": annotation, "return": str}
    return typed(endpoint)


def _is_model(value: Any) -> bool:
    return isinstance(value, pydantic.BaseModel)


async def send(
    app: Kit[Any, Any], data: Any, path: str = "/", *, multipart: bool = False
) -> tuple[int, Any]:
    pairs = [*(data.items() if isinstance(data, dict) else data)]
    body, headers = urlencode(pairs).encode(), URLENCODED
    if multipart:
        parts = (
            f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in pairs
        )
        body = ("".join(parts) + "--x--\r\n").encode()
        headers = {"content-type": "multipart/form-data; boundary=x"}
    response = await app.request(path, method="POST", headers=headers, body=body)
    return response.status, await response.json()


EMPTY = [
    *[("name", ""), ("age", ""), ("height", ""), ("born", ""), ("wakes", ""), ("meeting", "")],
    *[("color", ""), ("size", ""), ("status", ""), ("numbers", ""), ("words", ""), ("key", "")],
    *[("month", ""), ("volume", "")],
]
FILLED = [
    *[("name", "Ada"), ("age", "36"), ("height", "1.7"), ("born", "1815-12-10")],
    *[("wakes", "10:00"), ("meeting", "2026-11-28T10:00"), ("color", "red"), ("size", "m")],
    *[
        ("status", "done"),
        ("newsletter", "on"),
        ("numbers", "1"),
        ("numbers", ""),
        ("numbers", "2"),
    ],
    *[("words", "a"), ("words", ""), ("key", "b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a")],
    *[("month", "2026-11"), ("volume", "70")],
]


@pytest.mark.parametrize("multipart", [False, True])
@pytest.mark.parametrize("kind", [Profile, PydanticProfile])
async def test_a_form_in_which_nothing_was_filled_in(kind: Any, *, multipart: bool) -> None:
    app = Kit().post("/", shows(Annotated[kind, Form()]))
    status, answer = await send(app, EMPTY, multipart=multipart)
    assert status == 200
    assert msgspec.json.decode(answer, type=Profile) == Profile("", status=Status.NONE, words=[""])


@pytest.mark.parametrize("multipart", [False, True])
@pytest.mark.parametrize("kind", [Profile, PydanticProfile])
async def test_a_form_that_was_filled_in(kind: Any, *, multipart: bool) -> None:
    app = Kit().post("/", shows(Annotated[kind, Form()]))
    status, answer = await send(app, FILLED, multipart=multipart)
    assert status == 200
    assert msgspec.json.decode(answer, type=Profile) == Profile(
        name="Ada",
        age=36,
        height=1.7,
        born=date(1815, 12, 10),
        wakes=time(10),
        meeting=datetime(2026, 11, 28, 10),
        color=Color.RED,
        size="m",
        newsletter=True,
        numbers=[1, 2],
        words=["a", ""],
        key=UUID("b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a"),
        month="2026-11",
        volume=70,
    )


@pytest.mark.parametrize("kind", [Profile, PydanticProfile])
async def test_validators_do_the_same(kind: Any) -> None:
    app = Kit().post(
        "/", validator("form", kind), lambda c: c.text(repr(c.req.valid("form").numbers))
    )
    for data, numbers in ((EMPTY, "[]"), (FILLED, "[1, 2]")):
        response = await app.request("/", method="POST", headers=URLENCODED, body=urlencode(data))
        assert (response.status, await response.text()) == (200, numbers)


REQUIRED: list[Any] = [int, float, date, time, datetime, Color, UUID, bool, Literal["a"], list[int]]


@pytest.mark.parametrize("kind", REQUIRED)
async def test_required_values_are_missing_if_empty(kind: Any) -> None:
    app = Kit().post("/", shows(Annotated[kind, Form()]))
    model = pydantic.create_model("Model", form=(kind, ...))
    app.post("/model", shows(Annotated[model, Form()]))
    app.post("/struct", shows(Annotated[msgspec.defstruct("Struct", [("form", kind)]), Form()]))
    for path in ("/", "/model", "/struct"):
        for data in ({"form": ""}, {}):
            status, document = await send(app, data, path)
            assert status == 400
            assert [(each["path"], each["type"]) for each in document["errors"]] == [
                ("form", "missing")
            ]


async def test_empty_texts_are_values_of_texts() -> None:
    kinds: list[tuple[Any, str]] = [
        (str, '""'),
        (str | None, '""'),
        (int | str, '""'),
        (UUID | str, '""'),
        (Status, '""'),
        (Literal["", "a"], '""'),
        (list[str], '[""]'),
    ]
    for kind, expected in kinds:
        app = Kit().post("/", shows(Annotated[kind, Form()]))
        assert await send(app, {"form": ""}) == (200, expected)


async def test_an_empty_text_of_a_query_counts_as_sent() -> None:
    app = Kit().get("/", shows(Annotated[int | None, Query()]))
    assert (await app.request("/?form=")).status == 400
    app = Kit().get("/", shows(Annotated[int | Literal[""], Query()]))
    assert (await app.request("/?form=")).status == 200
    assert (await app.request("/?form=x")).status == 400


async def test_validators_of_pydantic_see_empty_texts() -> None:
    class Model(pydantic.BaseModel):
        one: Annotated[int | None, pydantic.BeforeValidator(lambda text: text or None)]
        two: int = 1

        @pydantic.field_validator("two", mode="before")
        @classmethod
        def read(cls, value: Any) -> Any:
            return value or 2

    app = Kit().post("/", shows(Annotated[Model, Form()]))
    assert await send(app, {"one": "", "two": ""}) == (200, '{"one":null,"two":2}')


# --- beside FastAPI -------------------------------------------------------------------------------


async def ask_fastapi(kind: Any, default: Any, data: dict[str, str]) -> tuple[int, Any]:
    app = fastapi.FastAPI()

    def endpoint(form: Any = default) -> str:
        return repr(form)

    endpoint.__annotations__ = {"form": Annotated[kind, fastapi.Form()]}
    app.post("/")(endpoint)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.post("/", data=data)
    return response.status_code, response.json()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (int, "3"),
        (float, "1.5"),
        (bool, "on"),
        (date, "2026-11-28"),
        (time, "10:00"),
        (time, "10:00:30.5"),
        (datetime, "2026-11-28T10:00"),
        (Color, "red"),
        (Literal["a"], "a"),
        (UUID, "b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a"),
    ],
)
async def test_optional_fields_of_forms_are_read_as_by_fastapi(kind: Any, text: str) -> None:
    def endpoint(form: Any = None) -> str:
        return repr(form)

    endpoint.__annotations__ = {"form": Annotated[kind | None, Form()], "return": str}
    app = Kit().post("/", typed(endpoint))
    for data in ({"form": text}, {"form": ""}, {}):
        assert await send(app, data) == await ask_fastapi(kind | None, None, data)
        status, _ = await send(app, {"form": "?"})
        assert status == 400


# --- files ----------------------------------------------------------------------------------------

UNFILLED = (
    b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n'
    b"Content-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n"
)


class WithFile(msgspec.Struct):
    file: File | None = None


class WithRequiredFile(msgspec.Struct):
    file: File


@pytest.mark.parametrize(
    ("annotation", "is_valid"),
    [
        (Annotated[File | None, FileMarker()], False),
        (Annotated[bytes, FileMarker()], False),
        (Annotated[list[File], FileMarker()], False),
        (Annotated[WithFile, Form()], True),
        (Annotated[WithRequiredFile, Form()], False),
    ],
)
async def test_files_that_were_not_chosen_are_absent(annotation: Any, *, is_valid: bool) -> None:
    def endpoint(file: Any) -> str:
        return repr(file)

    def optional(file: Any = None) -> str:
        return repr(file)

    endpoint.__annotations__ = {"file": annotation, "return": str}
    optional.__annotations__ = {"file": annotation, "return": str}
    app = Kit().post("/", typed(endpoint)).post("/optional", typed(optional))
    headers = {"content-type": "multipart/form-data; boundary=x"}
    response = await app.request("/", method="POST", headers=headers, body=UNFILLED)
    if is_valid:
        assert (response.status, await response.json()) == (200, "WithFile(file=None)")
    else:
        [error] = (await response.json())["errors"]
        assert (response.status, error["path"], error["type"]) == (400, "file", "missing")
    response = await app.request("/optional", method="POST", headers=headers, body=UNFILLED)
    assert (response.status, await response.json()) == (200, "None")


@pytest.mark.parametrize(("kind", "status"), [(WithFile, 200), (WithRequiredFile, 400)])
async def test_validators_know_files_that_were_not_chosen(kind: Any, status: int) -> None:
    app = Kit().post("/", validator("form", kind), lambda c: c.text(repr(c.req.valid("form"))))
    headers = {"content-type": "multipart/form-data; boundary=x"}
    response = await app.request("/", method="POST", headers=headers, body=UNFILLED)
    assert response.status == status


# --- objects --------------------------------------------------------------------------------------


class Range(msgspec.Struct):
    low: int
    high: int | None = None
    tags: list[str] = []


@dataclasses.dataclass
class Deep:
    range: Range | None = None
    counts: dict[str, int] = dataclasses.field(default_factory=dict)


class Search(msgspec.Struct):
    range: Range | None = None
    deep: Deep = msgspec.field(default_factory=Deep)
    ranges: list[Range] = []
    tree: Search | None = None
    q: str = ""


class PydanticRange(pydantic.BaseModel):
    low: int
    high: int | None = None
    tags: list[str] = []


@pydantic.dataclasses.dataclass
class PydanticDeep:
    range: PydanticRange | None = None
    counts: dict[str, int] = dataclasses.field(default_factory=dict)


class PydanticSearch(pydantic.BaseModel):
    range: PydanticRange | None = None
    deep: PydanticDeep = PydanticDeep()
    ranges: list[PydanticRange] = []
    tree: PydanticSearch | None = None
    q: str = ""


SEARCHES = [Search, PydanticSearch]


def searches(kind: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.post("/", shows(Annotated[kind, Form()]))
    app.get("/", shows(Annotated[kind, Query()]))
    return app


async def ask(app: Kit[Any, Any], target: str, pairs: list[tuple[str, str]]) -> tuple[int, Any]:
    if target == "form":
        return await send(app, pairs)
    response = await app.request(f"/?{urlencode(pairs)}")
    return response.status, await response.json()


@pytest.mark.parametrize("target", ["query", "form"])
@pytest.mark.parametrize("kind", SEARCHES)
async def test_objects(kind: Any, target: str) -> None:
    pairs = [
        *[("range[low]", "1"), ("range[tags]", "a"), ("range[tags]", "b"), ("q", "x")],
        *[("deep[range][low]", "2"), ("deep[counts][a]", "3"), ("tree[tree][range][low]", "4")],
        *[("ranges[10][low]", "6"), ("ranges[2][low]", "5"), ("ranges[2][tags]", "c")],
    ]
    status, answer = await ask(searches(kind), target, pairs)
    assert status == 200
    assert msgspec.json.decode(answer, type=Search) == Search(
        range=Range(1, tags=["a", "b"]),
        deep=Deep(Range(2), {"a": 3}),
        ranges=[Range(5, tags=["c"]), Range(6)],
        tree=Search(tree=Search(range=Range(4))),
        q="x",
    )


@pytest.mark.parametrize("target", ["query", "form"])
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize(
    ("pairs", "paths"),
    [
        ([("range[low]", "x")], ["range.low"]),
        ([("range[high]", "1")], ["range.low"]),
        ([("range", "1")], ["range"]),
        ([("range", "1"), ("range[low]", "1")], ["range"]),
        ([("range[low][x]", "1")], ["range.low"]),
        ([("range[low][x][y][z]", "1")], ["range.low"]),
        ([("ranges[0][low]", "x"), ("ranges[1][low]", "1")], ["ranges[0].low"]),
        ([("ranges[x][low]", "1")], ["ranges"]),
        ([("ranges[0]", "1")], ["ranges[0]"]),
        ([("deep[counts][a]", "x")], ["deep.counts.a"]),
        ([("tree[range][low]", "x"), ("range[high]", "x"), ("range[low]", "1")], ["range.high"]),
    ],
)
async def test_wrong_objects(
    kind: Any, target: str, pairs: list[tuple[str, str]], paths: list[str]
) -> None:
    status, document = await ask(searches(kind), target, pairs)
    assert status == 400
    found = [each["path"] for each in document["errors"]]
    assert [each for each in found if not each.startswith("tree")] == paths


@pytest.mark.parametrize("name", ["range[low", "range]low[", "range[[low]]", "range[a]b", "[low]"])
@pytest.mark.parametrize("kind", SEARCHES)
async def test_malformed_names_are_names_like_others(kind: Any, name: str) -> None:
    assert (await ask(searches(kind), "query", [(name, "1")]))[0] == 200
    strict = msgspec.defstruct(
        "Strict", [("range", Range | None, None)], forbid_unknown_fields=True
    )
    app = Kit().get("/", shows(Annotated[strict, Query()]))
    [error] = (await ask(app, "query", [(name, "1")]))[1]["errors"]
    assert error["type"] == "extra_forbidden"


@pytest.mark.parametrize("kind", SEARCHES)
async def test_objects_in_which_nothing_was_filled_in(kind: Any) -> None:
    app = searches(kind)
    pairs = [("range[low]", ""), ("range[high]", ""), ("deep[counts][a]", ""), ("q", "")]
    status, answer = await send(app, pairs)
    assert status == 200
    assert msgspec.json.decode(answer, type=Search) == Search()
    assert (await ask(app, "query", pairs))[0] == 400


@pytest.mark.parametrize("kind", SEARCHES)
async def test_deep_names_are_cut(kind: Any) -> None:
    name = "tree" + "[tree]" * 5000 + "[q]"
    for target in ("query", "form"):
        status, document = await ask(searches(kind), target, [(name, "x")])
        assert status == 400
        assert document["errors"][0]["path"].startswith("tree.tree")


OBJECTS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "q": st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            "range": st.builds(
                lambda low, high: {"low": low, "high": high}, st.integers(), st.integers()
            ),
        },
    ),
    lambda inner: st.fixed_dictionaries({"tree": inner}),
    max_leaves=4,
)


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            pair
            for key, each in value.items()
            for pair in flat(each, f"{name}[{key}]" if name else key)
        ]
    return [(name, str(value))]


@given(OBJECTS, st.sampled_from(SEARCHES), st.sampled_from(["query", "form"]))
async def test_objects_are_read_as_they_were_sent(value: Any, kind: Any, target: str) -> None:
    pairs = flat(value)
    status, answer = await ask(searches(kind), target, pairs)
    assert status == 200
    # An object without a value isn't sent.
    expected = msgspec.convert(value, Search) if pairs else Search()
    assert msgspec.json.decode(answer, type=Search) == expected


@given(
    st.lists(st.tuples(st.text("[]rangelowx0 ", max_size=20).map(lambda t: "range" + t), st.text()))
)
async def test_no_name_is_an_error_of_the_server(pairs: list[tuple[str, str]]) -> None:
    for kind in SEARCHES:
        for target in ("query", "form"):
            assert (await ask(searches(kind), target, pairs))[0] in (200, 400)


@pytest.mark.parametrize("marker", [Header(), Cookie()])
@pytest.mark.parametrize("kind", SEARCHES)
def test_objects_are_refused_elsewhere(kind: Any, marker: Any) -> None:
    with pytest.raises(TypeError, match="'range' takes an object, which is read from JSON"):
        Kit().get("/", shows(Annotated[kind, marker]))
    with pytest.raises(TypeError, match=r"validator\('header', .*'range' takes an object"):
        validator("header", kind)


def test_objects_that_are_read_from_a_text_are_allowed_everywhere() -> None:
    class Model(pydantic.BaseModel):
        range: pydantic.Json[PydanticRange]
        other: Annotated[PydanticRange, pydantic.BeforeValidator(lambda text: {"low": text})]

    app = Kit().get("/", shows(Annotated[Model, Header()]))
    assert len(app.routes) == 1


@pytest.mark.parametrize("kind", SEARCHES)
def test_documents_have_deep_objects(kind: Any) -> None:
    document = build_document(searches(kind))["paths"]["/"]
    styles = {
        each["name"]: (each.get("style"), each.get("explode"))
        for each in document["get"]["parameters"]
    }
    deep = ("deepObject", True)
    assert styles == {**dict.fromkeys(("range", "deep", "ranges", "tree"), deep), "q": (None, None)}
    for content in document["post"]["requestBody"]["content"].values():
        assert content["encoding"].keys() == {"range", "deep", "ranges", "tree"}
        assert content["encoding"]["range"] == {"style": "deepObject", "explode": True}


PydanticSearch.model_rebuild()
