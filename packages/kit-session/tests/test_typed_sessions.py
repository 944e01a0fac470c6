# SPDX-License-Identifier: MIT
"""Sessions with a type of the app's own, and what can't be saved."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypedDict

import msgspec
import pydantic
import pytest
from pydantic import TypeAdapter

from kit import Response
from kit.session import get_session
from kit.session.stores import MemoryStore


class Item(msgspec.Struct):
    id: int
    added: datetime | None = None


class Cart(msgspec.Struct):
    items: list[Item] = []
    coupon: str = ""


@dataclass
class CartDataclass:
    items: list[Item] = field(default_factory=list)
    coupon: str = ""


class CartModel(pydantic.BaseModel):
    items: list[dict[str, Any]] = []
    coupon: str = ""


class CartDict(TypedDict, total=False):
    items: list[Item]
    coupon: str


TIME = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)


async def typed(client, type, action, **options):
    async def handle(c):
        return action(await get_session(c, type, **options))

    response = await client.request(handle)
    assert response.status == 200, await response.text()
    return await response.json()


async def test_a_struct(client):
    def add(session):
        assert isinstance(session.data, Cart)
        assert repr(session) == "<Session of Cart>"
        session.data.items.append(Item(1, TIME))

    await typed(client, Cart, add)

    def look(session):
        [item] = session.data.items
        assert (item.id, item.added, session.data.coupon) == (1, TIME, "")
        assert session.is_new is False
        item.id = 2

    await typed(client, Cart, look)
    assert await client.data() == {"items": [{"id": 2, "added": "2026-11-22T12:30:00Z"}]}


@pytest.mark.parametrize("type", [CartDataclass, CartModel])
async def test_other_types(client, type):
    def change(session):
        session.data.coupon = "X"
        assert isinstance(session.data, type)

    await typed(client, type, change)
    await typed(client, type, lambda s: s.data.items.append({"id": 1}))
    assert await client.data() == {"items": [{"id": 1}], "coupon": "X"}
    assert await typed(client, type, lambda s: s.data.coupon) == "X"


async def test_a_typed_dict(client):
    def change(session):
        session.data["coupon"] = "X"

    await typed(client, CartDict, change)
    assert await client.data() == {"coupon": "X"}


async def test_defaults_are_no_changes(client):
    await typed(client, Cart, lambda s: s.data.coupon)
    assert client.cookies == {}
    await client.do(lambda s: s.update(coupon="X"))
    before = client.cookie

    async def read(c):
        return (await get_session(c, Cart)).data.coupon

    response = await client.request(read)
    assert (response.headers.get_set_cookie(), client.cookie) == ([], before)
    assert await client.data() == {"coupon": "X"}


async def test_keys_that_the_type_lacks_are_kept(client):
    await client.do(lambda s: s.update(theme="dark", coupon="X"))
    await typed(client, Cart, lambda s: setattr(s.data, "coupon", "Y"))
    assert await client.data() == {"theme": "dark", "coupon": "Y"}


async def test_the_whole_value_may_be_replaced(client):
    await client.do(lambda s: s.update(theme="dark", coupon="X"))
    await typed(client, Cart, lambda s: setattr(s, "data", Cart([Item(1)])))
    data = await client.data()
    assert data == {"theme": "dark", "items": [{"id": 1, "added": None}], "coupon": ""}
    await client.do(lambda s: setattr(s, "data", {"only": 1}))
    assert await client.data() == {"only": 1}


async def test_a_type_and_a_dict_in_one_request(client):
    async def handle(c):
        cart, session = await get_session(c, Cart), await get_session(c)
        cart.data.coupon = "X"
        session["theme"] = "dark"
        assert (await get_session(c, Cart)).data.coupon == "X"
        session.rotate(user="42")
        return cart.user

    assert await (await client.request(handle)).json() == "42"
    assert await client.data() == {"coupon": "X", "theme": "dark"}

    async def later(c):
        session = await get_session(c)
        session["coupon"] = "Y"
        cart = await get_session(c, Cart)
        assert cart.data.coupon == "Y"
        cart.data.items.append(Item(1))
        session["theme"] = "light"

    await client.request(later)
    data = await client.data()
    assert [data["coupon"], data["theme"], len(data["items"])] == ["Y", "light", 1]


async def test_clear_and_destroy(client):
    await client.do(lambda s: s.update(theme="dark", coupon="X"))

    def clear(session):
        session.clear()
        assert session.data == Cart()
        session.data.coupon = "Y"

    await typed(client, Cart, clear)
    data = await client.data()
    assert data["coupon"] == "Y"
    assert "theme" not in data

    def destroy(session):
        session.destroy()
        assert session.data == Cart()
        session.data.coupon = "Z"

    await typed(client, Cart, destroy)
    assert await client.data() == {"coupon": "Z"}


async def test_it_is_no_mapping(client):
    def check(session):
        for use in (lambda: session["a"], lambda: len(session), lambda: list(session)):
            with pytest.raises(TypeError) as error:
                use()
            assert str(error.value) == (
                "This session is not a mapping, as its type is Cart: use session.data"
            )
        with pytest.raises(TypeError):
            session["a"] = 1
        return bool(session)

    assert await typed(client, Cart, check) is True


async def test_updates_are_repeated_on_newer_data(new_client):
    client = new_client(store=MemoryStore())
    await client.do(lambda s: s.update(theme="dark"))

    async def handle(c):
        session = await get_session(c, Cart)
        session.data.coupon = "mine"

        async def other(c):
            cart = await get_session(c, Cart)
            cart.update(lambda data: data.items.append(Item(1)))

        await client.other().request(other)
        session.update(lambda data: data.items.append(Item(2)))
        session.update(lambda data: None)

    await client.request(handle)
    data = await client.data()
    assert [item["id"] for item in data.pop("items")] == [1, 2]
    assert data == {"theme": "dark", "coupon": "mine"}


# Data that don't fit.


async def test_old_data_that_do_not_fit_are_replaced_when_changed(client, caplog):
    await client.do(lambda s: s.update(items="private", theme="dark"))
    assert await typed(client, Cart, lambda s: len(s.data.items)) == 0
    assert caplog.messages == [
        "The data of a session no longer fits Cart (list_type): the handler gets new data"
    ]
    assert await client.data() == {"items": "private", "theme": "dark"}
    await typed(client, Cart, lambda s: setattr(s.data, "coupon", "X"))
    assert await client.data() == {"items": [], "coupon": "X"}


async def test_old_data_may_be_converted(client):
    await client.do(lambda s: s.update(items=[1, 2], theme="dark"))

    def convert(data):
        return Cart([Item(number) for number in data["items"]], data["theme"])

    ids = lambda s: [item.id for item in s.data.items]  # noqa: E731
    assert await typed(client, Cart, ids, on_invalid=convert) == [1, 2]
    assert await typed(client, Cart, ids) == [1, 2]
    assert (await client.data())["coupon"] == "dark"


async def test_converting_newer_data(new_client):
    client = new_client(store=MemoryStore())
    await client.do(lambda s: s.update(items=[]))

    async def handle(c):
        session = await get_session(c, Cart, on_invalid=lambda data: Cart(coupon="converted"))
        await client.other().do(lambda s: s.update(items="x"))
        session.update(lambda data: data.items.append(Item(1)))

    await client.request(handle)
    assert (await client.data())["coupon"] == "converted"


class Required(msgspec.Struct):
    id: int


class Array(msgspec.Struct, array_like=True):
    id: int = 1


@pytest.mark.parametrize("type", [Required, Array, list[int], int, TypeAdapter, "Cart", [Cart]])
async def test_types_that_can_not_be_those_of_sessions(client, type):
    def handle(c):
        with pytest.raises(TypeError) as error:
            get_session(c, type)
        return str(error.value)

    text = await (await client.request(handle)).json()
    assert "can't be the type of a session: expected a Struct, dataclass or TypedDict" in text


class Color(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (object(), "session['bad'] can't be saved as JSON: it is of the type object ("),
        (1j, "session['bad'] can't be saved as JSON: it is of the type complex ("),
        ([1, {"x": [object]}], "session['bad'][1]['x'][0] can't be saved as JSON: it is of the"),
        ("\ud800", "session['bad'] can't be saved as JSON: it is of the type str ("),
        (Response("x"), "session['bad'] can't be saved as JSON: it is of the type Response ("),
        (Item(object()), "session['bad'].id can't be saved as JSON: it is of the type object ("),
        (CartDataclass(coupon={1j}), "session['bad'].coupon[0] can't be saved as JSON: it is of"),
    ],
    ids=["object", "complex", "nested", "half character", "Response", "Struct", "dataclass"],
)
async def test_what_can_not_be_saved_is_named(client, value, text, caplog):
    await client.do(lambda s: s.update(n=1))
    response = await client.request(lambda c: get_session(c).update(good=1, bad=value))
    assert response.status == 500
    assert response.headers.get_set_cookie() == []
    assert f"SessionDataError: {text}" in caplog.text
    assert await client.data() == {"n": 1}


async def test_what_is_nested_too_deeply_is_refused(client, caplog):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    response = await client.request(lambda c: get_session(c).update(bad=deep))
    assert response.status == 500
    assert "can't be saved as JSON: it is of the type list (" in caplog.text
    while deep:
        deep = deep.pop()


async def test_the_value_of_a_session_is_an_object(client, caplog):
    response = await client.request(lambda c: setattr(get_session(c), "data", [1]))
    assert response.status == 500
    assert (
        "A session of the type list can't be saved: it isn't encoded as a JSON object"
    ) in caplog.text


async def test_values_come_back_as_json_has_them(client):
    await client.do(
        lambda s: s.update(
            at=TIME, color=Color.RED, pair=(1, 2), big=1 << 70, model=CartModel(), keys={1: "one"}
        )
    )
    assert await client.data() == {
        "at": "2026-11-22T12:30:00Z",
        "color": "red",
        "pair": [1, 2],
        "big": 1 << 70,
        "model": {"items": [], "coupon": ""},
        "keys": {"1": "one"},
    }
