# SPDX-License-Identifier: MIT
"""Looks after the connections whose handlers don't receive, and so don't notice a departure."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import cache
from types import TracebackType
from typing import Any, Literal, TypeAlias

from kit.authoring.cancellation import Cancellation
from kit.authoring.event_loops import running_trio
from kit.concurrency._tasks import start_task

# How often connections are looked at. Until the first look a handler may begin to receive, which is
# faster than another task that receives for it; between the next two, to notice a departure.
_INTERVAL_S = 1.0
_LOOKS = 2
# For a handler that may have something to do for a message it got, or may receive the rest.
_PATIENT_LOOKS = 10

Departure: TypeAlias = Literal[
    "noticed", "unnoticed", "unnoticed, with messages left", "unnoticed, while sending"
]


class LookedAfter:
    """A context manager that cancels the handler of a connection if it misses a departure.

    A handler that receives, or sends now and then, gets to know that the client has left. One that
    waits for something to send would wait for as long as that takes. It has a second or two to
    notice by itself; ten if there are messages left to receive, or if it received any before.

    Args:
        departure_of: Returns what the handler knows of the client's departure.
    """

    __slots__ = ("_cancellation", "_departure_of", "_looks", "_sweep")

    def __init__(self, departure_of: Callable[[], Departure | None]) -> None:
        self._departure_of = departure_of
        self._looks = 0  # since the client has left
        self._sweep = _sweep_of_loop()
        self._cancellation: Any = Cancellation() if running_trio() is None else _Scope()

    @property
    def is_caught(self) -> bool:
        """Whether the handler was cancelled, after its end."""
        return bool(self._cancellation.is_caught)

    def __enter__(self) -> LookedAfter:
        self._cancellation.__enter__()
        self._sweep.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._sweep.remove(self)
        return self._cancellation.__exit__(kind, error, traceback)  # type: ignore[no-any-return]

    def look(self) -> None:
        """Looks at the connection, and cancels the handler once it has missed a departure."""
        departure = self._departure_of()
        if departure is None or departure == "noticed":
            self._looks = 0
            return
        self._looks += 1
        if self._looks >= (_LOOKS if departure == "unnoticed" else _PATIENT_LOOKS):
            self._cancellation.request()


class _Scope:
    """What `Cancellation` is on asyncio."""

    def __init__(self) -> None:
        from anyio import CancelScope

        self._scope = CancelScope()
        self.request = self._scope.cancel

    @property
    def is_caught(self) -> bool:
        return self._scope.cancelled_caught

    def __enter__(self) -> None:
        self._scope.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._scope.__exit__(*error)


class _Sweep:
    """Looks at the connections of an event loop at intervals, while there are any."""

    def __init__(self) -> None:
        self._all: set[LookedAfter] = set()
        self._task: object = None

    def add(self, connection: LookedAfter) -> None:
        self._all.add(connection)
        if self._task is None:
            self._wait()

    def remove(self, connection: LookedAfter) -> None:
        self._all.discard(connection)

    def _wait(self) -> None:
        # Without the context variables of the first connection, which would be kept for the others.
        context = Context()
        if running_trio() is not None:
            self._task = context.run(start_task, self._sleep_and_look)
            return
        import asyncio

        loop = asyncio.get_running_loop()
        # A timer is no task that the server would wait for, or cancel, when it shuts down.
        self._task = loop.call_later(_INTERVAL_S, self._begin_to_look, context=context)

    def _begin_to_look(self) -> None:
        # In a task, since anyio needs one.
        self._task = start_task(self._look)

    async def _sleep_and_look(self) -> None:
        from anyio import sleep

        await sleep(_INTERVAL_S)
        await self._look()

    async def _look(self) -> None:
        for connection in [*self._all]:
            connection.look()
        self._task = None
        if self._all:
            self._wait()


def _sweep_of_loop() -> _Sweep:
    variable = _sweeps()
    sweep: _Sweep | None = variable.get()
    if sweep is None:
        sweep = _Sweep()
        variable.set(sweep)
    return sweep


@cache
def _sweeps() -> Any:
    """Returns the variable with the sweep of each event loop; each RunVar is another variable."""
    from anyio.lowlevel import RunVar

    return RunVar("kit.websocket.sweep", None)
