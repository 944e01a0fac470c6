# SPDX-License-Identifier: MIT
"""Starts and stops the lifespan of an app, and keeps what it yields."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from kit._support.errors import describe


class Life:
    """The life of an app: from its first user entering `running` to its last one leaving.

    Args:
        app: What the lifespan is called with.
        lifespan: Given the app, an async context manager that yields a mapping or nothing.

    Attributes:
        children: The lives of the apps that are part of this one; they run with it.
        bindings: What the lifespan yielded, over what those of the children did; None if no one
            yielded anything, or it does not run.
    """

    def __init__(self, app: Any, lifespan: Any) -> None:
        self._app = app
        self._lifespan = lifespan
        self._users = 0
        self._exit_stack: AsyncExitStack | None = None
        self._changing: Any = None
        self.children: list[Life] = []
        self.bindings: Any = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Runs the lifespan around what is done within; see `Kit.running`."""
        if self._lifespan is None and not self.children:
            yield
            return

        from anyio import Event

        while self._changing is not None:
            await self._changing.wait()
        if self._users == 0:
            await self._change(Event(), self._start())
        self._users += 1
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            self._users -= 1
            if self._users == 0:
                await self._change(Event(), self._stop(failure))

    async def _change(self, changed: Any, step: Awaitable[None]) -> None:
        """Starts or stops; who comes meanwhile waits for it."""
        self._changing = changed
        try:
            await step
        finally:
            self._changing = None
            changed.set()

    async def _start(self) -> None:
        async with AsyncExitStack() as stack:
            bindings = await self._start_own(stack) if self._lifespan is not None else None
            for child in self.children:
                await stack.enter_async_context(child.running())
                if child.bindings:
                    bindings = {**child.bindings, **(bindings or {})}
            self.bindings = bindings
            self._exit_stack = stack.pop_all()

    async def _start_own(self, stack: AsyncExitStack) -> Any:
        manager = self._lifespan(self._app)
        if not hasattr(manager, "__aenter__"):
            raise TypeError(
                f"The lifespan {describe(self._lifespan)} gave {type(manager).__name__}, expected "
                "an async context manager: put @asynccontextmanager above it"
            )
        bindings = await stack.enter_async_context(manager)
        if bindings is not None and not isinstance(bindings, Mapping):
            raise TypeError(
                f"The lifespan {describe(self._lifespan)} must yield a mapping for c.env or "
                f"nothing, not {type(bindings).__name__}"
            )
        return bindings

    async def _stop(self, failure: BaseException | None) -> None:
        stack, self._exit_stack = self._exit_stack, None
        self.bindings = None
        if stack is not None:
            traceback = failure.__traceback__ if failure else None
            await stack.__aexit__(type(failure) if failure else None, failure, traceback)


class MountedLife(Life):
    """The life of a mounted application; what its lifespan yields is its own.

    Args:
        lifespan: Gives an async context manager.
    """

    def __init__(self, lifespan: Any) -> None:
        super().__init__(None, lifespan)

    async def _start_own(self, stack: AsyncExitStack) -> Any:
        await stack.enter_async_context(self._lifespan())
