# SPDX-License-Identifier: MIT
"""Starts and stops lifespans, including nested ones, and keeps the mappings that they yield."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from kit.authoring.maybe_await import dispose
from kit.authoring.signatures import describe

__all__ = ("Lifespan",)


class Lifespan:
    """The lifespan of an app, from the first entry of `running` to the last exit.

    Args:
        open: Returns an async context manager that yields a mapping or nothing; None if only the
            children have to be started.
        name: The function to name in errors. Default: `open`.

    Attributes:
        children: The lifespans of the apps that are part of this one; they run within it.
        bindings: The mapping that the lifespan yielded, merged over the children's mappings; None
            if none yielded a mapping, or the lifespan isn't running.
        checks: Functions called before the start; an exception that one raises prevents it.
        env_checks: Functions that `check_env` calls with the bindings.
    """

    def __init__(
        self,
        open: Callable[[], AbstractAsyncContextManager[Any]] | None,
        name: object = None,
    ) -> None:
        self._open = open
        self._name = open if name is None else name
        self._users = 0
        self._exit_stack: AsyncExitStack | None = None
        self._changing: Any = None
        self.children: list[Lifespan] = []
        self.checks: list[Callable[[], object]] = []
        self.env_checks: list[Callable[[Mapping[str, Any]], object]] = []
        self.bindings: Any = None

    def check_env(self) -> None:
        """Checks, for a server, that the running lifespan has yielded all bindings handlers need.

        A test can pass further bindings with each request, but a server can't.

        Raises:
            Exception: The exception of a check.
        """
        for check in self.env_checks:
            check(self.bindings or {})

    def mount(self, open: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        """Runs the lifespan of a mounted application within this one, without sharing bindings.

        Args:
            open: Returns the async context manager.
        """
        self.children.append(_MountedLifespan(open))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Runs the lifespan around the body of the `async with`; see `Kit.running`."""
        for check in self.checks:
            check()
        if self._open is None and not self.children:
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

    def missing(self, key: str) -> str:
        """Returns why there are no bindings.

        Args:
            key: The key that was requested.
        """
        if self._open is None and not self.children:
            return f"the app has no lifespan; Kit(lifespan=...) takes one that yields {key!r}"
        whose = "its lifespan" if self._open is None else f"the lifespan {describe(self._name)}"
        if self._users:
            return f"{whose} yields nothing"
        return f"{whose} isn't running; in a test, enter the test client, or app.running()"

    async def _change(self, changed: Any, step: Awaitable[None]) -> None:
        """Starts or stops; concurrent callers wait for the event."""
        self._changing = changed
        try:
            await step
        finally:
            self._changing = None
            changed.set()

    async def _start(self) -> None:
        async with AsyncExitStack() as stack:
            own = await self._start_own(stack) if self._open is not None else None
            of_children: dict[str, Any] = {}
            for child in self.children:
                await stack.enter_async_context(child.running())
                if child.bindings:
                    self._check_siblings(child, of_children, own or {})
                    of_children.update(child.bindings)
            self.bindings = {**of_children, **(own or {})} if of_children else own
            self._exit_stack = stack.pop_all()

    def _check_siblings(
        self, child: Lifespan, others: Mapping[str, Any], own: Mapping[str, Any]
    ) -> None:
        """Checks that no two apps within this one yield different values for the same name.

        The handlers of one app would get the other app's value. A value that this app itself yields
        replaces both.
        """
        for name, value in child.bindings.items():
            other = others.get(name, value)
            if name not in own and other is not value and other != value:
                raise RuntimeError(
                    f"The lifespans of two apps that are part of this one yield {name!r} with "
                    f"different values, but c.env has one; the second comes from "
                    f"{describe(child._name)}"
                )

    async def _start_own(self, stack: AsyncExitStack) -> Any:
        assert self._open is not None  # noqa: S101 - checked by the caller
        manager = self._open()
        if not hasattr(manager, "__aenter__"):
            dispose(manager)
            raise TypeError(
                f"The lifespan {describe(self._name)} returned {type(manager).__name__}, expected "
                "an async context manager: put @asynccontextmanager above it"
            )
        bindings = await stack.enter_async_context(manager)
        if bindings is not None and not isinstance(bindings, Mapping):
            raise TypeError(
                f"The lifespan {describe(self._name)} must yield a mapping for c.env or "
                f"nothing, not {type(bindings).__name__}"
            )
        return bindings

    async def _stop(self, failure: BaseException | None) -> None:
        stack, self._exit_stack = self._exit_stack, None
        self.bindings = None
        if stack is not None:
            traceback = failure.__traceback__ if failure else None
            await stack.__aexit__(type(failure) if failure else None, failure, traceback)


class _MountedLifespan(Lifespan):
    """The lifespan of a mounted application; its mapping is not added to the app's `c.env`."""

    async def _start_own(self, stack: AsyncExitStack) -> Any:
        assert self._open is not None  # noqa: S101 - given at construction
        await stack.enter_async_context(self._open())
