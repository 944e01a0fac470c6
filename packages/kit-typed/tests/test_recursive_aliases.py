# SPDX-License-Identifier: MIT
"""Aliases that contain themselves, as bodies."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from typing import Annotated, Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from kit import Context, Kit, Response
from kit.openapi import build_document
from kit.typed import Body, typed
from kit.validator import validator


class Leaf(msgspec.Struct):
    size: int


Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
Named: Any = TypeAliasType("Named", dict[str, "Named"] | list["Named"] | str | float | bool | None)  # type: ignore[misc]
Tree: Any = TypeAliasType("Tree", list["Tree"] | Leaf)  # type: ignore[misc]
Money = list["Money"] | Decimal
HEADERS = {"content-type": "application/json"}


def make_app(kind: Any) -> Kit[Any, Any]:
    def echo(data: Any) -> Any:
        return data

    echo.__annotations__["data"] = Annotated[kind, Body()] if kind in (Tree, Money) else kind
    app = Kit()
    app.post("/", typed(echo))
    return app


async def post(app: Kit[Any, Any], body: str) -> tuple[int, Any]:
    response = await app.request("/", method="POST", headers=HEADERS, body=body)
    return response.status, json.loads(await response.text())


KINDS = [Json, Named]
APPS = {id(kind): make_app(kind) for kind in KINDS}
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab:$"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab."), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("kind", KINDS)
@given(value=VALUES)
@settings(max_examples=40, deadline=None)
def test_any_json(kind: Any, value: Any) -> None:
    async def main() -> None:
        assert await post(APPS[id(kind)], json.dumps({"value": value})) == (200, {"value": value})

    anyio.run(main)


async def test_parts_are_validated() -> None:
    app = make_app(Tree)
    assert await post(app, '[[{"size": 1}], {"size": 2.0}]') == (200, [[{"size": 1}], {"size": 2}])
    for body in ('[[{"size": "x"}]]', "[[[3]]]", '{"size": null}'):
        status, problem = await post(app, body)
        assert status == 400
        assert problem["errors"][0]["message"].startswith("Expected")
    status, problem = await post(app, '[{"size": 1}, {"size": "x"}]')
    assert problem["errors"][0]["path"].startswith("[1]")
    status, problem = await post(app, "[" * 3000 + "]" * 3000)
    assert status == 400


async def test_in_validators() -> None:
    async def handler(c: Context) -> Response:
        return c.json(c.req.valid("json", Any))

    app = Kit()
    app.post("/", handler, use=validator("json", Tree))
    assert (await post(app, '[[{"size": 1}]]'))[0] == 200
    assert (await post(app, '[["x"]]'))[0] == 400


def test_documents_end() -> None:
    for kind in (Json, Named, Tree):
        content = build_document(make_app(kind))["paths"]["/"]["post"]["requestBody"]["content"]
        assert "anyOf" in content["application/json"]["schema"]


def test_mistakes() -> None:
    with pytest.raises(TypeError, match=r"Money contains itself, and a Decimal"):
        make_app(Money)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the statement is new in Python 3.12")
async def test_the_statement() -> None:
    names: dict[str, Any] = {}
    exec("type Own = dict[str, Own] | list[Own] | str | int", names)
    app = make_app(names["Own"])
    assert await post(app, '{"a": [1, {"b": "c"}]}') == (200, {"a": [1, {"b": "c"}]})
    assert (await post(app, '{"a": [1, {"b": true}]}'))[0] == 400
