# SPDX-License-Identifier: MIT
"""Parameters that an svcs registry provides: `Annotated[Pool, Service()]`.

The registry is a value of `c.env`, `svcs_registry`, which the lifespan yields. Each request has its
own container, closed after the response has been sent.

Needs svcs, which kit-typed doesn't install.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import cache
from typing import Annotated, Any

# Found only if it is installed.
from svcs import Container, Registry  # type: ignore[import-not-found,unused-ignore]

from ._endpoint.depends import Depends
from ._signature.markers import PROVIDERS, Env

__all__ = ("Service", "request_container")


class Service:
    """Provides a parameter as the service registered for its type."""

    def __repr__(self) -> str:
        return "Service()"


async def request_container(
    registry: Annotated[Registry, Env("svcs_registry")],
) -> AsyncIterator[Container]:
    """A dependency: the container of the request.

    Args:
        registry: The registry of the app.
    """
    async with Container(registry) as container:
        yield container


@cache
def _provider(kind: Any) -> Callable[..., Any]:
    async def provide(container: Annotated[Container, Depends(request_container)]) -> Any:
        return await container.aget(kind)

    return provide


def _build_provider(marker: Any, kind: Any) -> Callable[..., Any]:
    return _provider(kind)


PROVIDERS[Service] = _build_provider
