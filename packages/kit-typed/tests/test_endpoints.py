# SPDX-License-Identifier: MIT
"""Endpoints registered with one decorator behave as those below @typed."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Struct

from kit import HTTPException, Kit
from kit.interface.metadata import get_facts
from kit.typed import Depends, Endpoints, Header, Typed, override, typed


class Book(Struct):
    title: str


def check(x_key: Annotated[str, Header()]) -> str:
    if x_key != "k":
        raise HTTPException(401)
    return "ada"


async def status(app: Kit, method: str, path: str, **options: Any) -> int:
    return (await app.request(path, method=method, **options)).status


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"])
async def test_each_method(method: str) -> None:
    app = Kit()
    register: Any = getattr(Endpoints(app), method.lower())

    async def endpoint_of(id: int) -> Any:
        return {"id": id}

    endpoint = register("/:id", status=201, response=dict[str, int])(endpoint_of)
    assert isinstance(endpoint, Typed)
    assert await endpoint(id=5) == {"id": 5}
    response = await app.request("/7", method=method)
    assert (response.status, await response.json()) == (201, {"id": 7})
    assert await status(app, method, "/x") == 400
    other = "POST" if method == "GET" else "GET"
    assert await status(app, other, "/7") == 404


async def test_head_is_that_of_get() -> None:
    app = Kit()
    Endpoints(app).get("/")(lambda: "text")
    response = await app.request("/", method="HEAD")
    assert (response.status, await response.text()) == (200, "")


async def test_several_methods_and_paths() -> None:
    app = Kit()
    api = Endpoints(app)

    @api.on(["POST", "QUERY"], ["/a", "/b"])
    async def endpoint(book: Book) -> Book:
        return book

    for method in ("POST", "QUERY"):
        for path in ("/a", "/b"):
            assert await status(app, method, path, json={"title": "Momo"}) == 200


async def test_middleware_and_parts_of_apps() -> None:
    app = Kit()
    admin = Endpoints(app.base_path("/admin"))

    @admin.get("/me", use=Depends(check))
    async def me(user: Annotated[str, Depends(check)]) -> str:
        return user

    assert await status(app, "GET", "/admin/me", headers={"x-key": "no"}) == 401
    assert await status(app, "GET", "/admin/me", headers={"x-key": "k"}) == 200
    with override(app, {check: lambda: "fake"}):
        assert await (await app.request("/admin/me")).json() == "fake"


async def test_the_facts_are_those_of_typed() -> None:
    one, other = Kit(), Kit()

    def endpoint(id: int, book: Book) -> Book:
        return book

    Endpoints(one).put("/:id", status=202)(endpoint)
    other.put("/:id", typed(status=202)(endpoint))
    found, expected = (get_facts(app.routes[-1].handler) for app in (one, other))
    assert found.responses == expected.responses
    assert found.validates.keys() == expected.validates.keys() == {"param", "json"}


def test_names_of_the_function_that_defines_the_endpoint() -> None:
    class Local(Struct):
        name: str

    app = Kit()

    @Endpoints(app).post("/")
    async def endpoint(local: Local) -> Local:
        return local

    assert get_facts(app.routes[-1].handler).validates == {"json": Local}


def test_mistakes() -> None:
    api = Endpoints(Kit())
    with pytest.raises(TypeError, match=r"Endpoints\(\) takes an app"):
        Endpoints(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="status"):
        api.get("/", status=99)
    with pytest.raises(TypeError, match="stat"):
        api.get("/", stat=200)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"broken.*no annotation"):

        @api.get("/")
        def broken(name) -> None: ...  # type: ignore[no-untyped-def]

    with pytest.raises(TypeError, match=r"reader.*body"):

        @api.get("/")
        def reader(book: Book) -> None: ...
