# SPDX-License-Identifier: MIT
"""Numbers such as `5.0` are integers in JSON, wherever a body is validated, by either library."""

from __future__ import annotations

import json
from typing import Annotated, Any

import anyio
import msgspec
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Meta

from kit import Context, Kit, Response
from kit.typed import typed
from kit.validator import validator


class Order(msgspec.Struct):
    count: Annotated[int, Meta(ge=1)]
    sizes: list[int] = []
    price: float = 0
    note: Any = None


class Model(pydantic.BaseModel):
    count: Annotated[int, pydantic.Field(ge=1)]
    sizes: list[int] = []
    price: float = 0
    note: Any = None


def make_app(kind: Any) -> Kit[Any, Any]:
    app = Kit()

    def read_typed(order: Any) -> Any:
        return order

    read_typed.__annotations__["order"] = kind

    async def read_valid(c: Context) -> Response:
        return c.json(c.req.valid("json", kind))

    async def read_json(c: Context) -> Response:
        return c.json(await c.req.json(kind))

    app.post("/typed", typed(read_typed))
    app.post("/valid", read_valid, use=validator("json", kind))
    app.post("/json", read_json)
    return app


APPS = {kind: make_app(kind) for kind in (Order, Model)}


async def post(kind: Any, path: str, body: str) -> tuple[int, Any]:
    headers = {"content-type": "application/json"}
    response = await APPS[kind].request(path, method="POST", headers=headers, body=body)
    content = await response.text()
    return response.status, json.loads(content) if content.startswith("{") else content


@pytest.mark.parametrize("kind", APPS)
@pytest.mark.parametrize("path", ["/typed", "/valid", "/json"])
async def test_whole_numbers(kind: Any, path: str) -> None:
    body = (
        '{"count": 5.0, "sizes": [1e2, 2, -0.0, 12.50e2], "price": 2.0, "note": {"a": "x\\u00e9"}}'
    )
    status, sent = await post(kind, path, body)
    assert (status, sent["count"], sent["sizes"]) == (200, 5, [100, 2, 0, 1250])
    assert (sent["price"], sent["note"]) == (2, {"a": "xé"})
    for wrong in ("5.5", "0.0", '"x"', "1e400", "1e-1"):
        status, _ = await post(kind, path, f'{{"count": {wrong}}}')
        assert status == 400, wrong


@pytest.mark.parametrize("path", ["/typed", "/valid"])
async def test_only_other_errors_are_listed(path: str) -> None:
    body = '{"count": 5.0, "sizes": [1.0, 1.5, 0.0, "x"], "price": "y"}'
    status, problem = await post(Order, path, body)
    assert status == 400
    assert [each["path"] for each in problem["errors"]] == ["sizes[1]", "sizes[3]", "price"]


async def test_long_numbers_are_not_written_out() -> None:
    """A client could otherwise make the app hold a hundred times what it sent."""
    status, _ = await post(Order, "/typed", '{"count": 1e300}')
    assert status == 400
    status, sent = await post(Order, "/typed", '{"count": 1e17}')
    assert (status, sent["count"]) == (200, 10**17)


@given(
    st.integers(1, 10**15),
    st.lists(st.integers(-(10**15), 10**15), max_size=4),
    st.sampled_from(["{}", "{}.0", "{}.000", "{}e0", "{}0e-1", "{}.0E+0"]),
    st.floats(allow_nan=False, allow_infinity=False),
)
@settings(max_examples=60, deadline=None)
def test_any_spelling_of_an_integer(
    count: int, sizes: list[int], spelling: str, price: float
) -> None:
    written = ",".join(spelling.format(each) for each in sizes)
    body = f'{{"count": {spelling.format(count)}, "sizes": [{written}], "price": {price!r}}}'

    async def main() -> None:
        for path in ("/typed", "/valid", "/json"):
            status, sent = await post(Order, path, body)
            assert (status, sent["count"], sent["sizes"]) == (200, count, sizes)
            assert sent["price"] == price

    anyio.run(main)
