# SPDX-License-Identifier: MIT
"""Parameters that containers of dishka and svcs provide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, NewType

import dishka
import pytest
import svcs

import kit.interface
from kit import Kit
from kit.typed import Depends, typed
from kit.typed.dishka import FromDishka
from kit.typed.svcs import Service

Path = NewType("Path", str)
trace: list[str] = []


class Pool: ...


class Session:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class Provider(dishka.Provider):
    context = dishka.from_context(provides=kit.interface.Context, scope=dishka.Scope.REQUEST)

    @dishka.provide(scope=dishka.Scope.APP)
    def pool(self) -> Pool:
        trace.append("pool")
        return Pool()

    @dishka.provide(scope=dishka.Scope.REQUEST)
    async def session(self, pool: Pool) -> AsyncIterator[Session]:
        yield Session(pool)
        trace.append("closed")

    @dishka.provide(scope=dishka.Scope.REQUEST)
    def path(self, c: kit.interface.Context) -> Path:
        return Path(c.req.path)


@asynccontextmanager
async def with_dishka(app: Kit[Any, Any]) -> AsyncIterator[dict[str, Any]]:
    container = dishka.make_async_container(Provider())
    yield {"dishka_container": container}
    await container.close()


@asynccontextmanager
async def with_svcs(app: Kit[Any, Any]) -> AsyncIterator[dict[str, Any]]:
    with svcs.Registry() as registry:
        trace.append("pool")
        registry.register_value(Pool, Pool())

        def session(container: svcs.Container) -> Iterator[Session]:
            yield Session(container.get(Pool))
            trace.append("closed")

        registry.register_factory(Session, session)
        registry.register_factory(Path, lambda: "/3")
        yield {"svcs_registry": registry}


def dishka_app() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit(lifespan=with_dishka)

    def of_session(session: FromDishka[Session]) -> Session:
        return session

    @app.get("/:id")
    @typed
    async def endpoint(
        id: int,
        session: FromDishka[Session],
        same: Annotated[Session, Depends(of_session)],
        path: FromDishka[Path],
    ) -> list[Any]:
        trace.append("endpoint")
        return [id, session is same, isinstance(session.pool, Pool), path]

    return app


def svcs_app() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit(lifespan=with_svcs)

    def of_session(session: Annotated[Session, Service()]) -> Session:
        return session

    @app.get("/:id")
    @typed
    async def endpoint(
        id: int,
        session: Annotated[Session, Service()],
        same: Annotated[Session, Depends(of_session)],
        path: Annotated[Path, Service()],
    ) -> list[Any]:
        trace.append("endpoint")
        return [id, session is same, isinstance(session.pool, Pool), path]

    return app


@pytest.mark.parametrize("make", [dishka_app, svcs_app])
async def test_a_container_for_each_request(make: Any) -> None:
    trace.clear()
    app = make()
    async with app.running():
        for _ in range(2):
            response = await app.request("/3")
            assert await response.json() == [3, True, True, "/3"]
        assert (await app.request("/x")).status == 400
    assert trace == ["pool", *["endpoint", "closed"] * 2]


def test_two_sources() -> None:
    def endpoint(pool: Annotated[Pool, Service(), Depends(Pool)]) -> None: ...

    with pytest.raises(TypeError, match=r"'pool' has Service\(\) and Depends\(Pool\): one source"):
        typed(endpoint)
