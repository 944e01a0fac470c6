# SPDX-License-Identifier: MIT
"""Single values of every type, from each part of a request."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from importlib.util import find_spec
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from pathlib import Path as FilePath
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

import annotated_types
import fastapi
import httpx
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit
from kit.openapi import build_document
from kit.typed import Body, Cookie, Form, Header, Path, Query, typed

Run = Callable[[Callable[[], Coroutine[Any, Any, Any]]], Any]
FORM = {"content-type": "application/x-www-form-urlencoded"}
ID = "b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a"


class Color(Enum):
    RED = "red"


def reader(annotation: Any) -> Any:
    """An endpoint that shows its value."""

    def endpoint(v: Any) -> str:
        return repr(v)

    endpoint.__annotations__ = {"v": annotation, "return": str}
    return typed(endpoint)


def app_for(kind: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get("/query", reader(kind))
    app.get("/param/:v", reader(Annotated[kind, Path()]))
    app.get("/header", reader(Annotated[kind, Header()]))
    app.get("/cookie", reader(Annotated[kind, Cookie()]))
    app.post("/form", reader(Annotated[kind, Form()]))
    app.post("/list", reader(Annotated[list[kind], Form()]))
    return app


SOURCES = ("query", "param", "header", "cookie", "form", "list")


async def ask(app: Kit[Any, Any], source: str, text: str) -> tuple[int, Any]:
    path, method, headers, body = f"/{source}", "GET", {}, None
    if source in ("query", "param"):
        path += ("?v=" if source == "query" else "/") + quote(text, safe="")
    elif source == "header":
        headers["v"] = text
    elif source == "cookie":
        headers["cookie"] = f"v={quote(text, safe='')}"
    else:
        method, headers, body = "POST", FORM, urlencode({"v": text})
    response = await app.request(path, method=method, headers=headers, body=body)
    return response.status, await response.json()


PLAIN: list[tuple[Any, str, Any]] = [
    (IPv4Address, "10.0.0.1", IPv4Address("10.0.0.1")),
    (IPv6Address, "::1", IPv6Address("::1")),
    (IPv4Interface, "10.0.0.1/8", IPv4Interface("10.0.0.1/8")),
    (IPv6Interface, "::1/8", IPv6Interface("::1/8")),
    (IPv4Network, "10.0.0.0/8", IPv4Network("10.0.0.0/8")),
    (IPv6Network, "::/8", IPv6Network("::/8")),
    (PurePosixPath, "a/b,c", PurePosixPath("a/b,c")),
    (PureWindowsPath, "a\\b", PureWindowsPath("a\\b")),
    (PurePath, "a/b", PurePath("a/b")),
    (FilePath, "a/b", FilePath("a/b")),
    (ZoneInfo, "Europe/Berlin", ZoneInfo("Europe/Berlin")),
    (IPv4Address | None, "10.0.0.1", IPv4Address("10.0.0.1")),
    (IPv4Address | IPv6Address, "::1", IPv6Address("::1")),
    (UUID | str, ID, UUID(ID)),
    (str | UUID, ID, UUID(ID)),
    (UUID | str | None, "ada", "ada"),
    (date | datetime, "2026-11-28", date(2026, 11, 28)),
    (date | datetime, "2026-11-28T10:00", datetime(2026, 11, 28, 10)),
    (datetime | date, "2026-11-28", date(2026, 11, 28)),
    (Literal["today"] | date, "today", "today"),
    (Literal["today"] | date, "2026-11-28", date(2026, 11, 28)),
    (Color | UUID, "red", Color.RED),
    (UUID | int | str, "7", 7),
    (Annotated[UUID | Decimal, Query(description="number")], "1.5", Decimal("1.5")),
    (time, "10:00", time(10)),
    (datetime, "2026-11-28T10:00", datetime(2026, 11, 28, 10)),
    (bool, "on", True),
]


@pytest.mark.parametrize(("kind", "text", "value"), PLAIN)
@pytest.mark.parametrize("source", SOURCES)
async def test_values_that_msgspec_does_not_know(
    source: str, kind: Any, text: str, value: Any
) -> None:
    if source != "query" and "Query" in repr(kind):
        return
    expected = repr([value] if source == "list" else value)
    assert await ask(app_for_plain(kind), source, text) == (200, expected)


def app_for_plain(kind: Any) -> Kit[Any, Any]:
    if "Query" in repr(kind):
        return Kit().get("/query", reader(kind))
    return app_for(kind)


WRONG: list[tuple[Any, str, str, str]] = [
    (IPv4Address, "10.0.0.256", "Expected `IPv4Address`", "ip_v4_address"),
    (IPv6Address, "10.0.0.1", "Expected `IPv6Address`", "ip_v6_address"),
    (IPv4Network, "10.0.0.1/8", "Expected `IPv4Network`", "ip_v4_network"),
    (IPv6Network, "x", "Expected `IPv6Network`", "ip_v6_network"),
    (IPv4Interface, "x", "Expected `IPv4Interface`", "ip_v4_interface"),
    (IPv6Interface, "x", "Expected `IPv6Interface`", "ip_v6_interface"),
    (ZoneInfo, "../Berlin", "Expected `ZoneInfo`", "zoneinfo_str"),
    (ZoneInfo, "Europe", "Expected `ZoneInfo`", "zoneinfo_str"),
    (IPv4Address | IPv6Address, "x", "Expected `IPv4Address | IPv6Address`", "type_error"),
    (date | datetime | None, "x", "Expected `date | datetime`", "type_error"),
    (UUID | Decimal, "NaN", "Expected `UUID | Decimal`", "type_error"),
    (time, "24:00", "Invalid RFC3339 encoded time", "time_parsing"),
    (datetime, "2026-13-01T10:00", "Invalid RFC3339 encoded datetime", "datetime_parsing"),
]


@pytest.mark.parametrize(("kind", "text", "message", "code"), WRONG)
@pytest.mark.parametrize("source", SOURCES)
async def test_wrong_values_have_a_path_a_message_and_a_type(
    source: str, kind: Any, text: str, message: str, code: str
) -> None:
    status, document = await ask(app_for(kind), source, text)
    assert status == 400
    path = "v[0]" if source == "list" else "v"
    (error,) = document["errors"]
    context = error.pop("ctx", None)
    assert error == {"path": path, "message": message, "type": code}
    # The members of a union are its context.
    assert context == ({"expected": message.split("`")[1]} if code == "type_error" else None)


TIMES = st.times().map(lambda value: value.replace(fold=0))


@given(
    st.one_of(
        st.tuples(st.just(IPv4Address), st.ip_addresses(v=4)),
        st.tuples(st.just(IPv4Address | IPv6Address), st.ip_addresses()),
        st.tuples(st.just(UUID | str), st.uuids()),
        st.tuples(st.just(UUID | int), st.integers()),
        st.tuples(st.just(date | datetime), st.dates()),
        st.tuples(st.just(date | datetime | time), TIMES),
        st.tuples(st.just(UUID | Decimal), st.decimals(allow_nan=False, allow_infinity=False)),
        st.tuples(st.just(str | Decimal), st.text()),
    )
)
async def test_values_are_read_as_they_were_written(pair: tuple[Any, Any]) -> None:
    kind, value = pair
    text = value.isoformat() if isinstance(value, (date, time)) else str(value)
    status, answer = await ask(app_for(kind), "query", text)
    if kind == str | Decimal:  # the text may be a number
        assert status == 200
        assert answer == repr(text) or text == answer[len("Decimal('") : -2] or Decimal(text)
    else:
        assert (status, answer) == (200, repr(value))


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (IPv4Address, {"type": "string", "format": "ipv4"}),
        (
            list[IPv6Network],
            {"type": "array", "items": {"type": "string", "format": "ipv6network"}},
        ),
        (PurePosixPath, {"type": "string", "format": "path"}),
        (
            UUID | str,
            {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "string"}]},
        ),
        (
            IPv4Address | IPv6Address,
            {"anyOf": [{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}]},
        ),
        (pydantic.HttpUrl, {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083}),
        (pydantic.SecretStr, {"type": "string", "format": "password", "writeOnly": True}),
        (pydantic.PastDate, {"type": "string", "format": "date"}),
        (Annotated[int, pydantic.AfterValidator(abs)], {"type": "integer"}),
    ],
)
@pytest.mark.parametrize("has_another", [False, True])
def test_documents(kind: Any, schema: Any, *, has_another: bool) -> None:
    def endpoint(v: Any, page: int = 1) -> None: ...

    def alone(v: Any) -> None: ...

    function = endpoint if has_another else alone
    function.__annotations__["v"] = Annotated[kind, Query(description="the value")]
    document = build_document(Kit().get("/", typed(function)))
    parameters = document["paths"]["/"]["get"]["parameters"]
    found = next(each for each in parameters if each["name"] == "v")
    assert found["schema"] == schema
    assert found["description"] == "the value"
    assert found["required"] is True
    assert len(parameters) == 1 + has_another


def test_scalars_of_models_and_bodies(run: Run) -> None:
    @dataclass
    class Host:
        address: IPv4Address
        folder: PurePosixPath | None = None

    async def create(host: Host) -> str:
        return repr(host)

    async def find(host: Annotated[Host, Query()]) -> str:
        return repr(host)

    create.__annotations__["host"] = Host
    find.__annotations__["host"] = Annotated[Host, Query()]
    app = Kit().post("/", typed(create)).get("/", typed(find))

    async def answers() -> list[Any]:
        json = {"content-type": "application/json"}
        body = '{"address": "10.0.0.1", "folder": "/a"}'
        wrong = '{"address": 5}'
        return [
            await (await app.request("/", method="POST", headers=json, body=body)).json(),
            await (await app.request("/?address=10.0.0.1")).json(),
            (await (await app.request("/", method="POST", headers=json, body=wrong)).json())[
                "errors"
            ],
        ]

    assert run(answers) == [
        repr(Host(IPv4Address("10.0.0.1"), PurePosixPath("/a"))),
        repr(Host(IPv4Address("10.0.0.1"))),
        [
            {
                "path": "address",
                "message": "Expected `IPv4Address`, got `int`",
                "type": "ip_v4_address",
            }
        ],
    ]


# --- types of pydantic ----------------------------------------------------------------------------

FUTURE = date.today() + timedelta(days=2)
PYDANTIC: list[tuple[Any, list[str]]] = [
    (pydantic.HttpUrl, ["https://example.com/a", "example"]),
    (pydantic.AnyUrl, ["ftp://example.com", ":"]),
    (pydantic.SecretStr, ["s3cret"]),
    (pydantic.UUID4, [ID, ID.replace("4c31", "1c31"), "x"]),
    (pydantic.AwareDatetime, ["2026-11-28T10:00:00Z", "2026-11-28T10:00:00"]),
    (pydantic.NaiveDatetime, ["2026-11-28T10:00", "2026-11-28T10:00:00Z"]),
    (pydantic.PastDate, ["2001-01-01", FUTURE.isoformat()]),
    (pydantic.FutureDate, ["2001-01-01", FUTURE.isoformat()]),
    (pydantic.PositiveInt, ["1", "0", "x"]),
    (pydantic.conint(gt=3), ["4", "3"]),
    (pydantic.condecimal(max_digits=3, decimal_places=1), ["1.5", "1.55", "1234"]),
    (pydantic.constr(min_length=2), ["ab", "a"]),
    (Annotated[str, pydantic.StringConstraints(to_upper=True)], ["ab"]),
    (pydantic.Json[list[int]], ["[1, 2]", '["x"]', "["]),
    (pydantic.Json, ['{"a": 1}', "{"]),
    (pydantic.ByteSize, ["1MB", "x"]),
    (pydantic.Base64Bytes, ["YWI=", "="]),
    (Annotated[int, pydantic.AfterValidator(abs)], ["-1", "x"]),
    (Annotated[int, pydantic.AfterValidator(abs)] | None, ["-1", "x"]),
    (Annotated[str, pydantic.BeforeValidator(str.strip)], ["ab"]),
    (Annotated[complex, pydantic.PlainValidator(complex)], ["1+2j", "x"]),
    (Annotated[int, annotated_types.Predicate(lambda value: value % 2 == 0)], ["2", "3"]),
    (pydantic.FiniteFloat, ["1.5", "inf"]),
    (pydantic.StrictStr, ["ab"]),
    (list[pydantic.HttpUrl], ["https://example.com/a", "example"]),
]


async def ask_fastapi(kind: Any, text: str) -> tuple[int, Any]:
    app = fastapi.FastAPI()

    def endpoint(v: Any) -> str:
        return repr(v)

    endpoint.__annotations__ = {"v": Annotated[kind, fastapi.Query()], "return": str}
    app.get("/query")(endpoint)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/query", params={"v": text})
    return response.status_code, response.json()


@pytest.mark.parametrize(("kind", "texts"), PYDANTIC)
async def test_types_of_pydantic_are_read_as_by_fastapi(kind: Any, texts: list[str]) -> None:
    app = Kit().get("/query", reader(Annotated[kind, Query()]))
    for text in texts:
        status, answer = await ask(app, "query", text)
        expected_status, expected = await ask_fastapi(kind, text)
        if expected_status == 200:
            assert (status, answer) == (200, expected)
            continue
        assert (status, expected_status) == (400, 422)
        [error] = answer["errors"]
        path, *steps = expected["detail"][0]["loc"][1:]
        assert error["path"] == path + "".join(f"[{step}]" for step in steps)


async def test_json_that_may_be_absent() -> None:
    """FastAPI gives pydantic a list of texts, which it refuses."""
    app = Kit().get("/query", reader(Annotated[pydantic.Json[list[int]] | None, Query()]))
    assert await ask(app, "query", "[1, 2]") == (200, "[1, 2]")
    assert (await ask(app, "query", "["))[1]["errors"][0]["type"] == "json_invalid"


@pytest.mark.parametrize("source", SOURCES)
async def test_types_of_pydantic_come_from_every_part(source: str) -> None:
    app = app_for(Annotated[int, pydantic.AfterValidator(abs)])
    assert await ask(app, source, "-3") == (200, "[3]" if source == "list" else "3")
    status, document = await ask(app, source, "x")
    assert status == 400
    [error] = document["errors"]
    assert (error["path"], error["type"]) == ("v[0]" if source == "list" else "v", "int_parsing")


def test_values_of_msgspec_and_of_pydantic_are_read_together(run: Run) -> None:
    async def endpoint(
        page: int,
        url: pydantic.HttpUrl,
        first: Annotated[
            str, pydantic.AfterValidator(str.upper), Query("from", max_length=3)
        ] = "x",
        tags: Annotated[list[pydantic.SecretStr], Query()] = [],  # noqa: B006 - it is copied
    ) -> str:
        return f"{page} {url} {first} {len(tags)}"

    app = Kit().get("/", typed(endpoint))

    async def answers() -> list[Any]:
        return [
            await (await app.request(path)).json()
            for path in ("/?page=1&url=http://a&from=ab&tags=x&tags=y", "/?page=x&from=abcd")
        ]

    good, bad = run(answers)
    assert good == "1 http://a/ AB 2"
    assert [(each["path"], each["type"]) for each in bad["errors"]] == [
        ("page", "int_type"),
        ("url", "missing"),
        ("from", "too_long"),
    ]


def test_bodies_of_pydantic_scalars(run: Run) -> None:
    async def whole(url: Annotated[pydantic.HttpUrl, Body()]) -> str:
        return str(url)

    async def embedded(
        url: Annotated[pydantic.HttpUrl, Body(embed=True)],
        size: Annotated[int, Body(embed=True, ge=1)] = 1,
    ) -> str:
        return f"{url} {size}"

    app = Kit().post("/whole", typed(whole)).post("/embedded", typed(embedded))

    async def answers() -> list[Any]:
        found = []
        for path, body in (
            ("/whole", '"http://a"'),
            ("/whole", '"a"'),
            ("/embedded", '{"url": "http://a", "size": 2}'),
            ("/embedded", '{"size": 0}'),
        ):
            response = await app.request(
                path, method="POST", headers={"content-type": "application/json"}, body=body
            )
            found.append(await response.json())
        return found

    one, wrong, two, several = run(answers)
    assert (one, two) == ("http://a/", "http://a/ 2")
    assert [each["type"] for each in wrong["errors"]] == ["url_parsing"]
    assert [(each["path"], each["type"]) for each in several["errors"]] == [
        ("url", "missing"),
        ("size", "greater_than_equal"),
    ]


def test_email_addresses_need_email_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "email_validator", None)
    # Pydantic imports the package once, and keeps it.
    monkeypatch.setattr("pydantic.networks.email_validator", None, raising=False)
    with pytest.raises(TypeError, match="'v' can't be read: email-validator is not installed"):
        Kit().get("/query", reader(pydantic.EmailStr))


@pytest.mark.skipif(find_spec("email_validator") is None, reason="email-validator isn't installed")
async def test_email_addresses() -> None:
    app = app_for(pydantic.EmailStr)
    assert await ask(app, "query", "ada@example.com") == (200, "'ada@example.com'")
    status, document = await ask(app, "query", "ada")
    assert (status, document["errors"][0]["type"]) == (400, "value_error")
    schema = build_document(app)["paths"]["/query"]["get"]["parameters"][0]["schema"]
    assert schema == {"type": "string", "format": "email"}


class Even:
    """A class of one's own with a schema for pydantic."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler(Annotated[int, annotated_types.MultipleOf(2)])


