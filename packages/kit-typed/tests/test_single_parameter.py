# SPDX-License-Identifier: MIT
"""A parameter that is read by itself, which has the same value as one that is read with others."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal
from enum import IntEnum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode
from uuid import UUID

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Kit
from kit.typed import Cookie, Query, typed


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Code(str):
    """A class that the app has a decoder for."""


KINDS = (
    *(str, int, float, bool, Decimal, UUID, datetime, time, IPv4Address, Level, Code),
    *(Literal["a", 1], int | None, UUID | str, int | bool),
    Annotated[int, msgspec.Meta(ge=2, le=40)],
    Annotated[str, msgspec.Meta(min_length=1, pattern="^[a-z]+$")],
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                "a",
                "1",
                "2",
                "41",
                "5.0",
                "1e2",
                "-0",
                "nan",
                "inf",
                "on",
                "true",
                "null",
                " 1",
            ),
            *("10:00", "2026-11-28T10:00", "127.0.0.1", "b9b21c6e-1a02-4c31-8ae3-8a3d4c2a3c2a"),
        ]
    ),
    st.integers().map(str),
    st.text(max_size=8),
)


def decode(text: str) -> Code:
    if not text.isalpha():
        raise ValueError("letters are expected")
    return Code(text.upper())


def create_app(kind: Any) -> Kit[Any, Any]:
    app = Kit(decoders={Code: decode})

    def alone(v: Any) -> str:
        return repr(v)

    def beside(v: Any, w: str = "") -> str:
        return repr(v)

    def cookie_alone(v: Any) -> str:
        return repr(v)

    def cookie_beside(v: Any, w: Any = "") -> str:
        return repr(v)

    cookie_beside.__annotations__["w"] = Annotated[str, Cookie()]
    in_cookie = Annotated[kind, Cookie()]
    for endpoint, annotation in (
        (alone, kind),
        (beside, kind),
        (cookie_alone, in_cookie),
        (cookie_beside, in_cookie),
    ):
        endpoint.__annotations__.update({"v": annotation, "return": str})
        path = endpoint.__name__.replace("_", "/")
        app.get(f"/{path}", typed(endpoint))
    app.get("/path/alone/:v", typed(alone))
    both: Any = beside
    both.__annotations__["w"] = str
    app.get("/path/beside/:v/:w", typed(both))
    return app


APPS = [create_app(kind) for kind in KINDS]


async def ask(app: Kit[Any, Any], path: str, **headers: str) -> tuple[int, Any]:
    response = await app.request(path, headers=headers)
    return response.status, await response.json()


@given(st.sampled_from(APPS), TEXTS)
def test_a_value_does_not_depend_on_other_parameters(app: Kit[Any, Any], text: str) -> None:
    async def compare() -> None:
        query = urlencode({"v": text})
        assert await ask(app, f"/alone?{query}") == await ask(app, f"/beside?{query}")
        if text and text not in (".", ".."):
            segment = quote(text, safe="")
            alone = await ask(app, f"/path/alone/{segment}")
            assert alone == await ask(app, f"/path/beside/{segment}/x")
        cookie = f"v={quote(text, safe='')}"
        alone = await ask(app, "/cookie/alone", cookie=cookie)
        assert alone == await ask(app, "/cookie/beside", cookie=cookie)

    anyio.run(compare)


@pytest.mark.parametrize("app", APPS)
async def test_an_absent_value(app: Kit[Any, Any]) -> None:
    assert await ask(app, "/alone") == await ask(app, "/beside")
    assert await ask(app, "/cookie/alone") == await ask(app, "/cookie/beside")


async def test_the_first_of_several_values() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def read(v: Annotated[int, Query(name="page")] = 3) -> int:
        return v

    assert await ask(app, "/?page=1&page=2") == (200, 1)
    status, problem = await ask(app, "/?page=x&page=2")
    assert status == 400
    assert problem["errors"] == [{"path": "page", "message": "Expected `int`", "type": "int_type"}]
    assert await ask(app, "/") == (200, 3)
