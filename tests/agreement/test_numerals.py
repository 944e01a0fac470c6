# SPDX-License-Identifier: MIT
"""Numbers that clients send: one table of what is one, for every source and way to read it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

import annotated_types
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.authoring.numerals import decimal_rules
from kit.openapi import build_document
from kit.typed import Cookie, Form, Header, Query, typed
from kit.validator import validator

MODULUS = 2**61 - 1
FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json"}


# --- sources ------------------------------------------------------------------------------------


def app_for(kind: Any) -> Kit[Any, Any]:
    """An app that reads a value of a type from each part of a request, in each way."""
    app: Kit[Any, Any] = Kit()
    seen: Callable[[Context, Any], Response] = lambda c, value: c.text(repr(value))  # noqa: E731
    named = msgspec.defstruct("Named", [("v", kind)])

    def add(method: str, path: str, annotation: Any) -> None:
        def endpoint(v: Any) -> str:
            return repr(v)

        endpoint.__annotations__ = {"v": annotation, "return": str}
        app.on(method, path, typed(endpoint))

    add("GET", "/typed/param/:v", kind)
    add("GET", "/typed/query", kind)
    add("GET", "/typed/queries", Annotated[list[kind], Query()])
    add("GET", "/typed/header", Annotated[kind, Header()])
    add("GET", "/typed/cookie", Annotated[kind, Cookie()])
    add("POST", "/typed/form", Annotated[kind, Form()])
    add("POST", "/typed/json", named)
    app.get("/core/param/:v", lambda c: seen(c, c.req.param("v", kind)))
    app.get("/core/query", lambda c: seen(c, c.req.query("v", kind)))
    app.get("/core/queries", lambda c: seen(c, c.req.queries("v", kind)))
    app.get("/core/header", lambda c: seen(c, c.req.header("v", kind)))

    @app.post("/core/json")
    async def read_json(c: Context) -> Response:
        return seen(c, await c.req.json(named))

    for target, method in (("query", "get"), ("header", "get"), ("form", "post"), ("json", "post")):
        getattr(app, method)(
            f"/validator/{target}",
            validator(target, named),  # type: ignore[call-overload]
            lambda c, target=target: seen(c, c.req.valid(target)),
        )
    return app


SOURCES = {
    **{f"{way}/query": ("GET", "?v=", {}) for way in ("typed", "core", "validator")},
    **{f"{way}/queries": ("GET", "?v=", {}) for way in ("typed", "core")},
    **{f"{way}/param": ("GET", "/", {}) for way in ("typed", "core")},
    **{f"{way}/header": ("GET", "header", {}) for way in ("typed", "core", "validator")},
    "typed/cookie": ("GET", "cookie", {}),
    **{f"{way}/form": ("POST", "form", FORM) for way in ("typed", "validator")},
    **{f"{way}/json": ("POST", "json", JSON) for way in ("typed", "core", "validator")},
}
EVERY_SOURCE = pytest.mark.parametrize("source", SOURCES)
TEXT_SOURCES = pytest.mark.parametrize("source", [each for each in SOURCES if "json" not in each])


async def ask(app: Kit[Any, Any], source: str, text: str) -> tuple[int, str]:
    method, where, headers = SOURCES[source]
    path, body, headers = f"/{source}", None, dict(headers)
    if where in ("?v=", "/"):
        path += where + quote(text, safe="")
    elif where == "header":
        headers["v"] = text
    elif where == "cookie":
        headers["cookie"] = f"v={quote(text, safe='')}"
    elif where == "form":
        body = f"v={quote(text, safe='')}"
    else:
        body = json.dumps({"v": text})
    response = await app.request(path, method=method, headers=headers, body=body)
    return response.status, await response.text()


NO_NUMBER = [
    *[
        "NaN",
        "nan",
        "sNaN",
        "-nan",
        "Infinity",
        "inf",
        "-inf",
        "1_000",
        "1_0.5",
        "0x10",
        "1e",
        "--1",
    ],
    *["\u0663", "\uff11", "1,5", "1 0", "1e1_0", "1.5.1", "\u22121", "True", "one"],
]
BLANKS = ["5 ", " 5", " 5 ", "5\t", "\u00a05", "5\n"]
WRONG = {
    int: [*NO_NUMBER, "1.5", "9" * 5000, "1e400"],
    float: [*NO_NUMBER, "1e400", "-1e400"],
    Decimal: [*NO_NUMBER, "+5", ".5", "5.", "05", "1e1000000000", "1e-1000000000", "9" * 5000],
    bool: ["yes", "On", "off", "t", "2", "1_0", "\u0661"],
    date: ["2026-1-1", "20260101", "\u0662\u0660\u0662\u0666-01-01", "2026-01-32"],
    UUID: ["{" + "0" * 32 + "}", "urn:uuid:" + "0" * 32, "0" * 31 + "\u0660", "0_" + "0" * 30],
}


@pytest.mark.parametrize("kind", WRONG)
@TEXT_SOURCES
async def test_what_is_no_value(source: str, kind: type) -> None:
    app = app_for(kind)
    # Servers and libraries strip headers, and these are ASCII.
    is_header = "header" in source
    for text in WRONG[kind]:
        if is_header and (not text.isascii() or len(text) > 100):
            continue
        assert (await ask(app, source, text))[0] == 400, text
    for text in BLANKS if kind in (int, float, Decimal) and not is_header else []:
        if "cookie" in source:
            continue
        assert (await ask(app, source, text))[0] == 400, text


@EVERY_SOURCE
async def test_decimals_are_the_same_from_every_source(source: str) -> None:
    app = app_for(Decimal)
    for text in ("0", "1.50", "-0.1", "12345678901234567890.12345678901234567890", "1e3", "-1E-7"):
        status, answer = await ask(app, source, text)
        assert status == 200, text
        assert repr(Decimal(text)) in answer
    for text in WRONG[Decimal]:
        if "header" in source and (not text.isascii() or len(text) > 100):
            continue
        assert (await ask(app, source, text))[0] == 400, text


@given(text=st.text(st.sampled_from("0123456789.eE+-_ \u0663naifNAIF"), min_size=1, max_size=8))
async def test_a_decimal_is_a_number_of_json(text: str) -> None:
    app = DECIMALS
    try:
        is_number = isinstance(json.loads(text), (int, float)) and "n" not in text.lower()
        is_number = is_number and text == text.strip()
    except ValueError:
        is_number = False
    for source in ("typed/query", "core/query", "validator/json", "core/json"):
        status, _ = await ask(app, source, text)
        is_long = is_number and abs(Decimal(text).as_tuple().exponent) > 4300  # type: ignore[arg-type]
        assert (status == 200) == (is_number and not is_long), (source, text)


DECIMALS = app_for(Decimal)


# --- within other types -------------------------------------------------------------------------


@dataclasses.dataclass
class Line:
    """A part of an order."""

    price: Decimal
    discounts: list[Decimal] = dataclasses.field(default_factory=list)
    by_name: dict[str, Decimal | None] = dataclasses.field(default_factory=dict)
    pair: tuple[str, Decimal] | None = None
    several: set[Decimal] = dataclasses.field(default_factory=set)
    keys: dict[Decimal, int] = dataclasses.field(default_factory=dict)


class Order(msgspec.Struct, rename="camel"):
    """An order."""

    first_line: Line
    lines: list[Line] = []
    parts: list[Order] = []
    either: int | Decimal | list[Decimal] = 0
    text: str = "1_000"


PLACES: list[Callable[[Any], dict[str, Any]]] = [
    lambda v: {"firstLine": {"price": v}},
    lambda v: {"firstLine": {"price": 1, "discounts": [1, v]}},
    lambda v: {"firstLine": {"price": 1, "by_name": {"a": None, "b": v}}},
    lambda v: {"firstLine": {"price": 1, "pair": ["1_000", v]}},
    lambda v: {"firstLine": {"price": 1, "several": [1, v]}},
    lambda v: {"firstLine": {"price": 1, "keys": {v: 1}}},
    lambda v: {"firstLine": {"price": 1}, "lines": [{"price": 1}, {"price": v}]},
    lambda v: {"firstLine": {"price": 1}, "parts": [{"firstLine": {"price": v}}]},
    lambda v: {"firstLine": {"price": 1}, "either": v},
    lambda v: {"firstLine": {"price": 1}, "either": ["1", v]},
]


def reading_orders() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()

    @app.post("/typed")
    @typed
    def by_types(order: Order) -> int:
        return 1

    @app.post("/core")
    async def by_core(c: Context) -> Response:
        await c.req.json(Order)
        return c.json(1)

    app.post("/validator", validator("json", Order), lambda c: c.json(1))
    return app


@pytest.mark.parametrize("path", ["/typed", "/core", "/validator"])
@pytest.mark.parametrize("place", range(len(PLACES)))
async def test_decimals_at_any_depth(place: int, path: str) -> None:
    app = reading_orders()
    for value in ("1.5", "-2", "1e3"):
        response = await app.request(path, method="POST", json=PLACES[place](value))
        assert response.status == 200, await response.text()
    for value in ("NaN", "1_000", " 1", "\u0663", "-Infinity", "sNaN", "1e1000000000"):
        response = await app.request(path, method="POST", json=PLACES[place](value))
        assert response.status == 400, value
        assert "decimal" in await response.text()


async def test_the_place_of_an_error() -> None:
    body = {"firstLine": {"price": 1}, "lines": [{"price": "1"}, {"price": "NaN"}]}
    response = await reading_orders().request("/typed", method="POST", json=body)
    (error,) = (await response.json())["errors"]
    assert error == {
        "path": "lines[1].price",
        "message": "Invalid decimal string",
        "type": "decimal_parsing",
    }


# --- constraints --------------------------------------------------------------------------------

RULES = {"ge": 0, "lt": 1000, "max_digits": 5, "decimal_places": 2}
FITTING = ["0", "999.99", "0.01", "12.5", "1e2"]
UNFITTING = ["-0.01", "1000", "0.001", "123456", "1e-3"]


class Priced(msgspec.Struct):
    """Has a Decimal with rules."""

    v: Annotated[Decimal, decimal_rules(**RULES)]


def with_rules() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()

    @app.get("/query")
    @typed
    def by_query(v: Annotated[Decimal, Query(**RULES)]) -> str:
        return str(v)

    @app.get("/optional")
    @typed
    def by_optional(v: Annotated[Decimal | None, Query(**RULES)] = None) -> str:
        return str(v)

    @app.get("/field")
    @typed
    def by_field(v: Annotated[Decimal, pydantic.Field(**RULES)]) -> str:
        return str(v)

    @app.get("/meta")
    @typed
    def by_meta(v: Annotated[Decimal, decimal_rules(**RULES)]) -> str:
        return str(v)

    @app.get("/list")
    @typed
    def by_list(v: Annotated[list[Annotated[Decimal, decimal_rules(**RULES)]], Query()]) -> str:
        return str(v)

    @app.post("/json")
    @typed
    def by_json(v: Priced) -> str:
        return str(v.v)

    app.get("/validator", validator("query", Priced), lambda c: c.json(1))
    return app


@pytest.mark.parametrize(
    "path", ["/query", "/optional", "/field", "/meta", "/list", "/json", "/validator"]
)
async def test_rules(path: str) -> None:
    app = with_rules()

    async def status_of(text: str) -> int:
        if path == "/json":
            return (await app.request(path, method="POST", json={"v": text})).status
        return (await app.request(f"{path}?v={text}")).status

    assert [await status_of(text) for text in FITTING] == [200] * len(FITTING)
    assert [await status_of(text) for text in UNFITTING] == [400] * len(UNFITTING)


def test_rules_are_in_the_document() -> None:
    document = build_document(with_rules())
    expected = {
        "minimum": 0,
        "exclusiveMaximum": 1000,
        "pattern": r"^(0|[1-9][0-9]{0,2})(\.[0-9]{1,2})?$",
    }
    for path in ("/query", "/field", "/meta"):
        (parameter,) = document["paths"][path]["get"]["parameters"]
        assert expected.items() <= {**parameter["schema"], "type": None}.items()
    schema = document["components"]["schemas"]["Priced"]["properties"]["v"]
    assert expected.items() <= {**schema, "type": None}.items()


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        ({"least": 1}, "decimal_rules() has no rule 'least': expected ge, gt, le, lt"),
        ({"ge": "1"}, "decimal_rules(ge='1') takes a number"),
        ({"ge": math.nan}, "decimal_rules(ge=nan) takes a finite number"),
        ({"max_digits": 0}, "decimal_rules(max_digits=0) takes an int of at least 1"),
    ],
)
def test_rules_that_are_refused(rules: dict[str, Any], error: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        decimal_rules(**rules)
    assert error in str(raised.value)


@pytest.mark.parametrize("kind", [int, float, str, list[Decimal]])
def test_digits_are_for_decimals(kind: Any) -> None:
    def endpoint(v: Any) -> str:
        return str(v)

    endpoint.__annotations__ = {"v": Annotated[kind, Query(max_digits=3)], "return": str}
    with pytest.raises(TypeError, match="max_digits and decimal_places are for Decimal"):
        Kit().get("/", typed(endpoint))


def test_a_rule_of_another_library() -> None:
    app: Kit[Any, Any] = Kit()

    @app.get("/")
    @typed
    def endpoint(v: Annotated[Decimal, annotated_types.Interval(gt=1, le=3)]) -> str:
        return str(v)

    async def statuses() -> list[int]:
        return [(await app.request(f"/?v={text}")).status for text in ("1", "1.1", "3", "3.1")]

    import anyio

    assert anyio.run(statuses) == [400, 200, 200, 400]


# --- keys that collide --------------------------------------------------------------------------


class Keyed(msgspec.Struct):
    """Has sets and dicts."""

    numbers: set[int] = set()
    frozen: frozenset[float | int] = frozenset()
    uuids: dict[UUID, int] = {}
    nested: list[dict[int, set[int]]] = []
    pairs: set[tuple[int, int]] = set()
    prices: set[Decimal] = set()
    text: dict[str, int] = {}


class KeyedModel(pydantic.BaseModel):
    """The same for pydantic."""

    numbers: set[int] = set()
    uuids: dict[UUID, int] = {}
    prices: set[Decimal] = set()
    grouped: defaultdict[int, list[int]] = defaultdict(list)
    counted: Counter[int] = Counter()


NUMBERS = [MODULUS * i for i in range(3000)]
UUIDS = [str(UUID(int=MODULUS * i)) for i in range(3000)]
COLLIDING: list[dict[str, Any]] = [
    {"numbers": NUMBERS},
    {"numbers": [-each for each in NUMBERS]},
    {"frozen": NUMBERS},
    {"uuids": dict.fromkeys(UUIDS, 1)},
    {"nested": [{}, {"1": NUMBERS}]},
    {"nested": [{str(each): [] for each in NUMBERS}]},
    {"pairs": [[each, 1] for each in NUMBERS]},
    {"prices": [str(each) for each in NUMBERS]},
    {"prices": [f"{pow(10, k, MODULUS)}e-{k}" for k in range(3000)]},
    # Python's constructor takes them, and would build the set before they are refused.
    {"prices": [f"{each} " for each in NUMBERS]},
    {"prices": [f"{str(each)[0]}_{str(each)[1:]}" for each in NUMBERS[1:]]},
    {"prices": [f"+0{each}." for each in NUMBERS]},
]
COLLIDING_IN_MODELS: list[dict[str, Any]] = [
    COLLIDING[0],
    COLLIDING[3],
    *({"numbers": [write.format(each) for each in NUMBERS]} for write in ("{} ", "0{}", "+{}")),
    {"uuids": {f"urn:uuid:{each}": 1 for each in UUIDS}},
    {"uuids": {f"{{{each}}}": 1 for each in UUIDS}},
    {"prices": [f" {each}" for each in NUMBERS]},
    {"grouped": {str(each): [] for each in NUMBERS}},
    {"counted": {str(each): 1 for each in NUMBERS}},
]
ORDINARY: list[dict[str, Any]] = [
    {"numbers": [*range(-20_000, 20_000)]},
    {"numbers": [2**40 * i for i in range(20_000)]},
    {"numbers": [7] * 20_000},
    {"frozen": [i / 8 for i in range(10_000)]},
    {"uuids": {str(UUID(int=pow(3, i, 2**127))): i for i in range(5000)}},
    {"prices": [f"{i}.{i % 100:02}" for i in range(5000)] * 2},
    {"prices": [each for i in range(1, 1000) for each in (f"{i}.5", f"{i}.50", f"{i}5e-1")]},
    {"pairs": [[i, -i] for i in range(5000)]},
    {"text": {str(each): 1 for each in range(5000)}},
]


def reading_keys() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()

    @app.post("/typed")
    @typed
    def by_types(keyed: Keyed) -> int:
        return 1

    @app.post("/pydantic")
    @typed
    def by_pydantic(keyed: KeyedModel) -> int:
        return 1

    @app.post("/core")
    async def by_core(c: Context) -> Response:
        await c.req.json(Keyed)
        return c.json(1)

    @app.get("/query")
    @typed
    def by_query(numbers: Annotated[set[int], Query()]) -> int:
        return 1

    app.post("/validator", validator("json", Keyed), lambda c: c.json(1))
    app.post("/validator/pydantic", validator("json", KeyedModel), lambda c: c.json(1))
    app.post("/form", validator("form", Keyed), lambda c: c.json(1))
    return app


@pytest.mark.parametrize("path", ["/typed", "/core", "/validator"])
@pytest.mark.parametrize("body", COLLIDING, ids=lambda body: ",".join(body))
async def test_keys_that_collide_are_refused(path: str, body: dict[str, Any]) -> None:
    response = await reading_keys().request(path, method="POST", json=body)
    assert response.status == 400
    assert "Too many values have the same hash" in await response.text()


@pytest.mark.parametrize("path", ["/pydantic", "/validator/pydantic"])
@pytest.mark.parametrize("body", COLLIDING_IN_MODELS, ids=lambda body: ",".join(body))
async def test_keys_of_models_that_collide_are_refused(path: str, body: dict[str, Any]) -> None:
    response = await reading_keys().request(path, method="POST", json=body)
    assert response.status == 400
    assert "Too many values have the same hash" in await response.text()


async def test_keys_of_queries_and_forms_that_collide_are_refused() -> None:
    pairs = "&".join(f"numbers={each}" for each in NUMBERS[:900])
    app = reading_keys()
    assert (await app.request(f"/query?{pairs}")).status == 400
    assert (await app.request("/form", method="POST", headers=FORM, body=pairs)).status == 400
    pairs = "&".join(f"numbers={each}" for each in range(900))
    assert (await app.request(f"/query?{pairs}")).status == 200
    assert (await app.request("/form", method="POST", headers=FORM, body=pairs)).status == 200


@pytest.mark.parametrize("path", ["/typed", "/core", "/validator"])
@pytest.mark.parametrize("body", ORDINARY, ids=lambda body: ",".join(body))
async def test_other_keys_are_taken(path: str, body: dict[str, Any]) -> None:
    response = await reading_keys().request(path, method="POST", json=body)
    assert response.status == 200, await response.text()
