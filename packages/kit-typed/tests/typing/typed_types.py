# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, assert_type

from kit.interface import App, Context, Handler, Middleware, Response
from kit.typed import Depends, Endpoints, Partial, Query, Typed, override, typed


class Pool: ...


async def get_pool() -> AsyncIterator[Pool]:
    yield Pool()


@asynccontextmanager
async def open_pool() -> AsyncGenerator[Pool, None]:
    yield Pool()


def get_number() -> Iterator[int]:
    yield 1


async def get_name() -> str:
    return ""


def get_flag(name: Annotated[str, Depends(get_name)]) -> bool:
    return bool(name)


# Any type, since it stands for a value, in a default, and for middleware.
guard: Middleware = Depends(get_name)
guards: list[Middleware] = [Depends(get_pool), Depends(open_pool), Depends(Pool)]
flag: bool = Depends(get_flag, use_cache=False, scope="function")
Depends("get_flag")  # type: ignore
Depends(get_flag, scope="session")  # type: ignore


@typed
async def read_book(
    id: int, pool: Annotated[Pool, Depends(get_pool)], q: Annotated[str, Query()] = ""
) -> dict[str, int]:
    return {"id": id}


@typed(status=201)
def create(number: int = Depends(get_number)) -> int:
    return number


handler: Handler = read_book
plain_handler: Handler = create


async def unit_test(c: Context[Any, Any], app: App) -> None:
    waiting: Coroutine[Any, Any, dict[str, int]] = read_book(id=1, pool=Pool())
    await waiting
    assert_type(await read_book(1, Pool(), "q"), dict[str, int])
    assert_type(create(number=3), int)
    assert_type(await read_book(c), Response | None)
    await read_book(id="1", pool=Pool())  # type: ignore
    with override(app, {get_pool: get_number}):
        pass


def show(endpoint: Typed[..., Any]) -> str:
    return repr(endpoint)


class Book:
    title: str


@typed
async def change_book(changes: Partial[Book]) -> Book:
    for name, value in changes.items():
        assert_type(name, str)
        setattr(changes, name, value)
    assert_type("title" in changes, bool)
    assert_type(dict(changes), dict[str, Any])
    assert_type(changes.changes, dict[str, Any])
    changes.assign_to(object())
    return changes.apply(Book())


assert_type(Partial[Book].parse({"title": "Momo"}), Partial[Book])
assert_type(Partial[Book].parse(b"{}").apply(Book()), Book)


class Routes:
    def on(self, method: str, path: str) -> Any: ...


def endpoints(app: Routes) -> Coroutine[Any, Any, str]:
    api = Endpoints(app)

    @api.get("/books/:id", status=200, use=Depends(get_pool))
    async def read(id: int) -> str:
        return str(id)

    return read(id=5)
