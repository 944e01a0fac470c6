# SPDX-License-Identifier: MIT
"""Parameters that a dishka container provides: `FromDishka[Pool]`.

The container is a value of `c.env`, `dishka_container`, which the lifespan yields. Each request has
its own container in the scope REQUEST, closed after the response has been sent; a provider can get
the context with `from_context(provides=Context, scope=Scope.REQUEST)`.

Needs dishka, which kit-typed doesn't install. Import this module before the endpoints.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Annotated, Any

# Found only if it is installed.
from dishka import (  # type: ignore[import-not-found,unused-ignore]
    AsyncContainer,
    FromComponent,
    FromDishka,
)

from kit.interface import Context

from ._endpoint.depends import Depends
from ._signature.markers import PROVIDERS, Env

__all__ = ("FromDishka", "request_container")


async def request_container(
    c: Context[Any, Any], container: Annotated[AsyncContainer, Env("dishka_container")]
) -> AsyncIterator[AsyncContainer]:
    """A dependency: the container of the request.

    Args:
        c: The context, which providers can request as `kit.interface.Context`.
        container: The container of the app.
    """
    async with container({Context: c}) as of_request:
        yield of_request


@cache
def _provider(component: str | None, kind: Any) -> Callable[..., Any]:
    async def provide(container: Annotated[AsyncContainer, Depends(request_container)]) -> Any:
        return await container.get(kind, component=component)

    return provide


def _build_provider(marker: Any, kind: Any) -> Callable[..., Any]:
    return _provider(marker.component, kind)


PROVIDERS[type(FromComponent())] = _build_provider