async def test_classes_with_a_schema_for_pydantic() -> None:
    app = app_for(Even)
    assert await ask(app, "query", "4") == (200, "4")
    assert (await ask(app, "query", "5"))[0] == 400


def test_structs_can_not_hold_what_pydantic_alone_reads() -> None:
    kind = msgspec.defstruct("Page", [("url", pydantic.HttpUrl)])
    with pytest.raises(TypeError, match="'v' can't be read"):
        Kit().get("/", reader(Annotated[kind, Query()]))


def test_constraints_that_pydantic_would_ignore_are_refused() -> None:
    @dataclass
    class Member:
        url: pydantic.HttpUrl
        age: Annotated[int, msgspec.Meta(ge=18)]

    def create(member: Any) -> None: ...

    for annotation in (Annotated[Member, Body()], Annotated[Member, Form()]):
        create.__annotations__["member"] = annotation
        with pytest.raises(TypeError, match=r"pydantic .* would ignore .*Meta\(ge=18\)"):
            Kit().post("/", typed(create))


async def test_dataclasses_with_types_of_pydantic() -> None:
    @dataclass
    class Member:
        url: pydantic.HttpUrl
        age: Annotated[int, pydantic.Field(ge=18)] = 18
        others: list[pydantic.HttpUrl] = field(default_factory=list)

    app = Kit().post("/form", reader(Annotated[Member, Form()]))
    document = build_document(app)["components"]["schemas"]["Member"]
    assert document["properties"]["url"]["format"] == "uri"
    response = await app.request(
        "/form", method="POST", headers=FORM, body="url=http://a.example&age=17"
    )
    errors = (await response.json())["errors"]
    assert [(each["path"], each["type"]) for each in errors] == [("age", "greater_than_equal")]
    response = await app.request(
        "/form", method="POST", headers=FORM, body="url=http://a&others=http://b&others=http://c"
    )
    assert (await response.json()).count("HttpUrl") == 3
